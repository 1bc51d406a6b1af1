package gitops

import (
	"encoding/base64"
	"encoding/pem"
	"net/url"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/secret"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

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
		"url", "branch", "path", "interval", "auth", "distribution", "argocd.highAvailability", "argocd.accounts", "argocd.oidc", "webhook")
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
			v.Problem(at, "give each page a host of its own", "%s is already the host of Argo CD, by %s at %s", wording.Quote(host), url, v.Line(url))
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

const externalHubPath = strict.Path("gitops.externalHub")

// checkExternalHub checks a spoke of a hub that others run.
func checkExternalHub(v *check.File, g GitOps, around Around) {
	at := externalHubPath
	checkSpokeRole(v)
	checkWithout(v, "names a second hub", "keep one of hub and externalHub", "hub")
	checkWithout(v, "belongs to the hub, and others run it", "remove it",
		"url", "branch", "path", "interval", "auth", "distribution", "argocd.highAvailability", "argocd.accounts", "argocd.oidc", "argocd.applications", "webhook")
	if !v.Doc.Sound(at) {
		return
	}
	checkExternalHubName(v, g.ExternalHub.Name, around.Neighbours)
	checkExternalEndpoint(v, g.ExternalHub.Endpoint)
	if v.Doc.Sound(at.Field("certificateAuthority")) && v.Doc.Has(at.Field("certificateAuthority")) && !isCertificate(g.ExternalHub.CertificateAuthority) {
		v.Problem(at.Field("certificateAuthority"), "copy certificate-authority-data from a kubeconfig of the hub", "is not base64 of a PEM certificate")
		v.Doc.Conceal()
	}
	secret.Check(v, at.Field("token"), g.ExternalHub.Token)
	checkExternalRole(v, g)
}

func checkExternalHubName(v *check.File, name string, neighbours func(file string) []string) {
	at := externalHubPath.Field("name")
	if !v.Doc.Sound(at) {
		return
	}
	if name == v.Name {
		v.Problem(at, "give the hub another name", "is the name of this cluster")
	} else if slices.Contains(neighbours(v.Doc.File), name) {
		v.Problem(at, "name it in gitops.hub instead, or give the other hub another name",
			"is the name of a cluster of this directory, %s.yaml", name)
	}
}

// checkExternalEndpoint refuses what would send the token in the clear, or to a place that
// the file does not show.
func checkExternalEndpoint(v *check.File, raw string) {
	at := externalHubPath.Field("endpoint")
	if !v.Doc.Sound(at) || !v.Doc.Has(at) {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "":
		v.Problem(at, "write it like https://hub.example.com:6443", "names no host")
		v.Doc.Conceal()
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		v.Problem(at, "write it like https://hub.example.com:6443", "has credentials, a query or a fragment")
		v.Doc.Conceal()
	}
}

func isCertificate(text string) bool {
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return false
	}
	block, _ := pem.Decode(decoded)
	return block != nil && block.Type == "CERTIFICATE"
}

// checkExternalRole is required where the hub reaches the cluster by IAM.
func checkExternalRole(v *check.File, g GitOps) {
	at := externalHubPath.Field("roleArn")
	if !v.Doc.Sound(at, "gitops.argocd.credentials") {
		return
	}
	arn := g.ExternalHub.RoleARN
	switch {
	case g.ArgoCD.Credentials != CredentialsAWS:
		if arn != "" {
			v.KeyProblem(at, "remove it, or use credentials: aws", "has no effect with the credentials %s", g.ArgoCD.Credentials)
		}
	case arn == "":
		v.Problem(at, "add the role's ARN, or use gitops.argocd.credentials: service-account",
			"is required with the credentials aws, so that the hub's Argo CD may assume this cluster's role")
	default:
		own, other := awsfacts.Partition(v.Region), strings.Split(arn, ":")[1]
		if v.Doc.Sound("cloud.region") && own != other {
			v.Problem(at, "use the credentials service-account", "is in the AWS partition %s, and this cluster in %s; a role cannot be assumed across partitions",
				other, own)
		}
	}
	if g.ArgoCD.Credentials == CredentialsAWS {
		checkWithout(v, "needs a token, and credentials: aws has none", "remove it, or use credentials: service-account", "argocd.rotation")
	}
}
