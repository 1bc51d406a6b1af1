package controlplane

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd/api"

	"tombolo/lab/kubeconfig"
)

// writeKubeconfigs writes the kubeconfigs of the control plane's own parts,
// and the one by which the API server has bearer tokens reviewed. The admin's
// comes last: it means that the cluster exists.
func (c *cluster) writeKubeconfigs(reviewURL string, reviewCA []byte, reviewToken string) error {
	for _, part := range []string{controllersCert, schedulerCert, adminCert} {
		crt, err := os.ReadFile(c.ca.CertFile(part))
		if err != nil {
			return fmt.Errorf("read a client certificate: %w", err)
		}
		key, err := os.ReadFile(c.ca.KeyFile(part))
		if err != nil {
			return fmt.Errorf("read a client key: %w", err)
		}
		user := &api.AuthInfo{ClientCertificateData: crt, ClientKeyData: key}
		if err := kubeconfig.Write(c.file(part+".kubeconfig"), c.endpoint(), c.ca.PEM(), user, ""); err != nil {
			return err
		}
	}
	return kubeconfig.Write(c.file("token-review.kubeconfig"), reviewURL, reviewCA, &api.AuthInfo{Token: reviewToken}, "")
}
