package config

// Engine is a GitOps engine.
type Engine string

// The engines of version 1.
const (
	Flux Engine = "flux"
)

// GitOps is the engine and the repository it follows.
type GitOps struct {
	// Engine: flux.
	Engine Engine `yaml:"engine"`
	// URL of the Git repository: https://, http:// or ssh://.
	URL string `yaml:"url"`
	// Branch to follow. Default main.
	Branch string `yaml:"branch,omitempty"`
	// Path in the repository, relative to its root, such as clusters/dev.
	Path string `yaml:"path"`
	// Interval between looks at the repository, a Go duration of at least 1s
	// such as 1m or 5m. Default 1m.
	Interval string `yaml:"interval,omitempty"`
	// Auth is how the engine reads the repository. Default: anonymously.
	Auth *Auth `yaml:"auth,omitempty"`
	// Distribution is the engine's install manifest.
	Distribution Distribution `yaml:"distribution"`
}

// Distribution is an install manifest: a pinned and checksummed URL, or a
// local file.
type Distribution struct {
	// Version of the engine, such as v2.7.5.
	Version string `yaml:"version"`
	// URL of the manifest. Default for flux: the release of Version.
	URL string `yaml:"url,omitempty"`
	// SHA256 of the manifest, 64 hexadecimal digits; required unless Path is set.
	SHA256 string `yaml:"sha256,omitempty"`
	// Path of a local manifest, relative to the cluster file. Excludes URL.
	Path string `yaml:"path,omitempty"`
}

// AuthType is how the engine reads the Git repository.
type AuthType string

// The kinds of Git credentials.
const (
	// AuthBasic is a user name and a password or token over HTTPS.
	AuthBasic AuthType = "basic"
	// AuthSSH is a private key and the host's known keys.
	AuthSSH AuthType = "ssh"
)

// Auth refers to the secrets for the Git repository; it never holds them.
type Auth struct {
	// Type is basic or ssh.
	Type AuthType `yaml:"type"`
	// Username for basic. Default git.
	Username string `yaml:"username,omitempty"`
	// Password (basic): where the password or token is.
	Password *SecretRef `yaml:"password,omitempty"`
	// PrivateKey (ssh): where the PEM private key is.
	PrivateKey *SecretRef `yaml:"privateKey,omitempty"`
	// KnownHosts (ssh): the host's public keys, as in a known_hosts file.
	KnownHosts string `yaml:"knownHosts,omitempty"`
}

// SecretRef says where a secret is; exactly one field is set.
type SecretRef struct {
	// Config is a key of the bootstrap stack's encrypted Pulumi config.
	Config string `yaml:"config,omitempty"`
	// Env is an environment variable.
	Env string `yaml:"env,omitempty"`
	// File is a file's path, relative to the cluster file.
	File string `yaml:"file,omitempty"`
}
