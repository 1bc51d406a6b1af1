//go:build lab

package lab

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestExistingNetwork is the way of a second cluster, guest, in the network of
// the demo cluster: both in one lab at once, each left alone by the other. Its
// parts build on each other.
func TestExistingNetwork(t *testing.T) {
	tier.Long(t, "a second cluster in the network of a first one, each left alone by the other")
	p := newProject(t)
	p.up(t, "demo")
	g := guest{project: p, text: p.guestFile(t), before: p.records(t)}
	p.write(t, guestFile, g.text)
	inOrder(t, g, []step[guest]{
		{"credentials of another account are refused", guest.anotherAccount},
		{"a given role that is not there is refused", guest.givenRoleIsMissing},
		{"up", guest.up},
		{"no role is made in place of a given one", guest.givenRoles},
		{"the API server has the file's version", guest.version},
		{"nodes carry what their group says", guest.nodes},
		{"the service has a Pod Identity", guest.podIdentity},
		{"values reach what Git declares", guest.valuesReachGit},
		{"the network is left as it was", guest.networkIsKept},
		{"a second up changes nothing", func(g guest, t *testing.T) { g.unchanged(t, "guest") }},
		{"a preview names the keys that other subnets reach", guest.otherSubnets},
		{"changes of the file are made in place", guest.changesInPlace},
		{"destroy leaves the other cluster", guest.destroyed},
		{"destroy of the last leaves an empty cloud", func(g guest, t *testing.T) { g.destroyLeavesNothing(t) }},
	})
}

const guestFile = "clusters/guest.yaml"

// guest is the second cluster: its file, and the cloud as it was before.
type guest struct {
	project
	text   string
	before map[string]string
}

// guestFile is testdata/guest.yaml in the demo's network, with the demo's
// GitOps and values.
func (p project) guestFile(t *testing.T) string {
	t.Helper()
	var demo struct {
		Outputs struct {
			VPC     string   `json:"vpcId"`
			Private []string `json:"privateSubnetIds"`
			Public  []string `json:"publicSubnetIds"`
		}
	}
	decode(t, p.must(t, "outputs", "demo", "--output", "json"), &demo)
	o := demo.Outputs
	assert.Assert(t, o.VPC != "" && len(o.Private) == 2 && len(o.Public) == 2, "the outputs of demo name no network: %+v", o)
	_, gitops, found := strings.Cut(p.read(t, "clusters/demo.yaml"), "\ngitops:")
	assert.Assert(t, found, "clusters/demo.yaml has no gitops")
	ids := strings.NewReplacer(
		"VPC", o.VPC,
		"PRIVATE", strings.Join(o.Private, ", "),
		"PUBLIC", strings.Join(o.Public, ", "),
	)
	return ids.Replace(testdata(t, "guest.yaml")) + "\ngitops:" + gitops
}

// records are the stand-in's records of what exists, by their file's name.
func (p project) records(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, ".lab", "aws", "resources", "*", "*.json"))
	assert.Assert(t, err == nil && len(files) > 0, "the stand-in has no records: %v", err)
	found := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		assert.NilError(t, err)
		found[filepath.Base(file)] = string(content)
	}
	return found
}

func (g guest) anotherAccount(t *testing.T) {
	g.write(t, guestFile, strings.ReplaceAll(g.text, "111122223333", "444455556666"))
	defer g.write(t, guestFile, g.text)
	for command, refusal := range map[string][]string{
		// What up finds out before, and what the program's provider says by itself.
		"up":      {"the credentials are of account 111122223333", "use credentials of account 444455556666"},
		"preview": {"AWS account ID not allowed: 111122223333", "the cluster file allows account 444455556666 only"},
	} {
		args := []string{command, "guest"}
		if command == "up" {
			args = append(args, "--yes")
		}
		g.run(t, args...).ends(t, 4, refusal...)
	}
	assert.Check(t, maps.Equal(g.records(t), g.before), "the refused up changed the cloud")
}

func (g guest) givenRoleIsMissing(t *testing.T) {
	g.edit(t, guestFile, "role/demo-node", "role/nodes-of-nobody")
	defer g.write(t, guestFile, g.text)
	o := g.run(t, "preview", "guest")
	assert.Check(t, o.code != 0)
	assert.Check(t, is.Contains(strings.Join(strings.Fields(o.stderr), " "), "look up the role arn:aws:iam::111122223333:role/nodes-of-nobody of the nodes (cloud.roles.given.nodes)"))
}

// givenRoles: of the guest's own roles there are only those that the file does not give.
func (g guest) givenRoles(t *testing.T) {
	var own []string
	for _, role := range g.made(t, "aws:iam/role:Role") {
		if strings.HasPrefix(role.ID, "guest-") {
			own = append(own, role.ID)
		}
	}
	slices.Sort(own)
	assert.DeepEqual(t, own, []string{"guest-aws-load-balancer-controller", "guest-cni", "guest-karpenter", "guest-service-cluster-reporter"})
}

func (g guest) up(t *testing.T) {
	g.project.up(t, "guest").created(t)
	g.must(t, "verify", "guest")
}

// version asks what the API server serves: it emulates the file's version.
func (g guest) version(t *testing.T) {
	var served struct{ EmulationMajor, EmulationMinor string }
	decode(t, g.kubectl(t, "guest", "get", "--raw", "/version"), &served)
	assert.Check(t, is.Equal(served.EmulationMajor+"."+served.EmulationMinor, "1.34"))
}

func (g guest) nodes(t *testing.T) {
	type taint struct{ Key, Value, Effect string }
	var list struct {
		Items []struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct{ Taints []taint }
		}
	}
	decode(t, g.kubectl(t, "guest", "get", "nodes", "-o", "json"), &list)
	assert.Assert(t, len(list.Items) == 2, "there are %d nodes, want one of each group", len(list.Items))
	for _, node := range list.Items {
		labels := node.Metadata.Labels
		wantTaints := []taint(nil)
		want := map[string]string{
			"kubernetes.io/arch": "arm64", "node.kubernetes.io/instance-type": "m7g.large", "eks.amazonaws.com/capacityType": "ON_DEMAND",
		}
		if strings.HasPrefix(labels["eks.amazonaws.com/nodegroup"], "batch-") {
			want = map[string]string{
				"kubernetes.io/arch": "amd64", "eks.amazonaws.com/capacityType": "SPOT", "example.com/pool": "batch",
			}
			wantTaints = []taint{{Key: "example.com/batch", Value: "true", Effect: "NoSchedule"}}
		}
		for key, value := range want {
			if labels[key] != value {
				t.Errorf("a node of %s has %s=%q, want %q", labels["eks.amazonaws.com/nodegroup"], key, labels[key], value)
			}
		}
		if !slices.Equal(node.Spec.Taints, wantTaints) {
			t.Errorf("a node of %s has the taints %v, want %v", labels["eks.amazonaws.com/nodegroup"], node.Spec.Taints, wantTaints)
		}
	}
}

func (g guest) podIdentity(t *testing.T) {
	assert.Check(t, len(g.made(t, "aws:eks/podIdentityAssociation:PodIdentityAssociation")) > 0, "the stand-in holds no Pod Identity association")
	account := g.kubectl(t, "guest", "-n", "reporting", "get", "serviceaccount", "cluster-reporter", "-o", "json")
	assert.Check(t, !strings.Contains(account, "role-arn"), "the service account carries a role, as for IRSA:\n%s", account)
}

func (g guest) valuesReachGit(t *testing.T) {
	assert.Check(t, is.Equal(g.kubectl(t, "guest", "-n", "hello", "get", "configmap", "settings", "-o", "jsonpath={.data.cluster}"), "guest"))
}

func (g guest) networkIsKept(t *testing.T) {
	g.demoIsKept(t)
	g.unchanged(t, "demo")
}

// demoIsKept compares everything of the demo's with what it was, tags included.
func (g guest) demoIsKept(t *testing.T) {
	t.Helper()
	same(t, g.before, g.records(t))
}

// changesInPlace adds a value and a namespace and lets a group grow.
func (g guest) changesInPlace(t *testing.T) {
	g.edit(t, guestFile, "{min: 1, max: 3}", "{min: 1, max: 5}")
	g.edit(t, guestFile, "  - name: reporting\n", "  - name: reporting\n  - name: extra\n")
	g.edit(t, guestFile, "\nvalues:\n", "\nvalues:\n  color: blue\n")
	want := []map[string]int{{"update": 1}, {"create": 1, "update": 1}}
	for i, s := range g.project.up(t, "guest").Stacks {
		delete(s.Changes, "same")
		assert.Check(t, maps.Equal(s.Changes, want[i]), "%s changed %v, want %v", s.Stack, s.Changes, want[i])
	}
	g.kubectl(t, "guest", "get", "namespace", "extra")
	assert.Check(t, is.Equal(g.kubectl(t, "guest", "-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath={.data.color}"), "blue"))
}

func (g guest) destroyed(t *testing.T) {
	g.must(t, "destroy", "guest", "--yes")
	for _, i := range g.inventory(t) {
		assert.Check(t, !strings.Contains(i.ID+" "+i.Name, "guest"), "the stand-in still holds %s %s", i.Type, i.ID)
	}
	g.demoIsKept(t)
	g.must(t, "verify", "demo")
}

// otherSubnets: the comment of a preview names for each of core's outputs the keys that it
// reaches, and no others.
func (g guest) otherSubnets(t *testing.T) {
	subnets := regexp.MustCompile(`privateSubnets: \[(\S+), (\S+)\]`).FindStringSubmatch(g.text)
	assert.Assert(t, len(subnets) == 3, g.text)
	g.edit(t, guestFile, subnets[0], "privateSubnets: ["+subnets[2]+", "+subnets[1]+"]")
	defer g.write(t, guestFile, g.text)
	infra := func(keys ...string) []string {
		for i := range keys {
			keys[i] = "flux-system/infra-config: " + keys[i]
		}
		return keys
	}
	assert.DeepEqual(t, g.flow(t, "guest"), map[string][]string{"privateSubnetIds": infra("karpenter_subnet_terms", "private_subnet_ids")})

	// Of a cluster that does not exist nearly everything is unknown.
	another(t, g.project, "demo", "second", "10.21.0.0/16")
	flow := g.flow(t, "second")
	assert.NilError(t, os.Remove(filepath.Join(g.dir, "clusters", "second.yaml")))
	for output, keys := range map[string][]string{
		"privateSubnetIds":                        infra("private_subnet_ids"), // Karpenter finds its own network's by a tag
		"clusterSecurityGroupId":                  infra("cluster_security_group_id", "karpenter_security_group_terms"),
		"addonOutputs.karpenter/instance_profile": infra("karpenter_instance_profile"),
		"addonOutputs.karpenter/queue_name":       {"kube-system/karpenter-values: settings.interruptionQueue"},
	} {
		assert.Check(t, is.DeepEqual(flow[output], keys), output)
	}
	delete(flow, "cluster file or program")
	for output, keys := range flow {
		for _, key := range infra("karpenter_ami_alias", "karpenter_cpu_limit") {
			assert.Check(t, !slices.Contains(keys, key), "%s does not reach %s", output, key)
		}
	}
}

// flow is the comment's table of how data flows: for each output of core the keys that
// it reaches. Keys that are too many for a row are counted there.
func (p project) flow(t *testing.T, cluster string) map[string][]string {
	t.Helper()
	said := p.must(t, "preview", cluster, "--output", "markdown")
	_, table, found := strings.Cut(said, "\n| output or parameter |")
	assert.Assert(t, found, said)
	table, _, _ = strings.Cut(table, "\n\n")
	out := map[string][]string{}
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(row, " | ")
		output := strings.Trim(strings.TrimPrefix(cells[0], "| "), "`_")
		for _, key := range strings.Split(cells[3], "<br>") {
			out[output] = append(out[output], strings.Trim(key, "` "))
		}
	}
	return out
}

// TestPrivateCluster is the way of a cluster without a public endpoint, on a machine outside
// of its network: refused there before anything is made, and brought up by a runner inside,
// which the cluster's file lets in.
func TestPrivateCluster(t *testing.T) {
	tier.Long(t, "a cluster without a public endpoint, seen from outside and from inside")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light", "--network", "closed")
	const file, public = "clusters/demo.yaml", "    public: true\n    allowedCidrs: [203.0.113.0/24]\n"
	p.edit(t, file, public, "    privateCidrs: [10.7.0.0/16]\n")
	inOrder(t, p, []step[project]{
		{"refused outside, before anything is made", project.refusedOutside},
		{"a runner that the file does not let in", project.runnerNotLetIn},
		{"up from inside", project.upFromInside},
		{"refused outside, by a connection", func(p project, t *testing.T) { p.silentOutside(t, "demo") }},
		{"destroy from inside", func(p project, t *testing.T) {
			p.inside(t, "10.8.0.10").must(t, "destroy", "demo", "--yes")
			p.nothingExists(t)
		}},
	})
}

// inside is the project on a runner with an address in the network.
func (p project) inside(t *testing.T, address string) project {
	t.Helper()
	runner := regexp.MustCompile(`TOMBOLO_LAB_RUNNER='?(http://)10\.8\.0\.10(:[^'\s]+)`).FindStringSubmatch(p.must(t, "lab", "env"))
	assert.Assert(t, is.Len(runner, 3))
	p.env = append(p.env, "HTTPS_PROXY="+runner[1]+address+runner[2], "NO_PROXY=127.0.0.1,localhost")
	return p
}

func (p project) refusedOutside(t *testing.T) {
	const words = "the Kubernetes API of demo will be reachable inside its network from the cluster's own nodes and 10.7.0.0/16; " +
		"this machine is not there: it has 203.0.113.7"
	p.run(t, "up", "demo", "--yes").ends(t, 4, words, "nothing was started", "docs/guide/private.md")
	p.run(t, "preview", "demo").ends(t, 0, words)
	doctor := p.run(t, "doctor", "demo")
	assert.Check(t, doctor.code != 0)
	assert.Check(t, is.Contains(doctor.stdout, "way to the API"))
	p.nothingExists(t)
}

// runnerNotLetIn: through a proxy nothing can be seen before there is a cluster, so core is
// made; then its security group is silent to the runner.
func (p project) runnerNotLetIn(t *testing.T) {
	inside := p.inside(t, "10.8.0.10")
	inside.run(t, "up", "demo", "--yes").fails(t, "what that one reaches cannot be seen from here")
	assert.Check(t, is.Len(p.made(t, "aws:eks/cluster:Cluster"), 1))
	inside.run(t, "up", "demo", "--yes").ends(t, 4, "lets 10.8.0.10 in at port 443")
}

func (p project) upFromInside(t *testing.T) {
	p.edit(t, "clusters/demo.yaml", "[10.7.0.0/16]", "[10.7.0.0/16, 10.8.0.0/16]")
	inside := p.inside(t, "10.8.0.10")
	inside.must(t, "up", "demo", "--yes")
	inside.unchanged(t, "demo")
}

// silentOutside: an up that has to look at the cluster is refused; one of which nothing has changed
// needs no way to it.
func (p project) silentOutside(t *testing.T, cluster string) {
	assert.Check(t, is.Contains(p.must(t, "up", cluster, "--yes", "--output", "json"), `"unchangedSince":{`))
	p.run(t, "up", cluster, "--yes", "--force").ends(t, 4, "the Kubernetes API of "+cluster+" does not answer this machine: its name "+cluster+".k8s.lab.test is not known here")
}

// TestAutoMode is the way of a cluster whose nodes EKS Auto Mode makes: without a node group
// Flux and an app come up, on a node that was made for them and goes with the cluster.
func TestAutoMode(t *testing.T) {
	tier.Long(t, "nodes that EKS Auto Mode makes, beside the node groups of all other tests")
	p := newProject(t)
	const file = "clusters/demo.yaml"
	p.edit(t, file, "  nodeGroups:\n    - name: system\n      instanceTypes: [m7i.large]\n      size: {min: 2, max: 4}\n      labels:\n        workload: system\n", "  compute: auto\n")
	p.edit(t, file, "  karpenter: {}\n", "")
	const tree = "platform/flux/clusters/demo/"
	p.edit(t, tree+"karpenter/kustomization.yaml", "resources:\n  - ../../../addons/karpenter\n", "resources: []\n")
	p.edit(t, tree+"crds/kustomization.yaml", "resources:\n  - ../../../addons/karpenter/crds\n", "resources: []\n")
	p.must(t, "lab", "up")
	p.up(t, "demo").created(t)
	p.must(t, "verify", "demo")

	nodes := strings.Fields(p.kubectl(t, "demo", "get", "nodes", "-l", "eks.amazonaws.com/compute-type=auto", "-o", "jsonpath={.items[*].metadata.name}"))
	assert.Assert(t, is.Len(nodes, 1))
	on := strings.Fields(p.kubectl(t, "demo", "-n", "reporting", "get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"))
	assert.Assert(t, len(on) > 0, "the app has no pods")
	for _, node := range on {
		assert.Check(t, is.Equal(node, nodes[0]))
	}
	assert.Check(t, is.Len(p.made(t, "aws:eks/nodeGroup:NodeGroup"), 0))
	assert.Check(t, is.Len(p.made(t, "aws:ec2/instance:Instance"), 1))
	p.unchanged(t, "demo")
	p.destroys(t, "demo")
}
