package kubeconfig

import (
	"fmt"
	"os/exec"

	"k8s.io/client-go/tools/clientcmd"
)

// withPluginPath names the credentials plugin by its path. The lab's is on the
// PATH of this process, and seldom on that of the shell that runs kubectl.
func withPluginPath(kubeconfig []byte) ([]byte, error) {
	c, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("naming the kubeconfig's plugin: %w", err)
	}
	for _, user := range c.AuthInfos {
		if user.Exec == nil {
			continue
		}
		if user.Exec.Command, err = exec.LookPath(user.Exec.Command); err != nil {
			return nil, fmt.Errorf("naming the kubeconfig's plugin: %w; start the lab with `tombolo lab up`", err)
		}
	}
	return clientcmd.Write(*c)
}
