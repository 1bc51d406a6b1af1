package config

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
