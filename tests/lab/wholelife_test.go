//go:build lab

package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gotest.tools/v3/assert"

	"tombolo/tests/scenario"
	"tombolo/tests/tier"
)

// clouds are the clusters of the scenario that is the same for each of them: two clouds, two
// engines. Their files are in testdata/clouds. The short tier has those in AWS in other tests.
func clouds() []string {
	if testing.Short() {
		return []string{"aks-flux"}
	}
	return []string{"aks-flux", "eks-argocd", "eks-flux"}
}

// TestClouds runs one script on clusters of both clouds and both engines, all of them in one
// lab at the same time. It knows a cluster's name and no more.
func TestClouds(t *testing.T) {
	tier.Part(t, "the cluster in Azure lives through every command; those in AWS, whose lives TestDemo and TestArgoCD have, are left out")
	p := newProject(t)
	for _, name := range clouds() {
		p.write(t, clusterFile(name), testdata(t, "clouds/"+name+".yaml"))
		for _, engine := range []string{"flux", "argocd"} {
			p.write(t, filepath.Join("platform", engine, "clusters", name, "greeting.yaml"),
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeting, namespace: hello}\ndata: {from: Git}\n")
		}
	}
	p.must(t, "lab", "up", "--profile", "light-engine")
	t.Run("life", func(t *testing.T) {
		for _, name := range clouds() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p.life(t, name)
			})
		}
	})
	if t.Failed() {
		return
	}
	p.nothingExists(t)
	assert.Equal(t, len(p.locks(t)), 0)
}

// life runs the script on a cluster, in the project.
func (p project) life(t *testing.T, cluster string) {
	scenario.RunFile(t, filepath.Join("testdata", "clouds", "life.txtar"), func(env *testscript.Env) error {
		env.Cd = p.dir
		env.Setenv("CLUSTER", cluster)
		env.Setenv("NO_COLOR", "1")
		env.Setenv("TOMBOLO_LAB", "1")
		env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
		openRequest(env)
		return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
	}, cloudCommands())
}

// cloudCommands are commands of the scenario that is the same on each cloud:
//
//	kubectl <argument>...           asks the cluster of the file kubeconfig
//	made <cluster>                  the cloud has something of the cluster
//	retag <cluster> <tag> <value>   changes a tag of the cluster's network, past the stacks
//
// and those of a pull request.
func cloudCommands() map[string]scenario.Command {
	all := requestCommands()
	all["kubectl"], all["made"], all["retag"] = kubectlOf, madeOf, retag
	return all
}

func kubectlOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: kubectl <argument>...")
	}
	const inLab = `eval "$(tombolo lab env)" && exec kubectl --kubeconfig "$WORK/kubeconfig" "$@"`
	ts.Check(ts.Exec("sh", append([]string{"-c", inLab, "kubectl"}, args...)...))
}

func madeOf(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] made <cluster>")
	}
	if items := itemsOf(ts, args[0]); (len(items) == 0) != neg {
		ts.Fatalf("the cloud has of %s: %v", args[0], items)
	}
}

// networkOf matches the types of a network, in either cloud.
var networkOf = regexp.MustCompile(`^(aws:ec2/vpc:Vpc|azure-native:network/.*:VirtualNetwork)$`)

func retag(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: retag <cluster> <tag> <value>")
	}
	networks := slices.DeleteFunc(itemsOf(ts, args[0]), func(i item) bool { return !networkOf.MatchString(i.Type) })
	if len(networks) != 1 {
		ts.Fatalf("the networks of %s are %v, want one", args[0], networks)
	}
	ts.Check(ts.Exec("tombolo", "lab", "drift", "change", networks[0].Type, networks[0].ID, "tags."+args[1]+"="+args[2]))
}

// itemsOf are what the clouds have of a cluster: its name is in theirs.
func itemsOf(ts *testscript.TestScript, cluster string) []item {
	ts.Check(ts.Exec("tombolo", "lab", "status", "--output", "json"))
	var status struct{ Inventory []item }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &status))
	return slices.DeleteFunc(status.Inventory, func(i item) bool { return !strings.Contains(i.Name+" "+i.ID, cluster) })
}
