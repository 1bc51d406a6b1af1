package bootstrap

import (
	"fmt"

	"tombolo/config"
	"tombolo/stacks/catalog"
)

// GitCredentials resolves gitops.auth; nil when the file has none. kept reads a
// key of the bootstrap stack's encrypted config. No error holds a secret.
func GitCredentials(c *config.Cluster, env map[string]string, kept func(key string) (string, error)) (*catalog.Credentials, error) {
	auth := c.GitOps.Auth
	if auth == nil {
		return nil, nil
	}
	s := secrets{cluster: c, env: env}
	plain := func(path string, ref *config.SecretRef) (string, error) { return s.plain(path, ref, kept) }
	var out catalog.Credentials
	var err error
	switch auth.Type {
	case config.AuthBasic:
		out.Username = auth.Username
		out.Password, err = plain("gitops.auth.password", auth.Password)
	case config.AuthSSH:
		out.KnownHosts = auth.KnownHosts
		out.PrivateKey, err = plain("gitops.auth.privateKey", auth.PrivateKey)
	default:
		err = fmt.Errorf("gitops.auth.type: %q is unknown; expected basic or ssh", auth.Type)
	}
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// plain reads a secret as text; kept reads a key of the bootstrap stack's encrypted config.
func (s secrets) plain(path string, ref *config.SecretRef, kept func(key string) (string, error)) (string, error) {
	if ref == nil || ref.Config == "" {
		return s.read(path, ref)
	}
	value, err := kept(ref.Config)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}
