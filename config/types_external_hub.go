package config

import (
	"regexp"

	"tombolo/config/field"
	"tombolo/config/form"
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
	Token *SecretRef `yaml:"token"`
	// RoleARN is the IAM role that the hub's Argo CD runs with, which may assume this
	// cluster's role. Required with the credentials aws, and only there.
	RoleARN string `yaml:"roleArn,omitempty" cloud:"aws"`
}

var externalHubFields = field.Of[ExternalHub](map[string]field.Descriptor{
	"Name": {
		Rule: form.Label("company-hub"),
		Change: []field.Case{{
			Effect: field.NeedsRebuild, Words: "the name is the hub's identity: the old hub has to forget the cluster first, with its own credentials",
			Remedy: externalHubRemedy,
		}},
	},
	"Endpoint": {
		Rule: strict.Rule{
			What: "the address of a Kubernetes API", Example: "https://hub.example.com:6443",
			Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true,
		},
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
