package lab

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"path/filepath"
	"strings"

	"tombolo/lab/process"
)

// VaultHost is the host name of the lab's server of Vault's API, by https.
const VaultHost = "vault.lab.test"

// isVault says that a host is that of the server.
func isVault(host string) bool { return strings.EqualFold(host, VaultHost) }

// vaultServer answers for the server, whose process is started for the first request. It holds no
// certificate: what the tunnel leads to has one, and the way from there is a socket of this user's.
func (d *daemon) vaultServer() http.Handler {
	p, socket := d.lab.paths(), filepath.Join(filepath.Dir(d.socket), "vault.sock")
	dial := func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", socket) }
	spec := process.Spec{
		Name: "vault-server", Path: filepath.Join(p.tools(), "vault-server"), Env: []string{"HOME=" + p.home()}, Restart: true,
		Args: []string{"--socket", socket, "--storage", p.vault(), "--root-token", p.vaultToken()},
		Healthy: func(ctx context.Context) error {
			conn, err := dial(ctx)
			if err != nil {
				return err
			}
			return conn.Close()
		},
	}
	to := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", VaultHost },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := d.lab.built().Vault()
		if err == nil {
			_, err = secret(p.vaultToken())
		}
		if err == nil {
			err = d.supervisor.Start(r.Context(), spec)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		to.ServeHTTP(w, r)
	})
}

// vaultEnv is how the clients of Vault and OpenBao reach the server, as who may do all:
// https://developer.hashicorp.com/vault/docs/commands#configure-environment-variables
func (l *Lab) vaultEnv(proxy string) (map[string]string, error) {
	token, err := secret(l.paths().vaultToken())
	return map[string]string{
		"VAULT_ADDR": "https://" + VaultHost, "VAULT_TOKEN": token,
		"VAULT_CACERT": filepath.Join(l.paths().pki(), "ca.crt"), "VAULT_PROXY_ADDR": proxy,
	}, err
}
