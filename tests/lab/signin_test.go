//go:build lab

package lab

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"tombolo/lab/people"
	"tombolo/tests/tier"
)

const (
	peopleIssuer = "https://" + people.Host + "/application/o/kubernetes/"
	peopleLine   = "  identityProvider: {issuerUrl: \"" + peopleIssuer + "\", clientId: kubernetes, usernameClaim: preferred_username, requiredClaims: {tenant: acme}}\n"
)

// TestSignIn has a person sign in to a real API server by the cluster's identity provider. She may
// do what a RoleBinding gives her group, and tokens that are not for this cluster are refused.
func TestSignIn(t *testing.T) {
	tier.Long(t, "people sign in by a provider of their own, which unit tests hold at the API of the stand-in")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	p.edit(t, clusterFile("demo"), "  admins:\n", peopleLine+"  admins:\n")
	p.up(t, "demo")
	p.unchanged(t, "demo")
	p.kubectl(t, "demo", "create", "namespace", "shop")
	// Nothing fills Kubernetes' own ClusterRoles in the light profile.
	p.kubectl(t, "demo", "create", "role", "reader", "-n", "shop", "--verb=get,list", "--resource=configmaps")
	p.kubectl(t, "demo", "create", "rolebinding", "sellers", "-n", "shop", "--role=reader", "--group=oidc:sellers")

	claims := func(key string, value any) string { return p.personsToken(t, "ada", []string{"sellers"}, key, value) }
	good := claims("sub", "1234")
	who := p.asPerson(t, "demo", good, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username} {.status.userInfo.groups}")
	assert.Equal(t, who.code, 0, who.stderr)
	assert.Equal(t, strings.TrimSpace(who.stdout), `oidc:ada ["oidc:sellers","system:authenticated"]`)
	o := p.asPerson(t, "demo", good, "get", "configmaps", "-n", "shop")
	assert.Equal(t, o.code, 0, o.stderr)
	for _, beyond := range [][]string{{"get", "configmaps", "-n", "default"}, {"get", "secrets", "-n", "shop"}, {"create", "configmap", "x", "-n", "shop"}} {
		o := p.asPerson(t, "demo", good, beyond...)
		assert.Check(t, o.code != 0 && strings.Contains(o.stderr, `User "oidc:ada" cannot`), "%v: %s", beyond, o.stderr)
	}
	masters := p.asPerson(t, "demo", claims("groups", []string{"system:masters"}), "get", "configmaps", "-n", "default")
	assert.Check(t, is.Contains(masters.stderr, `User "oidc:ada" cannot`), "the provider made an administrator")
	for name, token := range map[string]string{
		"audience": claims("aud", "argocd"), "issuer": claims("iss", "https://"+people.Host+"/application/o/argocd/"),
		"expired": claims("exp", time.Now().Add(-time.Minute).Unix()), "tenant": claims("tenant", "other"),
	} {
		yes, said := p.unauthorized(t, token)
		assert.Check(t, yes, "%s: %s", name, said)
	}

	// Without the provider nobody signs in by it any more. API servers remember for ten seconds.
	p.edit(t, clusterFile("demo"), peopleLine, "")
	p.up(t, "demo")
	eventually(t, func() (bool, string) { return p.unauthorized(t, good) })
	p.destroys(t, "demo")
}

// unauthorized says whether the API server knows nobody by a token.
func (p project) unauthorized(t *testing.T, token string) (yes bool, said string) {
	t.Helper()
	o := p.asPerson(t, "demo", token, "get", "configmaps", "-n", "shop")
	return o.code != 0 && (strings.Contains(o.stderr, "Unauthorized") || strings.Contains(o.stderr, "must be logged in")), o.stderr
}

// personsToken is one of the lab's issuer for a person, with one claim as it is given.
func (p project) personsToken(t *testing.T, name string, groups []string, claim string, value any) string {
	t.Helper()
	keys, err := people.Open(filepath.Join(p.dir, ".lab", "pki", people.KeyName+".key"))
	assert.NilError(t, err)
	all := map[string]any{
		"iss": peopleIssuer, "aud": "kubernetes", "sub": "1234", "preferred_username": name, "groups": append([]string{}, groups...), "tenant": "acme",
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	all[claim] = value
	token, err := keys.Token(all)
	assert.NilError(t, err)
	return token
}

// asPerson is kubectl with a token.
func (p project) asPerson(t *testing.T, cluster, token string, args ...string) outcome {
	t.Helper()
	return p.tool(t, "kubectl", append([]string{"--kubeconfig", p.personsFile(t, cluster, token)}, args...)...)
}

// personsFile is a kubeconfig with a token in it, and without the credentials of who runs the test.
func (p project) personsFile(t *testing.T, cluster, token string) string {
	t.Helper()
	admin := strings.TrimSpace(p.must(t, "kubeconfig", cluster, "--file", filepath.Join(p.dir, ".lab", cluster+".kubeconfig")))
	config, err := clientcmd.LoadFromFile(admin)
	assert.NilError(t, err)
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &api.AuthInfo{Token: token}
	}
	file := filepath.Join(t.TempDir(), "person.kubeconfig")
	assert.NilError(t, clientcmd.WriteToFile(*config, file))
	return file
}

// labCaller is whoever runs tombolo in the lab, and so makes its clusters.
const labCaller = "arn:aws:iam::111122223333:user/tombolo"

// creatorsEntries: of the clusters demo and second, the latter has the identity that makes it among the
// admins of its file: it has one access entry on each, which core has made. What the
// control plane gets by a transform is there, and an up changes nothing of it.
func (p project) creatorsEntries(t *testing.T) {
	for cluster, want := range map[string]access{
		"demo":   {Support: "STANDARD", Entries: []string{"arn:aws:iam::111122223333:role/platform-team", labCaller}},
		"second": {Support: "EXTENDED", Shift: true, Entries: []string{labCaller}},
	} {
		assert.Check(t, is.DeepEqual(p.access(t, cluster), want))
		p.unchanged(t, cluster)
	}
	// A file that says it changes a live cluster in place.
	p.edit(t, "clusters/demo.yaml", "\n  admins:\n", "\n  support: extended\n  admins:\n")
	core := p.up(t, "demo").Stacks[0].Changes
	assert.Check(t, is.Equal(core["update"], 1))
	assert.Check(t, is.Equal(core["replace"]+core["create"]+core["delete"], 0))
	assert.Check(t, is.Equal(p.access(t, "demo").Support, "EXTENDED"))
}

// access is what a state has of who may do what on a control plane, and of its options.
type access struct {
	Creator, Shift bool
	Support        string
	Entries        []string
}

func (p project) access(t *testing.T, cluster string) access {
	t.Helper()
	var state struct {
		Deployment struct {
			Resources []struct {
				Type    string
				Outputs struct {
					PrincipalARN string `json:"principalArn"`
					Kind         string `json:"type"`
					AccessConfig struct {
						Creator bool `json:"bootstrapClusterCreatorAdminPermissions"`
					} `json:"accessConfig"`
					UpgradePolicy struct {
						Support string `json:"supportType"`
					} `json:"upgradePolicy"`
					ZonalShift struct{ Enabled bool } `json:"zonalShiftConfig"`
				}
			}
		}
	}
	decode(t, p.state(t, cluster+"-core"), &state)
	var out access
	for _, r := range state.Deployment.Resources {
		switch {
		case r.Type == "aws:eks/cluster:Cluster":
			out.Creator, out.Support, out.Shift = r.Outputs.AccessConfig.Creator, r.Outputs.UpgradePolicy.Support, r.Outputs.ZonalShift.Enabled
		case r.Type == "aws:eks/accessEntry:AccessEntry" && r.Outputs.Kind == "STANDARD":
			out.Entries = append(out.Entries, r.Outputs.PrincipalARN)
		}
	}
	slices.Sort(out.Entries)
	return out
}
