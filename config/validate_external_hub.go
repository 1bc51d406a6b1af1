package config

import (
	"encoding/base64"
	"encoding/pem"
	"net/url"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/strict"
)

const externalHubPath = strict.Path("gitops.externalHub")

// checkExternalHub checks a spoke of a hub that others run.
func checkExternalHub(v *File, g GitOps, around GitOpsAround) {
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
	checkSecretRef(v, at.Field("token"), g.ExternalHub.Token)
	checkExternalRole(v, g)
}

func checkExternalHubName(v *File, name string, neighbours func(file string) []string) {
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
func checkExternalEndpoint(v *File, raw string) {
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
func checkExternalRole(v *File, g GitOps) {
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
