package config

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// secretTypeLabel is the label by which Argo CD finds its Secrets.
const secretTypeLabel = "argocd.argoproj.io/secret-type"

// ArgoCDRoleName is the name of the IAM role of a hub's Argo CD.
func ArgoCDRoleName(hub string) string { return hub + "-argocd" }

// SpokeRoleEnd ends the names of spokes' roles. A hub may assume no others.
const SpokeRoleEnd = "-argocd-spoke"

// SpokeRoleName is the name of the IAM role by which the hub reaches a spoke.
func SpokeRoleName(spoke string) string { return spoke + SpokeRoleEnd }

// ArgoCDHost is the host of Argo CD's page on this hub; "" when nobody signs in there.
func (c *Cluster) ArgoCDHost() string {
	o := c.GitOps.ArgoCD.OIDC
	if c.GitOps.Engine != ArgoCD || o == nil {
		return ""
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return "" // which validation refuses
	}
	return hostIn(u)
}

// argocd checks hubs, spokes and registration.
func (v *validator) argocd(g GitOps) {
	if !v.doc.Sound("gitops.engine", hubPath) {
		return
	}
	if g.Engine != ArgoCD {
		v.without("has no effect with the engine "+string(g.Engine), "remove it, or use the engine argocd", "hub", "externalHub", "argocd")
		return
	}
	v.registrationLabels()
	v.registrationAnnotations()
	if v.c.HasExternalHub() {
		v.externalHub(g)
		return
	}
	if v.c.IsSpoke() {
		v.spoke(g)
		return
	}
	v.hub(g)
}

func (v *validator) hub(g GitOps) {
	if !v.c.onAzure() {
		v.fits("name", growth{"Argo CD's IAM role", ArgoCDRoleName(v.c.Name), maxRoleName})
	}
	v.without("is an option of spokes, and this cluster is its own hub", "remove it, or name a hub in gitops.hub",
		"argocd.credentials", "argocd.rotation", "argocd.applications")
	accounts := strict.Path("gitops.argocd.accounts")
	unique(v, accounts, "", g.ArgoCD.Accounts, itself, "give each account once")
	v.argocdSignIn(g.ArgoCD.OIDC)
	if g.ArgoCD.HighAvailability && (g.Distribution.Path != "" || g.Distribution.URL != g.release()) {
		v.problem("gitops.argocd.highAvailability", "remove it, and name the manifest for several replicas there",
			"chooses one of the release's manifests, but gitops.distribution names one")
	}
}

func (v *validator) spoke(g GitOps) {
	v.spokeRole()
	v.without("belongs to the hub, and this cluster is a spoke of "+g.Hub, "remove it; "+g.Hub+".yaml has it",
		"url", "branch", "path", "interval", "auth", "distribution", "argocd.highAvailability", "argocd.accounts", "argocd.oidc")
	if g.ArgoCD.Credentials == CredentialsAWS {
		v.without("needs a token, and credentials: aws has none", "remove it, or use credentials: service-account", "argocd.rotation")
	}
}

// argocdSignIn checks the addresses of a sign-in, and that a group has one role.
func (v *validator) argocdSignIn(o *ArgoCDOIDC) {
	const at = strict.Path("gitops.argocd.oidc")
	if o == nil {
		return
	}
	v.plainURL(at.Field("url"), o.URL, "https://argocd.example.com")
	v.plainURL(at.Field("issuerUrl"), o.IssuerURL, "https://auth.example.com/application/o/argocd/")
	v.argocdHost(at.Field("url"))
	unique(v, at.Field("adminGroups"), "", o.AdminGroups, itself, "give each group once")
	unique(v, at.Field("readerGroups"), "", o.ReaderGroups, itself, "give each group once")
	for key, groups := range map[string][]string{"adminGroups": o.AdminGroups, "readerGroups": o.ReaderGroups} {
		for i, group := range groups {
			if strings.HasPrefix(group, "role:") || strings.HasPrefix(group, "proj:") {
				v.problem(at.Field(key).Index(i), "name a group of the provider, such as platform", "%s is the name of a role of Argo CD", wording.Quote(group))
			}
		}
	}
	for i, group := range o.ReaderGroups {
		if slices.Contains(o.AdminGroups, group) {
			v.problem(at.Field("readerGroups").Index(i), "take it out of one of the two", "is among adminGroups too, who see everything anyway")
		}
	}
}

// argocdHost refuses an addon at the host of Argo CD's page: a gateway sends what is for it to
// either.
func (v *validator) argocdHost(url strict.Path) {
	host := v.c.ArgoCDHost()
	if host == "" || !v.doc.Sound(url) {
		return
	}
	for _, a := range v.c.Addons.Enabled() {
		if at := strict.Path("addons").Field(a.Name).Field("host"); addon.HostOf(a.Options) == host && v.doc.Sound(at) {
			v.problem(at, "give each page a host of its own", "%s is already the host of Argo CD, by %s at line %d", wording.Quote(host), url, v.line(url))
		}
	}
}

// plainURL refuses an address that has more than host and path.
func (v *validator) plainURL(at strict.Path, raw, example string) {
	if raw == "" || !v.doc.Sound(at) {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "":
		v.problem(at, "write it like "+example, "names no host")
		v.doc.Conceal()
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		v.problem(at, "write it like "+example, "has credentials, a query or a fragment")
		v.doc.Conceal()
	}
}

// spokeRole checks the name of the role by which a hub reaches a cluster in AWS.
func (v *validator) spokeRole() {
	if !v.c.onAzure() {
		v.fits("name", growth{"the IAM role for the hub", SpokeRoleName(v.c.Name), maxRoleName})
	}
}

// without reports keys of gitops that must not be there.
func (v *validator) without(message, remedy string, keys ...strict.Path) {
	for _, key := range keys {
		if at := "gitops." + key; v.doc.Has(at) {
			v.keyProblem(at, remedy, "%s", message)
		}
	}
}

// registrationLabels finds labels that Tombolo sets on the registration.
func (v *validator) registrationLabels() {
	own := v.c.RegistrationLabels()
	for _, key := range slices.Sorted(maps.Keys(v.c.Labels)) {
		at := strict.Path("labels").Key(key)
		switch {
		case key == secretTypeLabel:
			v.keyProblem(at, "remove it", "is set by Tombolo, for Argo CD")
		case strings.HasPrefix(key, "tombolo/"), strings.HasPrefix(key, AddonLabelPrefix):
			v.keyProblem(at, "use another prefix", "is a label that Tombolo sets on the cluster's registration")
		case own[key] != v.c.Labels[key]:
			v.keyProblem(at, "remove it, or use another key", "is %s on the cluster's registration: the value of the key %s of this file", wording.Quote(own[key]), key)
		}
	}
}

// registrationAnnotations finds annotations that Tombolo sets on the registration.
func (v *validator) registrationAnnotations() {
	bare := *v.c
	bare.Annotations = nil
	own := bare.RegistrationAnnotationKeys()
	for _, key := range slices.Sorted(maps.Keys(v.c.Annotations)) {
		if slices.Contains(own, key) || strings.HasPrefix(key, "tombolo/") {
			v.keyProblem(strict.Path("annotations").Key(key), "use another key", "is an annotation that Tombolo sets on the cluster's registration")
		}
	}
}
