//go:build lab

package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestUpgrade takes a cluster with nodes of both kinds over two minor versions of
// Kubernetes, at a speed at which a kill meets EKS at work, and back again. Its parts build
// on each other.
func TestUpgrade(t *testing.T) {
	tier.Long(t, "two minor versions of Kubernetes, at a speed at which a kill meets EKS at work")
	p := newProject(t)
	p.env = append(p.env, "TOMBOLO_LAB_LATENCY=0.02") // a control plane takes ten seconds
	p.edit(t, demoFile, `version: "1.36"`, `version: "1.34"`)
	p.edit(t, demoFile, "version: "+ourFlux, "version: "+theirFlux)
	p.edit(t, demoFile, "flux-install.yaml", "flux-install-before.yaml")
	p.must(t, "lab", "up")
	p.up(t, "demo")
	inOrder(t, p, []step[project]{
		{"what is not safe is refused before anything starts", project.upgradeRefused},
		{"Flux goes first", project.upgradeFlux},
		{"the control plane goes ahead of its nodes, and back", project.upgradeHeldAndBack},
		{"Karpenter makes a node", project.nodeOfKarpenter},
		{"a kill in the middle of two minors, and again", project.upgradeKilled},
		{"EKS is not asked to go back below nodes of Karpenter's", project.rollbackRefused},
	})
}

const upgradedPod = `
apiVersion: v1
kind: Pod
metadata: {name: burst, namespace: default}
spec:
  nodeSelector: {karpenter.sh/nodepool: default}
  containers: [{name: app, image: registry.example.com/app:1}]
`

// kubelets are the versions of the kubelets of a cluster's nodes, major.minor, by the value of a label.
func (p project) kubelets(t *testing.T, cluster, label string) map[string][]string {
	t.Helper()
	var list struct {
		Items []struct {
			Metadata struct{ Labels map[string]string }
			Status   struct {
				NodeInfo struct{ KubeletVersion string }
			}
		}
	}
	decode(t, p.kubectl(t, cluster, "get", "nodes", "-o", "json"), &list)
	out := map[string][]string{}
	for _, n := range list.Items {
		owner, ok := n.Metadata.Labels[label]
		version := strings.TrimPrefix(n.Status.NodeInfo.KubeletVersion, "v")
		if major, rest, found := strings.Cut(version, "."); ok && found {
			minor, _, _ := strings.Cut(rest, ".")
			out[owner] = append(out[owner], major+"."+minor)
		}
	}
	return out
}

const (
	ofGroups = "eks.amazonaws.com/nodegroup"
	ofPools  = "karpenter.sh/nodepool"
)

// kubernetes asserts what EKS, the nodes and the file have.
func (p project) kubernetes(t *testing.T, plane, nodes string) {
	t.Helper()
	assert.Equal(t, p.only(t, "aws:eks/cluster:Cluster").Outputs["version"], plane)
	assert.Equal(t, p.nodeGroup(t).Outputs["version"], nodes)
	for group, versions := range p.kubelets(t, "demo", ofGroups) {
		assert.DeepEqual(t, versions, slices.Repeat([]string{nodes}, len(versions)))
		assert.Check(t, len(versions) == 2, "%s has %d nodes", group, len(versions))
	}
	text := p.read(t, demoFile)
	want := fmt.Sprintf("  version: %q\n", plane)
	if nodes != plane {
		want += fmt.Sprintf("  nodeVersion: %q\n", nodes)
	}
	assert.Check(t, is.Contains(text, want))
	assert.Equal(t, strings.Contains(text, "nodeVersion"), nodes != plane)
}

func (p project) upgradeRefused(t *testing.T) {
	before := p.inventory(t)
	p.run(t, "upgrade", "demo", "--to", "1.36", "--yes").ends(t, 3, "gitops.distribution.version: is tested by upstream with Kubernetes", "clusters/demo.yaml:")
	p.run(t, "upgrade", "demo", "--to", "1.33", "--yes").ends(t, 2)

	p.edit(t, demoFile, "nat: single", "nat: per-zone")
	p.run(t, "upgrade", "demo", "--to", "1.35", "--yes").ends(t, 4, "differs from the live cluster in more than the version: network.nat")
	p.edit(t, demoFile, "nat: per-zone", "nat: single")

	p.run(t, "upgrade", "demo", "--to", "1.36", "--dry-run", "--accept", "untested-engine").ends(t, 0, "AWS insights: 4 of 4 pass")
	assert.DeepEqual(t, p.inventory(t), before)
	p.kubernetes(t, "1.34", "1.34")
}

// upgradeFlux takes Flux to the release that upstream tests with the versions to come, two
// minor versions on: bootstrap alone changes, and everything that Git has stays as it is.
func (p project) upgradeFlux(t *testing.T) {
	uids := func() string {
		return p.kubectl(t, "demo", "get", "helmreleases,kustomizations,gitrepositories,helmrepositories", "-A", "-o", "jsonpath={.items[*].metadata.uid}")
	}
	p.must(t, "verify", "demo")
	before := uids()
	p.edit(t, demoFile, "version: "+theirFlux, "version: "+ourFlux)
	p.edit(t, demoFile, "flux-install-before.yaml", "flux-install.yaml")
	r := p.up(t, "demo")
	assert.Equal(t, r.Stacks[0].Changed, 0, "core changes %v", r.Stacks[0].Changes)
	for operation := range r.Stacks[1].Changes {
		assert.Check(t, slices.Contains([]string{"same", "update", "create"}, operation), "%s has done %v", r.Stacks[1].Stack, r.Stacks[1].Changes)
	}
	p.must(t, "verify", "demo")
	assert.Equal(t, uids(), before)
	images := p.kubectl(t, "demo", "-n", "flux-system", "get", "deployments", "-o", "jsonpath={.items[*].spec.template.spec.containers[0].image}")
	assert.Check(t, is.Contains(images, "notification-controller:"))
	p.quiet(t)
}

func (p project) upgradeHeldAndBack(t *testing.T) {
	p.must(t, "upgrade", "demo", "--to", "1.35", "--hold-nodes", "--no-gate", "--yes")
	p.kubernetes(t, "1.35", "1.34")
	assert.Check(t, strings.HasPrefix(p.addonVersions(t)["kube-proxy"], "v1.34."), "addons are held too")
	p.quiet(t)
	p.must(t, "upgrade", "demo", "--rollback", "--no-gate", "--yes")
	p.kubernetes(t, "1.34", "1.34")
	p.quiet(t)
}

func (p project) nodeOfKarpenter(t *testing.T) {
	p.kubectl(t, "demo", "apply", "-f", asFile(t, upgradedPod))
	eventually(t, func() (bool, string) {
		pools := p.kubelets(t, "demo", ofPools)
		return slices.Equal(pools["default"], []string{"1.34"}), fmt.Sprintf("the nodes of pools are %v", pools)
	})
}

// upgradeKilled: whatever the moment, the same command goes on.
func (p project) upgradeKilled(t *testing.T) {
	args := []string{"upgrade", "demo", "--to", "1.36", "--yes"}
	cmd, out := p.start(t, args...)
	awaitOutput(t, cmd, out, "demo-core: up\n")
	killAll(t, cmd, p)
	assert.Check(t, is.Contains(p.read(t, demoFile), "  version: \"1.35\"\n  nodeVersion: \"1.34\"\n"), "the file says what was under way")

	machines := p.idsOf(t, "aws:ec2/instance:Instance")
	p.run(t, args...).ends(t, 0, "control plane to 1.36, in", "node groups to 1.35, in", "node groups to 1.36, in", "Karpenter's nodes to 1.36, in")
	p.kubernetes(t, "1.36", "1.36")
	assert.DeepEqual(t, p.kubelets(t, "demo", ofPools), map[string][]string{"default": {"1.36"}})
	for _, id := range p.idsOf(t, "aws:ec2/instance:Instance") {
		assert.Check(t, !slices.Contains(machines, id), "%s has outlived the upgrade", id)
	}
	addons := p.addonVersions(t)
	assert.Check(t, strings.HasPrefix(addons["kube-proxy"], "v1.36."), "the addons have %v", addons)
	p.quiet(t)
}

// addonVersions are the versions of EKS's addons, by name.
func (p project) addonVersions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, text := range p.records(t) {
		var r record
		decode(t, text, &r)
		if r.Type == "aws:eks/addon:Addon" {
			out[fmt.Sprint(r.Outputs["addonName"])] = fmt.Sprint(r.Outputs["addonVersion"])
		}
	}
	return out
}

func (p project) rollbackRefused(t *testing.T) {
	p.run(t, "upgrade", "demo", "--rollback", "--yes").ends(t, 4, "1 node that is newer than 1.35, and no node group has")
	p.kubernetes(t, "1.36", "1.36")
}

// before is the last commit whose hand-off has version 3 and knows AWS alone. The
// program of that commit makes the cluster that TestOlderState takes over.
const before = "70ee86775efc591f521ad61f0acddd208d3f0713"

// TestOlderState has this program take over the lab, the states and the hand-off
// that an older one wrote: it changes nothing of them but the hand-off, and tags by
// the identity that it gives the cluster.
func TestOlderState(t *testing.T) {
	tier.Long(t, "it builds the program of an older commit to take over what that one made")
	p := newProject(t)
	// What that program knew, and had.
	p.edit(t, demoFile, `version: "1.36"`, `version: "1.35"`)
	p.edit(t, demoFile, "version: "+ourFlux, "version: "+theirFlux)
	p.edit(t, demoFile, "flux-install.yaml", "flux-install-before.yaml")
	older := project{dir: p.dir, tombolo: buildOlder(t), known: p.known}
	older.must(t, "lab", "up", "--profile", "light")
	older.must(t, "up", "demo", "--yes") // that program knows no --force
	made := map[string][]resource{}
	for _, stack := range []string{"demo-core", "demo-bootstrap"} {
		made[stack] = older.resources(t, stack)
	}

	p.must(t, "lab", "up")
	p.takesOver(t)
	for _, args := range [][]string{
		{"preview", "demo", "--output", "json"},
		{"preview", "demo", "--without-secrets", "--output", "json"},
		{"up", "demo", "--yes", "--force", "--output", "json"},
		{"up", "demo", "--yes", "--output", "json", "--refresh"},
	} {
		lastResult(t, p.must(t, args...)).unchanged(t)
	}
	for stack, want := range made {
		got := slices.DeleteFunc(p.resources(t, stack), func(r resource) bool {
			// Its identity, and that core reads its own last outputs.
			return strings.HasSuffix(r.URN, "::pulumi:index:Stash::owner") ||
				stack == "demo-core" && strings.Contains(r.URN, "::pulumi:pulumi:StackReference::")
		})
		assert.Check(t, reflect.DeepEqual(got, want), "%s has other resources than before:\n%v\nwere\n%v", stack, got, want)
	}
	p.destroys(t, "demo")
}

// takesOver gives the cluster its identity: one value in the state of core, tags, and
// what bootstrap hands on. Nothing is deleted, and nothing is made anew.
func (p project) takesOver(t *testing.T) {
	t.Helper()
	for _, command := range []string{"preview", "up"} {
		args := []string{command, "demo", "--output", "json"}
		if command == "up" {
			args = append(args, "--yes")
		}
		for i, s := range lastResult(t, p.must(t, args...)).Stacks {
			for operation, n := range s.Changes {
				made := operation == "create" && n == 1 && i == 0
				if !made && operation != "same" && operation != "update" {
					t.Errorf("%s: %s does %d times %s: %v", command, s.Stack, n, operation, s.Changes)
				}
			}
		}
	}
}

// resource is what a state says of one resource, without what up writes anew each
// time.
type resource struct{ URN, ID, Created string }

func (p project) resources(t *testing.T, stack string) []resource {
	t.Helper()
	var state struct {
		Deployment struct{ Resources []resource }
	}
	decode(t, p.mustTool(t, "pulumi", "stack", "export", "--stack", stack), &state)
	assert.Assert(t, len(state.Deployment.Resources) >= 10, "%s has %d resources, too few to show anything", stack, len(state.Deployment.Resources))
	slices.SortFunc(state.Deployment.Resources, func(a, b resource) int { return strings.Compare(a.URN, b.URN) })
	return state.Deployment.Resources
}

// buildOlder builds tombolo of the commit before, with the modules of this one and with the flags
// of GOFLAGS: the modules that write a state, of Pulumi and its providers, have the same versions,
// and nothing but its own packages is compiled anew. A copy without the project's history cannot,
// and says so.
func buildOlder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	archive := filepath.Join(dir, "source.tar")
	for _, step := range []struct {
		in   string
		args []string
	}{
		{".", []string{"git", "rev-parse", "--verify", "--quiet", before + "^{commit}"}},
		{"../..", []string{"git", "archive", "--output", archive, before}},
		{dir, []string{"tar", "xf", archive}},
		{dir, []string{"go", "build", "-buildvcs=false", "-o", "bin/", "./cmd/tombolo"}},
	} {
		if step.args[0] == "go" {
			takeModules(t, dir)
		}
		cmd := exec.CommandContext(t.Context(), step.args[0], step.args[1:]...)
		cmd.Dir = step.in
		out, err := cmd.CombinedOutput()
		if err != nil && step.args[1] == "rev-parse" {
			t.Skipf("commit %s is not in the history of this copy: clone it whole to run this test", before)
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(step.args, " "), err, out)
		}
	}
	return filepath.Join(dir, "bin", "tombolo")
}

// takeModules gives a copy of an older commit the modules of this one. Those of Pulumi and its
// providers have to be the same in both, or the states are not those of an older program.
func takeModules(t *testing.T, older string) {
	t.Helper()
	versions := func(dir string) map[string]string {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		assert.NilError(t, err)
		parsed, err := modfile.Parse(dir, text, nil)
		assert.NilError(t, err)
		out := map[string]string{}
		for _, r := range parsed.Require {
			out[r.Mod.Path] = r.Mod.Version
		}
		return out
	}
	present := versions("../..")
	for module, version := range versions(older) {
		if strings.HasPrefix(module, "github.com/pulumi/pulumi") && present[module] != version {
			t.Fatalf("commit %s has %s %s and this one %s: build it with its own modules", before, module, version, present[module])
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		assert.NilError(t, err)
		files.Write(t, filepath.Join(older, name), string(text))
	}
}
