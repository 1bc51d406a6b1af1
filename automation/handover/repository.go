package handover

import "tombolo/internal/githubapp"

// Repository is where to push, and as whom.
type Repository struct {
	// URL as git takes it, without credentials.
	URL string
	// Branch that the cluster follows.
	Branch string
	// Credentials; nil for the user's own git configuration.
	Credentials *Credentials
	// Env is put over this process's environment for git.
	Env map[string]string
}

// Credentials for a repository: Username and Password over HTTP, or PrivateKey
// and KnownHosts over SSH, or App, which gets a password.
type Credentials struct {
	Username, Password     string
	PrivateKey, KnownHosts string
	App                    *githubapp.App
}
