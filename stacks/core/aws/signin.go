package aws

import (
	"fmt"

	"tombolo/config"
)

// refuseOwnProvider stops before a cluster is made whose identity provider runs on it.
func refuseOwnProvider(c *config.Cluster, had made) error {
	own := c.Kubernetes.OwnProvider(c.Addons)
	if _, lives := had.First(clusterToken); lives || own == "" {
		return nil
	}
	return fmt.Errorf("kubernetes.identityProvider: %s is the addon %s of this cluster, which is not there before the cluster is: "+
		"take identityProvider out of the file, run up until the provider answers, and add it with a second up", c.Kubernetes.IdentityProvider.IssuerURL, own)
}
