package config

// Egress is how the cluster reaches what is outside of its network: nodes, the engine and
// what it fetches. With kubernetes.existing the nodes are their owner's, and only the engine
// goes by it.
type Egress struct {
	// Proxy for HTTP and HTTPS. Default: none.
	Proxy Proxy `yaml:"proxy,omitempty"`
	// CertificateAuthority is what nodes and the engine trust beside the public
	// authorities: certificates in PEM, one or more, such as that of a proxy which
	// intercepts TLS, or of a mirror; at most 20 on Azure. Default: none.
	CertificateAuthority string `yaml:"certificateAuthority,omitempty"`
	// Images says where images come from.
	Images ImageSources `yaml:"images,omitempty" cloud:"aws"`
}

// Proxy is an HTTP proxy.
type Proxy struct {
	// URL of the proxy, http:// or https://, with its port; on Azure http:// alone. User name
	// and password are refused: user data of nodes and the engine's Deployments are no place
	// for secrets.
	URL string `yaml:"url"`
	// NoProxy is what is reached directly, beside what Tombolo adds: host names, domains
	// with a dot in front, IP addresses and blocks. Tombolo adds the network of the
	// cluster, its Services, the private endpoint of the API, the instance metadata,
	// the agent of Pod Identity and the services in network.endpoints. Default: nothing.
	NoProxy []string `yaml:"noProxy,omitempty"`
}

// ImageSources says where images come from.
type ImageSources struct {
	// Mirrors by registry, such as docker.io, each as host, host:port or host/path. The
	// image docker.io/library/nginx comes from <mirror>/library/nginx, by HTTPS and from
	// nowhere else. Nodes use mirrors for every pod, and the images of the engine are
	// named by them. Default: none.
	Mirrors map[string]string `yaml:"mirrors,omitempty"`
	// PullSecret is what the engine's images need at the mirrors. Nodes pull other images
	// without it. Default: none.
	PullSecret *PullSecret `yaml:"pullSecret,omitempty"`
}

// PullSecret refers to the credentials for the mirrors; it never holds them.
type PullSecret struct {
	// Username at the mirrors.
	Username string `yaml:"username"`
	// Password says where the password or token is.
	Password *SecretRef `yaml:"password"`
}
