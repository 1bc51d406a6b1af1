// Package kubeconfig writes the files by which the lab's programs reach an API
// server.
package kubeconfig

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Write writes a kubeconfig of one context, readable by its owner alone.
// Without a namespace, the context has the default one.
func Write(path, server string, ca []byte, user *api.AuthInfo, namespace string) error {
	config := api.NewConfig()
	config.Clusters["lab"] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos["lab"] = user
	config.Contexts["lab"] = &api.Context{Cluster: "lab", AuthInfo: "lab", Namespace: namespace}
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
