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

// externalHub checks a spoke of a hub that others run.
func (v *validator) externalHub(g GitOps) {
	at := externalHubPath
	v.spokeRole()
	v.without("names a second hub", "keep one of hub and externalHub", "hub")
	v.without("belongs to the hub, and others run it", "remove it",
		"url", "branch", "path", "interval", "auth", "distribution", "argocd.highAvailability", "argocd.accounts", "argocd.oidc", "argocd.applications")
	if !v.doc.Sound(at) {
		return
	}
	v.externalHubName(g.ExternalHub.Name)
	v.externalEndpoint(g.ExternalHub.Endpoint)
	if v.doc.Sound(at.Field("certificateAuthority")) && v.doc.Has(at.Field("certificateAuthority")) && !isCertificate(g.ExternalHub.CertificateAuthority) {
		v.problem(at.Field("certificateAuthority"), "copy certificate-authority-data from a kubeconfig of the hub", "is not base64 of a PEM certificate")
		v.doc.Conceal()
	}
	v.secretRef(at.Field("token"), g.ExternalHub.Token)
	v.externalRole(g)
}

func (v *validator) externalHubName(name string) {
	at := externalHubPath.Field("name")
	if !v.doc.Sound(at) {
		return
	}
	if name == v.c.Name {
		v.problem(at, "give the hub another name", "is the name of this cluster")
	} else if slices.Contains(neighbours(v.doc.File), name) {
		v.problem(at, "name it in gitops.hub instead, or give the other hub another name",
			"is the name of a cluster of this directory, %s.yaml", name)
	}
}

// externalEndpoint refuses what would send the token in the clear, or to a place that
// the file does not show.
func (v *validator) externalEndpoint(raw string) {
	at := externalHubPath.Field("endpoint")
	if !v.doc.Sound(at) || !v.doc.Has(at) {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "":
		v.problem(at, "write it like https://hub.example.com:6443", "names no host")
		v.doc.Conceal()
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		v.problem(at, "write it like https://hub.example.com:6443", "has credentials, a query or a fragment")
		v.doc.Conceal()
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

// externalRole is required where the hub reaches the cluster by IAM.
func (v *validator) externalRole(g GitOps) {
	at := externalHubPath.Field("roleArn")
	if !v.doc.Sound(at, "gitops.argocd.credentials") {
		return
	}
	arn := g.ExternalHub.RoleARN
	switch {
	case g.ArgoCD.Credentials != CredentialsAWS:
		if arn != "" {
			v.keyProblem(at, "remove it, or use credentials: aws", "has no effect with the credentials %s", g.ArgoCD.Credentials)
		}
	case arn == "":
		v.problem(at, "add the role's ARN, or use gitops.argocd.credentials: service-account",
			"is required with the credentials aws, so that the hub's Argo CD may assume this cluster's role")
	default:
		own, other := awsfacts.Partition(v.c.Cloud.Region), strings.Split(arn, ":")[1]
		if v.doc.Sound("cloud.region") && own != other {
			v.problem(at, "use the credentials service-account", "is in the AWS partition %s, and this cluster in %s; a role cannot be assumed across partitions",
				other, own)
		}
	}
	if g.ArgoCD.Credentials == CredentialsAWS {
		v.without("needs a token, and credentials: aws has none", "remove it, or use credentials: service-account", "argocd.rotation")
	}
}
