//go:build lab

package lab

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestDemo is the way of the demo cluster, from an empty lab to an empty lab.
// Its parts build on each other.
func TestDemo(t *testing.T) {
	tier.Short(t, "the life of a cluster on EKS with Flux, as make demo begins it")
	p := newProject(t)
	inOrder(t, p, []step[project]{
		{"go run starts the lab, and leaves nothing of its cache in it", project.goRunStartsTheLab},
		{"preview before core exists lists both stacks", project.previewOnEmptyLab},
		{"a zone that is not there is refused", project.zonesAreRefused},
		{"preview leaves nothing", project.nothingExists},
		{"up", project.upFromNothing},
		{"verify", project.verifyIsGreen},
		{"bootstrap is a dozen or so objects", project.bootstrapIsSmall},
		{"values reach what Git declares", project.valuesReachGit},
		{"state holds no secret", project.stateHoldsNoSecret},
		{"a second up starts no engine", project.secondUpStartsNothing},
		{"one that starts it changes nothing", project.secondUp},
		{"verify waits for what was just pushed", project.editArrives},
		{"a hand edit is put back and told of", project.healed},
		{"what verify asked of Flux is no change to up", project.secondUp},
		{"plain pulumi sees the same stacks", project.plainPulumi},
		{"core is kept while bootstrap has resources", project.coreIsKept},
		{"destroy leaves an empty cloud", project.destroyLeavesNothing},
		{"lab down leaves no process", project.labDownLeavesNothing},
	})
}

// goRunStartsTheLab runs the driver from source, as the README has it. What it leaves
// running must not be in Go's build cache, which anybody may empty.
func (p project) goRunStartsTheLab(t *testing.T) {
	root := checkout(t)
	goRun := func(args ...string) outcome {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./cmd/tombolo", "--root", p.dir}, args...)...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "TOMBOLO_LAB=1", "NO_COLOR=1")
		return end(t, cmd)
	}
	if o := goRun("lab", "up"); o.code != 0 {
		t.Fatalf("exit code %d\n%s", o.code, o.stderr)
	}
	program := filepath.Join(p.dir, ".lab", "libexec", "tombolo-lab")
	assert.Check(t, is.Contains(p.read(t, filepath.Join(".lab", "bin", "aws")), program))
	if runtime.GOOS == "linux" {
		var status struct{ PID int }
		decode(t, p.must(t, "lab", "status", "--output", "json"), &status)
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", status.PID)); err != nil || exe != program {
			t.Errorf("the lab runs %s, %v, want %s", exe, err, program)
		}
	}
	// The guide says what go run makes of exit codes.
	if o := goRun("up", "nosuch", "--yes"); o.code != 1 || !strings.HasSuffix(o.stderr, "exit status 2\n") {
		t.Errorf("an unknown cluster: exit code %d\n%s", o.code, o.stderr)
	}
}

func (p project) previewOnEmptyLab(t *testing.T) {
	shown := p.must(t, "preview", "demo", "--details")
	contains(t, shown, "demo-core", "demo-bootstrap", "Vpc", "GitRepository", "infra-config", "vpc_id: <unknown until core exists>")
}

// zonesAreRefused before anything is made: one that does not exist, and one in which EKS takes no control plane.
func (p project) zonesAreRefused(t *testing.T) {
	const file, zones = "clusters/demo.yaml", "[eu-central-1a, eu-central-1b]"
	text := p.read(t, file)
	defer p.write(t, file, text)
	for _, test := range []struct{ region, zones, refused string }{
		{"eu-central-1", "[eu-central-1a, eu-central-1f]", "clusters/demo.yaml:20:26: network.zones[1]: AWS has no zone eu-central-1f in eu-central-1"},
		{"us-east-1", "[us-east-1e, us-east-1a]", "clusters/demo.yaml:20:11: network.zones[0]: EKS takes no control plane in us-east-1e, which is use1-az3 in account 111122223333"},
	} {
		assert.Assert(t, strings.Contains(text, zones))
		p.write(t, file, strings.ReplaceAll(strings.Replace(text, zones, test.zones, 1), "region: eu-central-1", "region: "+test.region))
		for _, args := range [][]string{{"doctor", "demo"}, {"preview", "demo"}, {"up", "demo", "--yes"}} {
			o := p.run(t, args...)
			o.ends(t, 4, test.refused)
			assert.Check(t, strings.Contains(o.stderr, "use zones among "+test.region+"a, "), o.stderr)
		}
	}
}

func (p project) nothingExists(t *testing.T) {
	assert.Check(t, is.Len(p.inventory(t), 0))
}

// upFromNothing encrypts secrets by a passphrase, and not by the lab's key.
func (p project) upFromNothing(t *testing.T) {
	out := p.must(t, "up", "demo", "--yes", "--output", "json", "--secrets-provider", "passphrase")
	lastResult(t, out).created(t)
}

// secondUpStartsNothing: the up that made the cluster is recorded.
func (p project) secondUpStartsNothing(t *testing.T) {
	assert.Check(t, is.Contains(p.must(t, "up", "demo", "--yes", "--output", "json"), `"unchangedSince":{`))
}

func (p project) verifyIsGreen(t *testing.T) {
	contains(t, p.must(t, "verify", "demo"),
		"platform", "crds", "karpenter", "load-balancer-controller", "addons", "apps",
		"kube-system/karpenter", "kube-system/aws-load-balancer-controller", "external-dns/external-dns",
		"kube-system/metrics-server", "reloader/reloader", "reporting/cluster-reporter")
}

// valuesReachGit follows the VPC's id from the cloud to a manifest and to a
// chart in Git.
func (p project) valuesReachGit(t *testing.T) {
	vpcs := p.made(t, "aws:ec2/vpc:Vpc")
	assert.Assert(t, len(vpcs) == 1, "the stand-in has the VPCs %v, want one", vpcs)
	vpc := vpcs[0].ID
	for what, args := range map[string][]string{
		"the general ConfigMap":           {"-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath={.data.vpc_id}"},
		"the object that Flux reconciled": {"-n", "hello", "get", "configmap", "settings", "-o", "jsonpath={.data.network}"},
	} {
		assert.Check(t, is.Equal(p.kubectl(t, "demo", args...), vpc), what)
	}
	received := p.kubectl(t, "demo", "-n", "reporting", "get", "configmap", "-l", "app.kubernetes.io/name=cluster-reporter",
		"-o", "jsonpath={.items[*].data}")
	assert.Check(t, strings.Contains(received, vpc), "the chart received no VPC id: %s", received)
	account := p.kubectl(t, "demo", "-n", "reporting", "get", "serviceaccount", "cluster-reporter", "-o", "json")
	assert.Check(t, strings.Contains(account, "arn:aws:iam::111122223333:role/"), "the service account carries no role:\n%s", account)
}

// bootstrapIsSmall counts what bootstrap has applied on the cluster, besides the engine's distribution: by the
// field managers of the objects themselves, and not by what the program meant to make.
func (p project) bootstrapIsSmall(t *testing.T) {
	kinds := strings.Fields(p.kubectl(t, "demo", "api-resources", "--verbs=list", "-o", "name"))
	var list struct {
		Items []struct {
			Kind     string
			Metadata struct {
				Namespace, Name string
				Labels          map[string]string
				ManagedFields   []struct{ Manager, Operation string }
			}
		}
	}
	decode(t, p.kubectl(t, "demo", "get", strings.Join(kinds, ","), "-A", "--show-managed-fields", "-o", "json"), &list)
	applied, distribution := map[string]bool{}, 0
	for _, o := range list.Items {
		for _, m := range o.Metadata.ManagedFields {
			if !strings.HasPrefix(m.Manager, "pulumi-kubernetes") || m.Operation != "Apply" {
				continue
			}
			if name := o.Kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name; o.Metadata.Labels["app.kubernetes.io/part-of"] == "flux" && o.Kind != "Namespace" {
				distribution++
			} else {
				applied[name] = true
			}
			break
		}
	}
	all := strings.Join(slices.Sorted(maps.Keys(applied)), "\n")
	assert.Check(t, len(applied) >= 10 && len(applied) <= 14, "bootstrap has %d objects besides the distribution:\n%s", len(applied), all)
	assert.Check(t, distribution > 20, "Flux has %d", distribution)
	for _, want := range []string{"ConfigMap flux-system/infra-config", "Secret flux-system/platform-auth", "GitRepository flux-system/platform", "Kustomization flux-system/platform", "ConfigMap kube-system/karpenter-values"} {
		assert.Check(t, applied[want], "%s is not among\n%s", want, all)
	}
	var state struct {
		Deployment struct {
			Resources []struct{ Type string }
		}
	}
	decode(t, p.state(t, "demo-bootstrap"), &state)
	n := len(slices.DeleteFunc(state.Deployment.Resources, func(r struct{ Type string }) bool { return !strings.HasPrefix(r.Type, "kubernetes:") }))
	assert.Check(t, is.Equal(n, len(applied)+distribution), "the state has other objects than the cluster")
}

var credential = regexp.MustCompile(`k8s-aws-v1\.|-----BEGIN [A-Z ]*PRIVATE KEY|client-key-data|client-certificate-data`)

func (p project) stateHoldsNoSecret(t *testing.T) {
	token := p.labEnv(t)["TOMBOLO_GIT_TOKEN"]
	assert.Assert(t, len(token) >= 16, "the lab's Git token is %q: too short to search for", token)
	for _, stack := range []string{"demo-core", "demo-bootstrap"} {
		state := p.state(t, stack)
		assert.Assert(t, strings.Contains(state, `"urn:pulumi:`), "%s: the export holds no resources", stack)
		assert.Check(t, is.Equal(credential.FindString(state), ""), stack)
		hides(t, "the state of "+stack, state, token)
	}
	out := p.must(t, "outputs", "demo", "--output", "json")
	assert.Check(t, !strings.Contains(out, token) && !credential.MatchString(out), "the outputs hold a credential")
}

func (p project) secondUp(t *testing.T) { p.unchanged(t, "demo") }

// editArrives changes the tree, and verifies at once: long before Flux would
// have looked at the repository by itself.
func (p project) editArrives(t *testing.T) {
	const file = "platform/flux/apps/hello/settings.yaml"
	p.write(t, file, p.read(t, file)+"  edited: in ${region}\n")
	p.write(t, "platform/flux/clusters/demo/apps/told.yaml", told)
	p.edit(t, "platform/flux/clusters/demo/apps/kustomization.yaml", "  - cluster-reporter.yaml\n", "  - cluster-reporter.yaml\n  - told.yaml\n")
	p.must(t, "lab", "up")
	p.must(t, "verify", "demo")
	assert.Check(t, is.Equal(p.kubectl(t, "demo", "-n", "hello", "get", "configmap", "settings", "-o", "jsonpath={.data.edited}"), "in eu-central-1"))
}

// told is a channel that hears of what Flux changes, not only of failures.
const told = `apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: changes, namespace: flux-system}
spec: {type: generic, address: http://inbox.lab.test/changes}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: changes, namespace: flux-system}
spec:
  eventSeverity: info
  providerRef: {name: changes}
  eventSources:
    - {kind: Kustomization, name: apps}
    - {kind: HelmRelease, name: metrics-server, namespace: kube-system}
`

// healed: what somebody changes by hand becomes what Git says when Flux looks next, in
// manifests and in what a chart made, and a channel hears what had been changed.
func (p project) healed(t *testing.T) {
	p.kubectl(t, "demo", "-n", "hello", "patch", "configmap", "settings", "--type", "merge", "-p", `{"data": {"region": "nowhere"}}`)
	p.kubectl(t, "demo", "-n", "kube-system", "scale", "deployment", "metrics-server", "--replicas", "7")
	p.look(t, "demo", "flux-system", "kustomization", "apps")
	p.look(t, "demo", "kube-system", "helmrelease", "metrics-server")
	eventually(t, func() (bool, string) {
		if got := p.kubectl(t, "demo", "-n", "hello", "get", "configmap", "settings", "-o", "jsonpath={.data.region}"); got != "eu-central-1" {
			return false, "the region is " + got
		}
		if got := p.kubectl(t, "demo", "-n", "kube-system", "get", "deployment", "metrics-server", "-o", "jsonpath={.spec.replicas}"); got == "7" {
			return false, "metrics-server has 7 replicas"
		}
		heard := fmt.Sprint(p.inbox(t, "changes"))
		for _, want := range []string{"ConfigMap/hello/settings configured", "Deployment/kube-system/metrics-server"} {
			if !strings.Contains(heard, want) {
				return false, fmt.Sprintf("the channel has not %q, but %s", want, heard)
			}
		}
		return true, ""
	})
}

// plainPulumi runs the plain program on the driver's state: it must see what
// the driver sees.
func (p project) plainPulumi(t *testing.T) { p.sameByPulumi(t, "demo-core", "demo-bootstrap") }

// sameByPulumi has plain pulumi, from the checkout, look for changes in stacks of the project.
func (p project) sameByPulumi(t *testing.T, stacks ...string) {
	p.env = append(p.env, "TOMBOLO_CLUSTERS="+filepath.Join(p.dir, "clusters"))
	for _, stack := range stacks {
		o := p.tool(t, "pulumi", "preview", "--stack", stack, "--cwd", checkout(t), "--non-interactive", "--expect-no-changes",
			"--config-file", filepath.Join(t.TempDir(), "Pulumi."+stack+".yaml"))
		assert.Check(t, o.code == 0, "%s: exit code %d\n%s\n%s", stack, o.code, o.stdout, o.stderr)
	}
}

func (p project) coreIsKept(t *testing.T) {
	before := len(p.inventory(t))
	p.run(t, "destroy", "demo", "--only", "core", "--yes").ends(t, 4, "bootstrap")
	assert.Check(t, is.Len(p.inventory(t), before))
}

func (p project) destroyLeavesNothing(t *testing.T) {
	p.destroys(t, "demo")
	assert.Check(t, is.Len(p.locks(t), 0))
}

func (p project) labDownLeavesNothing(t *testing.T) {
	p.must(t, "lab", "down")
	_, err := os.Stat(filepath.Join(p.dir, ".lab"))
	assert.Check(t, os.IsNotExist(err), ".lab stays: %v", err)
	for _, pid := range processesIn(t, p.dir) {
		t.Errorf("process %s stays", pid)
	}
}

func (p project) workdir() string { return filepath.Join(p.dir, ".lab", "work") }

// TestUpRefusesABadFile shows that nothing starts, not even the lab.
func TestUpRefusesABadFile(t *testing.T) {
	tier.Short(t, "nothing of a lab starts for a file that is wrong; it takes no lab")
	p := newProject(t)
	p.edit(t, "clusters/demo.yaml", "nat: single", "nat: doubel")
	p.run(t, "up", "demo", "--yes").ends(t, 3, "clusters/demo.yaml:")
	_, err := os.Stat(filepath.Join(p.dir, ".lab"))
	assert.Check(t, os.IsNotExist(err), "the lab was started: %v", err)
}

// TestTeardown takes a cluster down that has a load balancer: once while its
// controllers run, and once when no controller is left to delete it.
func TestTeardown(t *testing.T) {
	tier.Short(t, "a destroy leaves nothing of a load balancer, with and without its controllers")
	p := newProject(t)
	p.edit(t, "clusters/demo.yaml", "\nenvironment: ", "\nprotect: true\nenvironment: ")
	p.must(t, "lab", "up", "--profile", "light")
	p.upWithBalancer(t)
	p.refusesTheProtected(t)

	p.must(t, "destroy", "demo", "--yes-destroy", "demo")
	p.nothingExists(t)

	p.upWithBalancer(t)
	p.must(t, "lab", "cluster", "cut", "demo")
	given := []string{"destroy", "demo", "--yes-destroy", "demo", "--unreachable", "--drain-timeout", "10s"}
	p.run(t, given...).ends(t, 10, "controllers have left over", "load balancer", "target group", "security group", "stack demo-core was kept")
	p.must(t, append(given, "--leftovers", "delete")...)
	p.nothingExists(t)
}

// upWithBalancer makes the cluster, and a Service with a load balancer on it.
func (p project) upWithBalancer(t *testing.T) {
	t.Helper()
	p.up(t, "demo")
	p.kubectl(t, "demo", "-n", "default", "create", "service", "loadbalancer", "front", "--tcp=80:80")
	eventually(t, func() (bool, string) {
		return p.kubectl(t, "demo", "-n", "default", "get", "service", "front", "-o", "jsonpath={.status.loadBalancer.ingress[0].hostname}") != "",
			"the Service has no load balancer"
	})
}

// refusesTheProtected has the cluster's name given, and Pulumi itself refuse.
func (p project) refusesTheProtected(t *testing.T) {
	t.Helper()
	p.run(t, "destroy", "demo", "--yes").ends(t, 2, "demo is protected, and --yes does not destroy what is protected")
	newPlain(t, p).run(t, "destroy", "demo-core", "--preview-only").refuses(t, "demo-control-plane", "because it is protected")
}
