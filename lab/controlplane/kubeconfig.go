package controlplane

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfigs writes the kubeconfigs of the control plane's own parts,
// and the one by which the API server has bearer tokens reviewed. The admin's
// comes last: it means that the cluster exists.
func (c *cluster) writeKubeconfigs(reviewURL string, reviewCA []byte) error {
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
		if err := writeKubeconfig(c.file(part+".kubeconfig"), c.endpoint(), c.ca.PEM(), user); err != nil {
			return err
		}
	}
	return writeKubeconfig(c.file("token-review.kubeconfig"), reviewURL, reviewCA, &api.AuthInfo{})
}

// writeKubeconfig writes a kubeconfig of one context, readable by its owner
// alone.
func writeKubeconfig(path, server string, ca []byte, user *api.AuthInfo) error {
	config := api.NewConfig()
	config.Clusters["lab"] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos["lab"] = user
	config.Contexts["lab"] = &api.Context{Cluster: "lab", AuthInfo: "lab"}
	config.CurrentContext = "lab"
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode a kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	return nil
}
