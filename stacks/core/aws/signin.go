package aws

import (
	"fmt"
	"net/url"

	"tombolo/config"
	"tombolo/config/addon"
)

// refuseOwnProvider stops before a cluster is made whose identity provider is an addon of that
// same cluster: Git brings it after bootstrap, and EKS would ask a name that nobody answers.
func refuseOwnProvider(c *config.Cluster, had made) error {
	p := c.Kubernetes.IdentityProvider
	if _, lives := had.First(clusterToken); p == nil || lives {
		return nil
	}
	issuer, err := url.Parse(p.IssuerURL)
	if err != nil {
		return fmt.Errorf("kubernetes.identityProvider.issuerUrl: %w", err)
	}
	for _, a := range c.Addons.Enabled() {
		if host := addon.HostOf(a.Options); host != "" && host == issuer.Hostname() {
			return fmt.Errorf("kubernetes.identityProvider: %s is the addon %s of this cluster, which is not there before the cluster is: "+
				"take identityProvider out of the file, run up until the provider answers, and add it with a second up", p.IssuerURL, a.Name)
		}
	}
	return nil
}
