package gitops

import (
	"encoding/base64"
	"encoding/pem"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/check"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/secret"
	"tombolo/config/strict"
)

// ExternalHub is an Argo CD that others run, on any Kubernetes, in the namespace argocd
// of its cluster. Bootstrap registers the cluster there, and reads and writes nothing
// else.
//
// It is an endpoint, a certificate and a token, and no kubeconfig: a kubeconfig can
// start any program of the machine (client-go's exec credentials), and has keys that a
// file under review does not show. The owners of the hub give out a service account
// with the rights on one Secret. A new token replaces nothing: the hub is known by its
// name.
type ExternalHub struct {
	// Name of the hub, by which state, outputs and messages know it. Another hub
	// needs another name. No cluster file beside this one has it.
	Name string `yaml:"name"`
	// Endpoint of the hub's Kubernetes API, such as https://hub.example.com:6443.
	// A hub that moves to another address keeps its name.
	Endpoint string `yaml:"endpoint"`
	// CertificateAuthority of the endpoint, base64 of PEM, as in a kubeconfig's
	// certificate-authority-data.
	CertificateAuthority string `yaml:"certificateAuthority"`
	// Token is where the token of a service account on the hub is.
	Token *secret.SecretRef `yaml:"token"`
	// RoleARN is the IAM role that the hub's Argo CD runs with, which may assume this
	// cluster's role. Required with the credentials aws, and only there.
	RoleARN string `yaml:"roleArn,omitempty" cloud:"aws"`
}

var externalHubFields = field.Of[ExternalHub](map[string]field.Descriptor{
	"Name": {
		Rule: form.Label("company-hub"),
		Change: []field.Case{
			{Effect: field.NeedsRebuild, Words: "the name is the hub's identity: the old hub has to forget the cluster first, with its own credentials", Remedy: externalHubRemedy},
		},
	},
	"Endpoint": {
		Rule:   strict.Rule{What: "the address of a Kubernetes API", Example: "https://hub.example.com:6443", Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true},
		Change: field.Changes("the same hub is reached at the new address; another hub needs another name"),
	},
	"CertificateAuthority": {Rule: strict.Rule{Secret: true}, Change: field.Changes("the hub's certificate is checked with it; the registration stays")},
	"Token":                {Change: field.Changes("the hub is reached with it; the registration stays")},
	"RoleARN": {
		Rule: strict.Rule{
			What: "the ARN of an IAM role", Example: "arn:aws:iam::111122223333:role/company-hub-argocd",
			Pattern: regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$`),
		},
		Change: field.Changes("the cluster's role trusts the new role of the hub's Argo CD instead of the old one"),
		Remedy: "remove it: the hub reaches the cluster by the token of a service account",
	},
})

const externalHubPath = strict.Path("gitops.externalHub")

// checkExternalHub checks a spoke of a hub that others run.
func checkExternalHub(v *check.File, g GitOps, around Around) {
	at := externalHubPath
	checkSpokeRole(v)
	checkWithout(v, "names a second hub", "keep one of hub and externalHub", "hub")
	checkWithout(v, "belongs to the hub, and others run it", "remove it",
		"url", "branch", "path", "interval", "auth", "distribution", "argocd.highAvailability", "argocd.accounts", "argocd.oidc", "argocd.applications")
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

const HubPath = strict.Path("gitops.hub")
