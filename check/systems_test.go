package check

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"tombolo/check/helm"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/config"
	"tombolo/tests/files"
)

const (
	channels = "clusters/teams/systems/channels.yaml"
	shop     = "systems/shop.yaml"
)

// systemFaults are seeded into the reference tree's systems, one at a time.
var systemFaults = []struct{ name, file, old, new string }{
	{"name of the platform", shop, "name: shop\n  namespace: systems", "name: monitoring\n  namespace: systems"},
	{"namespace of another name", shop, "name: shop\n  labels", "name: shopp\n  labels"},
	{"label of another system", shop, "tombolo/system: shop", "tombolo/system: blog"},
	{"no label", shop, "  labels:\n    tombolo/system: shop\n", ""},
	{"namespace without a release", shop, "  namespace: systems", "  namespace: default"},
	{"release in the namespace of another", shop, "spec:\n  values", "spec:\n  targetNamespace: blog\n  values"},
	{"release of another name", shop, "spec:\n  values", "spec:\n  releaseName: blog\n  values"},
	{"release by another account", shop, "spec:\n  values", "spec:\n  serviceAccountName: admin\n  values"},
	{"release on another cluster", shop, "spec:\n  values", "spec:\n  kubeConfig: {secretRef: {name: other}}\n  values"},
	{"release that is changed", shop, "spec:\n  values", "spec:\n  postRenderers: [{kustomize: {}}]\n  values"},
	{"value misspelt", shop, "path: ./deploy", "pth: ./deploy"},
	{"value of a wrong type", shop, "team: sellers", "suspend: sometimes\n    team: sellers"},
	{"channel of an unknown type", shop, "type: slack", "type: slak"},
	{"channel of an unknown severity", shop, "type: slack", "type: slack\n      severity: warning"},
	{"team missing", shop, "    team: sellers\n", ""},
	{"group of the system itself", shop, "group: sellers", "group: system:masters"},
	{"group of another team", shop, "group: sellers", "group: editors"},
	{"repository without a scheme", shop, "url: http://git", "url: git"},
	{"credentials in the address", shop, "url: http://git", "url: https://me:secret@git"},
	{"credentials in clear", shop, "path: ./deploy", "secret: channel\n      path: ./deploy"},
	{"directory of another system", shop, "lab.test/shop.git", "lab.test/blog.git"},
	{"host of another team", shop, "    tombolo/system: shop\n", "    tombolo/system: shop\n  annotations:\n    tombolo/hosts: \"shop.example.com *.lab.test\"\n"},
	{"host of the platform", shop, "    tombolo/system: shop\n", "    tombolo/system: shop\n  annotations:\n    tombolo/hosts: grafana.teams.test\n"},
	{"host that is none", shop, "    tombolo/system: shop\n", "    tombolo/system: shop\n  annotations:\n    tombolo/hosts: shop_1\n"},
	{"connections to the platform", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{namespace: blog}, {namespace: loki}]\n"},
	{"connections to the node", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{cidr: 169.254.0.0/16, ports: [80]}]\n"},
	{"connections to no range", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{cidr: 10.60.3.4/16}]\n"},
	{"connections to no port", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{cidr: 10.60.0.0/16, ports: [0]}]\n"},
	{"connections to whom", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{namespace: blog, cidr: 10.60.0.0/16}]\n"},
	{"connections in no list", shop, "    team: sellers\n", "    team: sellers\n    allowTo: internet\n"},
	{"secret that nothing makes", shop, "secret: channel", "secret: chanel"},
	{"retired connector", channels, "http://inbox.lab.test/msteams/blog", "https://company.webhook.office.com/webhookb2/1"},
	{"address in clear", channels, "http://inbox.lab.test/slack/shop", "https://hooks.slack.com/services/1"},
	{"list elsewhere without an address", "clusters/teams/kustomization.yaml", "  - ../base/systems.yaml\n", "  - ../base/systems.yaml\n  - ../base/systems-repository.yaml\n"},
	{"address in clear in base64", channels, "stringData:\n  address: http://inbox.lab.test/slack/shop", "data:\n  address: aHR0cHM6Ly9ob29rcy5zbGFjay5jb20vc2VydmljZXMvMQ=="},
}

func teams(t *testing.T) []published.Set {
	t.Helper()
	c, err := config.Load("../clusters/teams.yaml")
	assert.NilError(t, err)
	set := published.To(c, c)
	set.File = "clusters/teams.yaml"
	set.Pages["grafana.teams.test"] = "kube-prometheus-stack"
	return []published.Set{set}
}

// checkTeams is what the check finds, but for the note of what the tree leaves unused.
func checkTeams(t *testing.T, tree fs.FS) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(check(t, tree, teams(t))) {
		if !strings.Contains(line, ": note: of what every cluster is given") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestSystems(t *testing.T) {
	assert.Check(t, is.Equal(checkTeams(t, os.DirFS("../platform/flux")), ""))
	for _, f := range systemFaults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			tree := treetest.Copy(t, os.DirFS("../platform/flux"))
			seed(t, tree, f.file, f.old, f.new)
			found := checkTeams(t, tree)
			assert.Check(t, found != "", "nothing is found")
			golden.Assert(t, found, "golden/systems-"+strings.ReplaceAll(f.name, " ", "-")+".golden")
		})
	}
}

// TestListElsewhere: systems whose list is in a repository of its own have all that the others have. The check
// says that it does not follow it.
func TestListElsewhere(t *testing.T) {
	type patched struct{ Patches []map[string]any }
	var ours patched
	reference := treetest.Copy(t, os.DirFS("../platform/flux"))
	assert.NilError(t, yaml.Unmarshal(reference["systems/release/kustomization.yaml"].Data, &ours))
	var theirs struct{ Spec patched }
	_, stage, _ := strings.Cut(string(reference["clusters/base/systems-repository.yaml"].Data), "---\n")
	assert.NilError(t, yaml.Unmarshal([]byte(stage), &theirs))
	assert.DeepEqual(t, theirs.Spec.Patches, ours.Patches)

	seed(t, reference, "clusters/teams/kustomization.yaml", "  - ../base/systems.yaml\n", "  - ../base/systems.yaml\n  - ../base/systems-repository.yaml\n")
	sets := teams(t)
	sets[0].Variables["systems_repository"] = published.Variable{Example: "https://git.example.com/systems.git"}
	found := check(t, reference, sets)
	assert.Check(t, !strings.Contains(found, "error") && !strings.Contains(found, "warning"), found)
	assert.Check(t, is.Contains(found, "note: Kustomization flux-system/systems-list is not followed: its path is in GitRepository flux-system/systems, not in this tree"))
}

func TestListElsewhereWithArgoCD(t *testing.T) {
	of := argocdSystems(t)
	seed(t, of, hubOverlay, "  - ../lab\n", "  - ../lab\n  - ../../systems/repository\n")
	sets := fleetOfAll(t, "clusters/mgmt")
	for _, s := range sets {
		s.Registration.Annotations["systems_repository"] = "https://git.example.com/systems.git"
	}
	found := check(t, of, sets)
	assert.Check(t, !strings.Contains(found, "error") && !strings.Contains(found, "warning"), found)
	assert.Check(t, is.Contains(found, "note: ApplicationSet argocd/systems: its generator matrix is not followed"))
	assert.Check(t, is.Contains(found, "systems-notifications is not followed: its path is in https://git.example.com/systems.git, not in this tree"))
	delete(sets[1].Registration.Annotations, "systems_repository")
	assert.Check(t, is.Contains(check(t, of, sets), "error: "))
}

// TestManySystems: two hundred are as right as three are, and one that is wrong is found
// among them.
func TestManySystems(t *testing.T) {
	tree, err := treetest.Systems(os.DirFS("../platform/flux"), 200)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(checkTeams(t, tree), ""))
	seed(t, tree, "systems/team-117.yaml", "group: team-117", "group: team-042")
	want := "systems/team-117.yaml:16:12: error: system team-117: the group team-042 is that of system team-042, too"
	assert.Check(t, is.Contains(checkTeams(t, tree), want))
}

const (
	hubOverlay   = "clusters/mgmt/kustomization.yaml"
	argocdShop   = "systems/shop.yaml"
	systemsOfHub = "clusters/mgmt/systems.yaml"
	argocdSystem = `team: TEAM
group: TEAM
repository:
  url: https://git.example.com/NAME.git
  path: ./deploy
channel:
  type: slack
hosts:
  - NAME.example.com
`
	channelAddresses = `
patches:
  - patch: |
      apiVersion: v1
      kind: Secret
      metadata: {name: argocd-notifications-secret, namespace: argocd}
      stringData:
        shop: http://inbox.lab.test/shop
        blog: http://inbox.lab.test/blog
`
)

// argocdSystems is the reference tree with two systems on the hub, and one of them on a spoke.
func argocdSystems(t *testing.T) fstest.MapFS {
	t.Helper()
	out := treetest.Copy(t, os.DirFS("../platform/argocd"))
	put := func(file, text string) { out[file] = &fstest.MapFile{Data: []byte(text)} }
	for name, team := range map[string]string{"shop": "sellers", "blog": "editors"} {
		put("systems/"+name+".yaml", strings.NewReplacer("TEAM", team, "NAME", name).Replace(argocdSystem))
	}
	put(systemsOfHub, "- system: shop\n- system: blog\n")
	put("clusters/sets/systems.yaml", "- system: shop\n")
	list := string(out[hubOverlay].Data)
	put(hubOverlay, strings.Replace(list, "resources:\n", "resources:\n  - ../../systems/hub\n", 1)+channelAddresses)
	return out
}

// argocdFaults are seeded into them, one at a time.
var argocdFaults = []struct{ name, file, old, new string }{
	{"system without a file", systemsOfHub, "system: shop", "system: shopp"},
	{"name of the platform", systemsOfHub, "system: shop", "system: monitoring"},
	{"system twice", systemsOfHub, "- system: shop", "- system: shop\n- system: shop"},
	{"no list", systemsOfHub, "- system: shop\n- system: blog", "shop, blog"},
	{"value misspelt", argocdShop, "path: ./deploy", "pth: ./deploy"},
	{"value of Flux", argocdShop, "path: ./deploy", "secret: git"},
	{"value of a wrong type", argocdShop, "team: sellers", "suspend: sometimes\nteam: sellers"},
	{"no YAML", argocdShop, "team: sellers", "team: [sellers"},
	{"channel of an unknown type", argocdShop, "type: slack", "type: slak"},
	{"channel of an unknown severity", argocdShop, "type: slack", "type: slack\n  severity: warning"},
	{"team missing", argocdShop, "team: sellers\n", ""},
	{"group of the system itself", argocdShop, "group: sellers", "group: system:masters"},
	{"group of the page that is a role", argocdShop, "team: sellers\n", "team: sellers\nsignInGroup: role:admin\n"},
	{"group of the page with a policy in it", argocdShop, "team: sellers\n", "team: sellers\nsignInGroup: \"a\\np, b, applications, *, */*, allow\"\n"},
	{"group of another team", argocdShop, "group: sellers", "group: editors"},
	{"every repository", argocdShop, "git.example.com/shop.git", "git.example.com/*"},
	{"credentials in the address", argocdShop, "url: https://git", "url: https://me:secret@git"},
	{"directory of another team", argocdShop, "example.com/shop.git", "example.com/blog.git"},
	{"host of another team", argocdShop, "- shop.example.com", "- blog.example.com"},
	{"host of the platform", argocdShop, "- shop.example.com", "- headlamp.full.lab.test"},
	{"host that is none", argocdShop, "- shop.example.com", "- Shop_1"},
	{"connections to the platform", argocdShop, "team: sellers\n", "team: sellers\nallowTo: [{namespace: blog}, {namespace: loki}]\n"},
	{"connections to the node", argocdShop, "team: sellers\n", "team: sellers\nallowTo: [{cidr: 169.254.169.254/32}]\n"},
	{"connections misspelt", argocdShop, "team: sellers\n", "team: sellers\nallowTo: [{cdr: 10.60.0.0/16}]\n"},
	{"address that nothing gives", hubOverlay, "        shop: http", "        shp: http"},
	{"address in clear", hubOverlay, "http://inbox.lab.test/shop", "https://hooks.slack.com/services/1"},
	{"retired connector", hubOverlay, "http://inbox.lab.test/blog", "https://company.webhook.office.com/webhookb2/1"},
}

func checkArgoCDSystems(t *testing.T, of fs.FS) string {
	t.Helper()
	return check(t, of, fleetOfAll(t, "clusters/mgmt"))
}

func TestSystemsOfArgoCD(t *testing.T) {
	assert.Check(t, is.Equal(checkArgoCDSystems(t, argocdSystems(t)), ""))
	for _, f := range argocdFaults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			of := argocdSystems(t)
			seed(t, of, f.file, f.old, f.new)
			found := checkArgoCDSystems(t, of)
			assert.Check(t, found != "", "nothing is found")
			golden.Assert(t, found, "golden/argocd-systems-"+strings.ReplaceAll(f.name, " ", "-")+".golden")
		})
	}
}

// TestNoSystemTakesArgoCDsPage: its host is that of the hub's sign-in.
func TestNoSystemTakesArgoCDsPage(t *testing.T) {
	hub, of := fullWith(t, "mgmt", argocdSignIn), argocdSystems(t)
	seed(t, of, argocdShop, "- shop.example.com", "- argocd.example.com")
	assert.Check(t, is.Contains(check(t, of, []published.Set{published.To(hub, hub)}),
		"error: system shop: the host argocd.example.com is that of the platform's Argo CD (cluster mgmt); give the system another host"))
}

// TestApplicationsOfSystemsAreTheirOwn: no system takes the name of another Application, and
// no Argo CD applies systems by its own rights.
func TestApplicationsOfSystemsAreTheirOwn(t *testing.T) {
	fleet := fleetOfAll(t, "clusters/mgmt")
	of := argocdSystems(t)
	seed(t, of, systemsOfHub, "system: blog", "system: promtail")
	of["systems/promtail.yaml"] = of["systems/blog.yaml"]
	assert.Check(t, is.Contains(check(t, of, fleet), "tree/systems/promtail.yaml: error: system promtail: its Application mgmt-promtail has the name of another one"))

	of = argocdSystems(t)
	fleet[1].Cluster = "mgmt-a"
	of["clusters/mgmt-a/systems.yaml"] = &fstest.MapFile{Data: []byte("- system: shop\n")}
	of["systems/a-shop.yaml"] = of[argocdShop]
	seed(t, of, systemsOfHub, "system: blog", "system: a-shop")
	assert.Check(t, is.Contains(check(t, of, fleet), "has the name of that of system"))

	for i := range fleet {
		fleet[i].Registration.Version = "v3.4.13"
	}
	assert.Check(t, is.Contains(check(t, of, fleet), "systems need Argo CD v3.5.0: the hub's v3.4.13 cannot"))
}

// TestASystemIsAppliedAsItself: Flux applies what a team delivers as the system's account, into its namespace;
// the team's group looks at it, and its channel hears of all that fails.
func TestASystemIsAppliedAsItself(t *testing.T) {
	c, _, err := helm.Load(treetest.Index(t, os.DirFS("../platform/flux")), "charts/system")
	assert.NilError(t, err)
	made, err := helm.Render(c, "shop", "shop", map[string]any{
		"team": "sellers", "group": "oidc:sellers", "repository": map[string]any{"url": "https://git.example.com/shop.git"},
		"channel": map[string]any{"type": "slack", "secret": "channel"},
	}, false)
	assert.NilError(t, err)
	is := map[string]string{}
	for _, text := range made {
		var o struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
			Spec     struct {
				ServiceAccountName, TargetNamespace string
				EventSources                        []struct{ Kind, Name string }
			}
			RoleRef  struct{ Name string }
			Subjects []struct{ Kind, Name string }
		}
		assert.NilError(t, yaml.Unmarshal([]byte(text), &o))
		assert.Equal(t, o.Metadata.Namespace, "shop", text)
		is[o.Kind+" "+o.Metadata.Name] = fmt.Sprint(o.Spec.ServiceAccountName, o.Spec.TargetNamespace, o.Spec.EventSources, " ", o.RoleRef.Name, o.Subjects)
	}
	for object, want := range map[string]string{
		"Kustomization system":    "systemshop[] []",
		"RoleBinding system":      "[] tombolo-system[{ServiceAccount system}]",
		"RoleBinding system-team": "[] tombolo-system-team[{Group oidc:sellers}]",
		"Alert system":            "[{GitRepository *} {HelmRepository *} {OCIRepository *} {HelmChart *} {Kustomization *} {HelmRelease *}] []",
	} {
		assert.Equal(t, is[object], want, object)
	}
}

// TestGroupsOnAKS: a group by its name has no members there.
func TestGroupsOnAKS(t *testing.T) {
	ours, theirs := teams(t), fleetOfAll(t, "clusters/mgmt")
	c, err := config.Load("../clusters/aks.yaml")
	assert.NilError(t, err)
	assert.Check(t, !ours[0].Entra && published.To(c, c).Entra)
	ours[0].Entra, theirs[0].Entra = true, true
	assert.Check(t, is.Contains(check(t, os.DirFS("../platform/flux"), ours), `systems/shop.yaml:16:12: error: system shop: values.group is "sellers", and AKS knows groups of Entra by their object ids alone`))
	assert.Check(t, is.Contains(check(t, argocdSystems(t), theirs), `systems/shop.yaml:2:1: error: system shop: group is "sellers", and AKS knows groups`))
}

// TestWhatATeamMay: the people of a system look at what it has, and restart its pods. They read no Secret,
// write nothing and get into no pod. What is not in the role is refused: the RoleBinding is of the namespace.
func TestWhatATeamMay(t *testing.T) {
	for _, engine := range []string{"flux", "argocd"} {
		text, err := os.ReadFile("../platform/" + engine + "/systems/base/roles.yaml")
		assert.NilError(t, err)
		var role rbacv1.ClusterRole
		for _, document := range manifest.Split(text) {
			if strings.Contains(document, "name: tombolo-system-team\n") {
				assert.NilError(t, yaml.UnmarshalStrict([]byte(document), &role))
			}
		}
		covers := func(all []string, one string) bool { return slices.Contains(all, one) || slices.Contains(all, "*") }
		may := func(verb, resource string) bool {
			name, group, _ := strings.Cut(resource, ".")
			return slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
				return covers(r.Verbs, verb) && covers(r.Resources, name) && slices.Contains(r.APIGroups, group)
			})
		}
		for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "bind", "escalate", "impersonate"} {
			reads := slices.Contains([]string{"get", "list", "watch"}, verb)
			for _, resource := range []string{
				"pods", "pods/log", "events", "configmaps", "services", "resourcequotas", "deployments.apps", "jobs.batch", "ingresses.networking.k8s.io", "rolebindings.rbac.authorization.k8s.io",
				"externalsecrets.external-secrets.io", "sealedsecrets.bitnami.com", "scaledobjects.keda.sh", "podmonitors.monitoring.coreos.com", "flexibleservers.dbforpostgresql.azure.com",
			} {
				assert.Check(t, is.Equal(may(verb, resource), reads || verb == "delete" && resource == "pods"), "%s: %s %s", engine, verb, resource)
			}
			for _, resource := range []string{"secrets", "pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers", "serviceaccounts/token", "namespaces", "nodes", "secretstores.external-secrets.io"} {
				assert.Check(t, !may(verb, resource), "%s: %s %s", engine, verb, resource)
			}
			assert.Check(t, is.Equal(may(verb, "kustomizations.kustomize.toolkit.fluxcd.io"), reads && engine == "flux"), "%s: %s", engine, verb)
		}
	}
}

// documents are those of a file that do not speak of Flux.
func documents(t *testing.T, of, file string) []string {
	t.Helper()
	text, err := os.ReadFile("../platform/" + of + "/" + file)
	assert.NilError(t, err)
	var out []string
	for _, document := range manifest.Split(text) {
		var o map[string]any
		assert.NilError(t, yaml.Unmarshal([]byte(document), &o))
		kept, ok := withoutFlux(o).(map[string]any)
		name := nameOf(kept)
		if !ok || strings.HasPrefix(name, "tombolo-system-delivery") || strings.HasPrefix(name, "tombolo-system-sources") {
			continue
		}
		plain, err := json.Marshal(kept)
		assert.NilError(t, err)
		out = append(out, string(plain))
	}
	return out
}

func nameOf(o map[string]any) string {
	metadata, _ := o["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// withoutFlux is a value without the rules about kinds of Flux in it.
func withoutFlux(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			out[key] = withoutFlux(item)
		}
		return out
	case []any:
		var out []any
		for _, item := range v {
			if rule, ok := item.(map[string]any); ok && ofFlux(rule["apiGroups"]) {
				continue
			}
			out = append(out, withoutFlux(item))
		}
		return out
	}
	return v
}

func ofFlux(groups any) bool {
	list, _ := groups.([]any)
	return slices.ContainsFunc(list, func(group any) bool { text, _ := group.(string); return strings.HasSuffix(text, ".fluxcd.io") })
}

// TestBothEnginesKeepSystemsApartAlike: the trees are copied apart, and have one role and one
// set of policies, but for what is about the engine itself.
func TestBothEnginesKeepSystemsApartAlike(t *testing.T) {
	for _, file := range []string{"systems/base/roles.yaml", "systems/base/policy.yaml"} {
		own := slices.DeleteFunc(documents(t, "argocd", file), func(text string) bool { return strings.Contains(text, "tombolo-system-account") })
		assert.Check(t, len(own) > 1, file)
		assert.DeepEqual(t, own, documents(t, "flux", file))
	}
	for _, file := range []string{"account.yaml", "limits.yaml"} {
		flux := files.Read(t, "../platform/flux/charts/system/templates/"+file)
		argocd := files.Read(t, "../platform/argocd/charts/namespace/templates/"+file)
		assert.Equal(t, argocd, flux, file)
	}
}

// TestProjectsAllowTheKindsOfTheRole: what Argo CD lets a team deliver is what the account
// may apply.
func TestProjectsAllowTheKindsOfTheRole(t *testing.T) {
	var role struct {
		Rules []struct {
			APIGroups, Resources, Verbs []string
		} `json:"rules"`
	}
	assert.NilError(t, yaml.Unmarshal([]byte(documents(t, "argocd", "systems/base/roles.yaml")[0]), &role))
	want := map[string]bool{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			want[rule.APIGroups[0]+"/"+resource] = true
		}
	}
	got := map[string]bool{}
	for _, kind := range projectOf(t).Spec.NamespaceResourceWhitelist {
		plural := strings.ToLower(kind.Kind) + "s"
		switch {
		case strings.HasSuffix(kind.Kind, "ss"):
			plural = strings.ToLower(kind.Kind) + "es"
		case strings.HasSuffix(kind.Kind, "y"):
			plural = strings.TrimSuffix(strings.ToLower(kind.Kind), "y") + "ies"
		}
		got[kind.Group+"/"+plural] = true
	}
	assert.DeepEqual(t, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
}

type project struct {
	Metadata struct{ Name string }
	Spec     struct {
		SourceRepos                []string
		Destinations               []struct{ Server, Namespace string }
		DestinationServiceAccounts []struct{ Server, Namespace, DefaultServiceAccount string }
		ClusterResourceWhitelist   []any
		NamespaceResourceWhitelist []struct{ Group, Kind string }
		Roles                      []struct{ Groups, Policies []string }
	}
}

// projectOf is the project of the system shop, with lines more in its file.
func projectOf(t *testing.T, more ...string) (p project) {
	t.Helper()
	files := treetest.Index(t, argocdSystems(t))
	c, _, err := helm.Load(files, "charts/system")
	assert.NilError(t, err)
	text, err := files.Read(argocdShop)
	assert.NilError(t, err)
	values, err := helm.Overlay(map[string]any{"cluster": map[string]any{"name": "mgmt", "server": "https://kubernetes.default.svc"}}, string(text)+strings.Join(more, "\n"))
	assert.NilError(t, err)
	made, err := helm.Render(c, "shop", "argocd", values, false)
	assert.NilError(t, err)
	assert.Equal(t, len(made), 3, made)
	for _, text := range made {
		if strings.Contains(text, "kind: AppProject") {
			assert.NilError(t, yaml.Unmarshal([]byte(text), &p))
		}
	}
	return p
}

// TestAProjectHoldsOneSystem: one repository, one namespace, one account.
func TestAProjectHoldsOneSystem(t *testing.T) {
	p := projectOf(t)
	assert.Equal(t, p.Metadata.Name, "mgmt-shop")
	assert.DeepEqual(t, p.Spec.SourceRepos, []string{"https://git.example.com/shop.git"})
	assert.Assert(t, is.Len(p.Spec.Destinations, 1))
	assert.Equal(t, p.Spec.Destinations[0].Namespace, "shop")
	assert.Assert(t, is.Len(p.Spec.DestinationServiceAccounts, 1))
	assert.Equal(t, p.Spec.DestinationServiceAccounts[0].Server, p.Spec.Destinations[0].Server)
	assert.Equal(t, p.Spec.DestinationServiceAccounts[0].DefaultServiceAccount, "system")
	assert.Equal(t, len(p.Spec.ClusterResourceWhitelist), 0)
}

// TestASignInGroupSeesItsSystem: and no other one, and changes nothing.
func TestASignInGroupSeesItsSystem(t *testing.T) {
	assert.Check(t, is.Len(projectOf(t).Spec.Roles, 0))
	roles := projectOf(t, "signInGroup: sellers").Spec.Roles
	assert.Assert(t, is.Len(roles, 1))
	assert.DeepEqual(t, roles[0].Groups, []string{"sellers"})
	assert.DeepEqual(t, roles[0].Policies, []string{
		"p, proj:mgmt-shop:team, applications, get, mgmt-shop/*, allow", "p, proj:mgmt-shop:team, logs, get, mgmt-shop/*, allow",
	})
}

// TestThePolicyOfSecretsKnowsTheCluster: the Application that brings the policies replaces what
// Flux would put in.
func TestThePolicyOfSecretsKnowsTheCluster(t *testing.T) {
	var set struct {
		Spec struct {
			Template struct {
				Spec struct {
					Source struct {
						Kustomize struct{ Patches []struct{ Patch string } }
					}
				}
			}
		}
	}
	text, err := os.ReadFile("../platform/argocd/systems/hub/base.yaml")
	assert.NilError(t, err)
	assert.NilError(t, yaml.Unmarshal(text, &set))
	var steps []struct {
		Path  string
		Value any
	}
	assert.NilError(t, yaml.Unmarshal([]byte(set.Spec.Template.Spec.Source.Kustomize.Patches[0].Patch), &steps))
	assert.Equal(t, len(steps), 2)

	for _, document := range documents(t, "argocd", "systems/base/policy.yaml") {
		if !strings.Contains(document, "tombolo-system-secrets") || !strings.Contains(document, "validations") {
			continue
		}
		var policy struct {
			Spec struct {
				Variables   []struct{ Name, Expression string }
				Validations []struct{ Expression, Message, MessageExpression string }
			}
		}
		assert.NilError(t, yaml.Unmarshal([]byte(document), &policy))
		for i, name := range []string{"between", "prefixes"} {
			assert.Equal(t, steps[i].Path, fmt.Sprintf("/spec/variables/%d", 3+i))
			assert.Equal(t, policy.Spec.Variables[3+i].Name, name)
			policy.Spec.Variables[3+i].Expression = ""
		}
		left, err := json.Marshal(policy)
		assert.NilError(t, err)
		assert.Check(t, !strings.Contains(string(left), "${"), string(left))
		return
	}
	t.Fatal("the policy is not there")
}
