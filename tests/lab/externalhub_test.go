//go:build lab

package lab

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// This file is the end of TestArgoCD: its hub, to which spoke-b belongs, is for spoke-a one
// that others run. spoke-a knows its endpoint and has a token of it, with the rights that the
// guide says and no more.

const hubToken = "TOMBOLO_HUB_TOKEN"

// owners are those of the hub: they do what they want there.
func (f *fleet) owners(t *testing.T, args ...string) string {
	t.Helper()
	return f.kubectl(t, hub, append([]string{"-n", "argocd"}, args...)...)
}

// giveToken has the owners make the service account anew, so that older tokens of it end.
func (f *fleet) giveToken(t *testing.T) {
	t.Helper()
	f.owners(t, "delete", "serviceaccount", "register-"+spokeA, "--ignore-not-found")
	f.owners(t, "create", "serviceaccount", "register-"+spokeA)
	token := strings.TrimSpace(f.owners(t, "create", "token", "register-"+spokeA))
	f.env = slices.DeleteFunc(f.env, func(e string) bool { return strings.HasPrefix(e, hubToken+"=") })
	f.env = append(f.env, hubToken+"="+token)
}

// giveRights gives the service account the Role that the guide has.
func (f *fleet) giveRights(t *testing.T) {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "argocd.md"))
	assert.NilError(t, err)
	role := regexp.MustCompile("(?s)```yaml\n(apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n.*?)```").FindSubmatch(guide)
	assert.Assert(t, is.Len(role, 2), "the guide has no Role")
	f.owners(t, "apply", "-f", asFile(t, strings.ReplaceAll(string(role[1]), "demo", spokeA)))
	f.owners(t, "create", "rolebinding", "register-"+spokeA, "--role=register-"+spokeA, "--serviceaccount=argocd:register-"+spokeA)
}

func (f *fleet) externalHubNeedsRights(t *testing.T) {
	role := strings.TrimSpace(f.must(t, "outputs", hub, "argocdRoleArn"))
	text := regexp.MustCompile(`(?s)  hub: mgmt\n.*?\nvalues:`).ReplaceAllString(f.read(t, clusterFile(spokeA)), "  externalHub:\n    name: company-hub\n"+
		"    endpoint: "+strings.TrimSpace(f.must(t, "outputs", hub, "clusterEndpoint"))+"\n"+
		"    certificateAuthority: "+strings.TrimSpace(f.must(t, "outputs", hub, "clusterCa"))+"\n"+
		"    token: {env: "+hubToken+"}\n    roleArn: "+role+"\n\nvalues:")
	f.write(t, clusterFile(spokeA), strings.Replace(text, "addons:\n  metrics-server: {}\n  loki: {}\n  promtail: {}\n  alloy: {}\n", "", 1))
	f.giveToken(t)
	before := len(f.inventory(t))
	o := f.run(t, "up", spokeA, "--yes")
	assert.Check(t, o.code != 0)
	said := strings.Join(strings.Fields(o.stderr), " ")
	assert.Check(t, is.Contains(said, "company-hub"))
	assert.Check(t, is.Contains(said, "get, create, patch, update and delete Secret argocd/cluster-"+spokeA))
	assert.Equal(t, len(f.inventory(t)), before, "something was made")
}

func (f *fleet) externalHubTakesIt(t *testing.T) {
	f.giveRights(t)
	f.must(t, "up", spokeA, "--yes", "--verify")
	f.unchanged(t, spokeA)
	f.looksWithoutToken(t)
	f.owners(t, "apply", "-f", asFile(t, `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: owners-greeting, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  project: default
  source: {repoURL: "http://git.lab.test/platform-argocd.git", targetRevision: main, path: others}
  destination: {name: `+spokeA+`, namespace: hello}
  syncPolicy: {automated: {}}
`))
	eventually(t, func() (bool, string) {
		if got := f.kubectl(t, spokeA, "-n", "hello", "get", "configmap", "greeting", "--ignore-not-found", "-o", "jsonpath={.data.from}"); got != "the owners" {
			return false, "what the owners want has not arrived: " + f.owners(t, "get", "application", "owners-greeting", "-o", "jsonpath={.status.conditions}{.status.operationState.message}")
		}
		return true, ""
	})
}

// looksWithoutToken: what only looks needs no way to the hub.
func (f *fleet) looksWithoutToken(t *testing.T) {
	t.Helper()
	none := f.project
	none.env = slices.DeleteFunc(slices.Clone(f.env), func(e string) bool { return strings.HasPrefix(e, hubToken+"=") })
	for _, args := range [][]string{
		{"preview", "--exit-code"}, {"preview", "--refresh", "--exit-code", "--plan", filepath.Join(f.dir, ".lab", "plan.json")}, {"drift"},
	} {
		none.must(t, append(args, "--without-secrets", spokeA)...)
	}
}

// externalHubRotates: the token that the state has ends, and the file's new one is used.
func (f *fleet) externalHubRotates(t *testing.T) {
	before := f.registration(t, spokeA)
	f.giveToken(t)
	f.must(t, "up", spokeA, "--yes")
	f.must(t, "up", spokeA, "--yes", "--refresh")
	after := f.registration(t, spokeA)
	assert.Check(t, after.Metadata.UID == before.Metadata.UID, "the registration %s became %s", before.Metadata.UID, after.Metadata.UID)
}

// leavesExternalHub: what the owners made is theirs to delete, and of the hub nothing else
// changes.
func (f *fleet) leavesExternalHub(t *testing.T) {
	other := f.registration(t, spokeB)
	o := f.run(t, "destroy", spokeA, "--yes")
	assert.Check(t, o.code != 0)
	assert.Check(t, is.Contains(strings.Join(strings.Fields(o.stderr), " "), "argocd/owners-greeting"))
	f.owners(t, "get", "secret", "cluster-"+spokeA)

	f.owners(t, "delete", "application", "owners-greeting")
	f.owners(t, "label", "secret", "cluster-"+spokeA, "environment-") // which their ApplicationSet for all clusters selects by
	f.vanishes(t, hub, "-n", "argocd", "get", "application", spokeA+"-hello")
	f.must(t, "destroy", spokeA, "--yes")
	assert.Check(t, is.Equal(f.owners(t, "get", "secret", "cluster-"+spokeA, "--ignore-not-found", "-o", "name"), ""))
	assert.Equal(t, f.registration(t, spokeB).Metadata.UID, other.Metadata.UID)
	f.must(t, "verify", hub, spokeB)
}
