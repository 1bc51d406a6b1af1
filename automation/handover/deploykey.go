package handover

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"tombolo/automation/fault"
	"tombolo/config"
)

// DeployKey is the public half of the SSH key in gitops.auth, as a line of authorized_keys, for
// a host that is to let it read. Whatever is missing is a fault.Error.
func (h Handover) DeployKey(ctx context.Context, c *config.Cluster) (string, error) {
	if c.IsSpoke() {
		return "", &fault.Error{What: fmt.Sprintf("%s reads no repository: its hub %s does", c.Name, c.Hub()), Remedy: "name the hub"}
	}
	if auth := c.GitOps.Auth; auth == nil || auth.Type != config.AuthSSH {
		return "", &fault.Error{What: fmt.Sprintf("%s has no SSH key for the repository", c.Name), Remedy: "add gitops.auth with type: ssh, or leave --deploy-key out"}
	}
	credentials, err := CredentialsOf(ctx, h.Connector, c)
	if err != nil {
		return "", notPushed(ctx, c, err)
	}
	key, err := ssh.ParsePrivateKey([]byte(credentials.PrivateKey))
	if err != nil { // whose text holds none of the key
		return "", &fault.Error{
			What:   fmt.Sprintf("gitops.auth.privateKey of %s is no private key without a passphrase: %v", c.Name, err),
			Remedy: "make one by ssh-keygen -t ed25519 -N ''", Err: err,
		}
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey()))), nil
}
