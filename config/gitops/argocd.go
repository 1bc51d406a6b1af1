package gitops

import (
	"cmp"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/check"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

func (o *ArgoCDOptions) setSpokeDefaults(p field.Provider) {
	o.Applications = cmp.Or(o.Applications, LeavingRemove)
	o.setCredentialsDefaults(p)
}

func (o *ArgoCDOptions) setCredentialsDefaults(p field.Provider) {
	credentials := CredentialsAWS
	if p == field.Azure {
		credentials = CredentialsServiceAccount
	}
	o.Credentials = cmp.Or(o.Credentials, credentials)
	if o.Credentials == CredentialsServiceAccount {
		o.Rotation = cmp.Or(o.Rotation, defaultRotation)
	}
}

// SecretTypeLabel is the label by which Argo CD finds its Secrets.
const SecretTypeLabel = "argocd.argoproj.io/secret-type"

// ArgoCDRoleName is the name of the IAM role of a hub's Argo CD.
func ArgoCDRoleName(hub string) string { return hub + "-argocd" }

// SpokeRoleEnd ends the names of spokes' roles. A hub may assume no others.
const SpokeRoleEnd = "-argocd-spoke"

// SpokeRoleName is the name of the IAM role by which the hub reaches a spoke.
func SpokeRoleName(spoke string) string { return spoke + SpokeRoleEnd }

// checkArgocd checks hubs, spokes and registration.
func checkArgocd(v *check.File, g GitOps, around Around) {
	if !v.Doc.Sound("gitops.engine", HubPath) {
		return
	}
	if g.Engine != ArgoCD {
		checkWithout(v, "has no effect with the engine "+string(g.Engine), "remove it, or use the engine argocd", "hub", "externalHub", "argocd")
		return
	}
	if g.HasExternalHub() {
		checkExternalHub(v, g, around)
		return
	}
	if v.Spoke {
		checkSpoke(v, g)
		return
	}
	checkOwnHub(v, g, around.Addons)
}

func checkOwnHub(v *check.File, g GitOps, addons addon.Selection) {
	if !v.OnAzure() {
		v.Fits("name", "Argo CD's IAM role", ArgoCDRoleName(v.Name), form.MaxRoleName)
	}
	checkWithout(v, "is an option of spokes, and this cluster is its own hub", "remove it, or name a hub in gitops.hub",
		"argocd.credentials", "argocd.rotation", "argocd.applications")
	accounts := strict.Path("gitops.argocd.accounts")
	check.Unique(v, accounts, "", g.ArgoCD.Accounts, check.Itself, "give each account once")
	checkArgocdSignIn(v, g.ArgoCD.OIDC)
	checkArgocdHost(v, g.Host(), addons)
	if g.ArgoCD.HighAvailability && (g.Distribution.Path != "" || g.Distribution.URL != g.release()) {
		v.Problem("gitops.argocd.highAvailability", "remove it, and name the manifest for several replicas there",
			"chooses one of the release's manifests, but gitops.distribution names one")
	}
}

func checkSpoke(v *check.File, g GitOps) {
	checkSpokeRole(v)
	checkWithout(v, "belongs to the hub, and this cluster is a spoke of "+g.Hub, "remove it; "+g.Hub+".yaml has it",
		"url", "branch", "path", "interval", "auth", "distribution", "argocd.highAvailability", "argocd.accounts", "argocd.oidc")
	if g.ArgoCD.Credentials == CredentialsAWS {
		checkWithout(v, "needs a token, and credentials: aws has none", "remove it, or use credentials: service-account", "argocd.rotation")
	}
}

// checkArgocdSignIn checks the addresses of a sign-in, and that a group has one role.
func checkArgocdSignIn(v *check.File, o *ArgoCDOIDC) {
	const at = strict.Path("gitops.argocd.oidc")
	if o == nil {
		return
	}
	v.PlainURL(at.Field("url"), o.URL, "https://argocd.example.com")
	v.PlainURL(at.Field("issuerUrl"), o.IssuerURL, "https://auth.example.com/application/o/argocd/")
	check.Unique(v, at.Field("adminGroups"), "", o.AdminGroups, check.Itself, "give each group once")
	check.Unique(v, at.Field("readerGroups"), "", o.ReaderGroups, check.Itself, "give each group once")
	for key, groups := range map[string][]string{"adminGroups": o.AdminGroups, "readerGroups": o.ReaderGroups} {
		for i, group := range groups {
			if strings.HasPrefix(group, "role:") || strings.HasPrefix(group, "proj:") {
				v.Problem(at.Field(key).Index(i), "name a group of the provider, such as platform", "%s is the name of a role of Argo CD", wording.Quote(group))
			}
		}
	}
	for i, group := range o.ReaderGroups {
		if slices.Contains(o.AdminGroups, group) {
			v.Problem(at.Field("readerGroups").Index(i), "take it out of one of the two", "is among adminGroups too, who see everything anyway")
		}
	}
}

// checkArgocdHost refuses an addon at the host of Argo CD's page: a gateway sends what is for it to
// either.
func checkArgocdHost(v *check.File, host string, addons addon.Selection) {
	const url = strict.Path("gitops.argocd.oidc.url")
	if host == "" || !v.Doc.Sound(url) {
		return
	}
	for _, a := range addons.Enabled() {
		if at := strict.Path("addons").Field(a.Name).Field("host"); addon.HostOf(a.Options) == host && v.Doc.Sound(at) {
			v.Problem(at, "give each page a host of its own", "%s is already the host of Argo CD, by %s at line %d", wording.Quote(host), url, v.Line(url))
		}
	}
}

// checkSpokeRole checks the name of the role by which a hub reaches a cluster in AWS.
func checkSpokeRole(v *check.File) {
	if !v.OnAzure() {
		v.Fits("name", "the IAM role for the hub", SpokeRoleName(v.Name), form.MaxRoleName)
	}
}

// checkWithout reports keys of gitops that must not be there.
func checkWithout(v *check.File, message, remedy string, keys ...strict.Path) {
	for _, key := range keys {
		if at := "gitops." + key; v.Doc.Has(at) {
			v.KeyProblem(at, remedy, "%s", message)
		}
	}
}
