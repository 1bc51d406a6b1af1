package config

// encrypts says that the file turns the encryption of Secrets on, as it does by default.
func (c *Cluster) encrypts() bool {
	enabled := c.Kubernetes.SecretsEncryption.Enabled
	return enabled == nil || *enabled
}
