//go:build lab

package lab

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

// vaultClient does what the administrators of Vault do.
type vaultClient struct {
	client         *http.Client
	address, token string
}

// vault reaches the lab's server as a client of Vault does, by the environment.
func (p project) vault(t *testing.T) vaultClient {
	t.Helper()
	env := p.labEnv(t)
	proxy, err := url.Parse(env["VAULT_PROXY_ADDR"])
	assert.NilError(t, err)
	authority, err := os.ReadFile(env["VAULT_CACERT"])
	assert.NilError(t, err)
	trusted := x509.NewCertPool()
	assert.Assert(t, trusted.AppendCertsFromPEM(authority))
	return vaultClient{
		&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}},
		env["VAULT_ADDR"], env["VAULT_TOKEN"],
	}
}

// write sends values to a path.
func (v vaultClient) write(t *testing.T, path string, values map[string]any) {
	t.Helper()
	body, err := json.Marshal(values)
	assert.NilError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.address+"/v1/"+path, bytes.NewReader(body))
	assert.NilError(t, err)
	request.Header.Set("X-Vault-Token", v.token)
	answer, err := v.client.Do(request)
	assert.NilError(t, err)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	assert.NilError(t, err)
	assert.Assert(t, answer.StatusCode < 300, "%s: %s %s", path, answer.Status, said)
}

// keep writes a secret.
func (v vaultClient) keep(t *testing.T, path string, values map[string]any) {
	t.Helper()
	v.write(t, "secret/data/"+path, map[string]any{"data": values})
}

// knows has Vault know a cluster: its API, and whom its service accounts are. That of blog is bound to
// a namespace of others.
func (v vaultClient) knows(t *testing.T, p project, cluster string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(p.dir, ".lab", "clusters", cluster, "admin.kubeconfig"))
	assert.NilError(t, err)
	v.write(t, "sys/mounts/secret", map[string]any{"type": "kv", "options": map[string]any{"version": "2"}})
	v.write(t, "sys/auth/"+cluster, map[string]any{"type": "kubernetes"})
	v.write(t, "auth/"+cluster+"/config", map[string]any{"kubernetes_host": config.Host, "kubernetes_ca_cert": string(config.CAData)})
	for role, namespace := range map[string]string{"external-secrets": "external-secrets", "shop": "shop", "blog": "elsewhere"} {
		v.write(t, "sys/policies/acl/"+cluster+"-"+role, map[string]any{"policy": fmt.Sprintf("path \"secret/data/%s/%s/*\" {\n  capabilities = [\"read\"]\n}\n", cluster, role)})
		v.write(t, "auth/"+cluster+"/role/"+role, map[string]any{
			"bound_service_account_names": "vault", "bound_service_account_namespaces": namespace, "token_policies": cluster + "-" + role, "token_ttl": "10m",
		})
	}
}

// inVault: a secret of a system that is in Vault arrives, and again when it has changed. What Vault
// does not let the system read does not, and verify has Vault's own words.
func (s systems) inVault(t *testing.T) {
	v := s.vault(t)
	v.knows(t, s.project, teams)
	v.keep(t, "teams/shop/payments", map[string]any{"key": "one"})
	v.keep(t, "teams/external-secrets/entry", map[string]any{"key": "platform"})
	authority, err := os.ReadFile(filepath.Join(s.dir, ".lab", "pki", "ca.crt"))
	assert.NilError(t, err)
	s.edit(t, clusterFile(teams), "    prefixes: [teams/]\n", "    prefixes: [teams/]\n    vaultServer:\n      address: https://vault.lab.test\n      certificateAuthority: |\n        "+
		strings.ReplaceAll(strings.TrimSpace(string(authority)), "\n", "\n        ")+"\n")
	s.edit(t, "platform/flux/clusters/teams/addons/kustomization.yaml", "  - ../../../addons/external-secrets\n", "  - ../../../addons/external-secrets\n  - ../../../addons/external-secrets/vault\n")
	s.must(t, "check", "platform/flux", teams)
	s.project.up(t, teams) // the variable, before the tree has it
	s.deliver(t)
	entry := asFile(t, inVault("vault-entry", "default", "ClusterSecretStore", "teams/external-secrets/entry"))
	s.kubectl(t, teams, "apply", "-f", entry)
	s.opened(t, "default", "vault-entry", "key", "platform")
	deliver := func(system string, more map[string]string) {
		more["deploy/web.yaml"] = s.read(t, "lab/systems/"+system+"/deploy/web.yaml")
		s.commit(t, system, more)
	}
	payments := inVault("payments", "shop", "SecretStore", "teams/shop/payments")
	deliver("shop", map[string]string{"deploy/payments.yaml": payments})
	s.opened(t, "shop", "payments", "key", "one")
	v.keep(t, "teams/shop/payments", map[string]any{"key": "two"})
	s.opened(t, "shop", "payments", "key", "two")

	deliver("shop", map[string]string{"deploy/payments.yaml": payments, "deploy/other.yaml": inVault("other", "shop", "SecretStore", "dev/shop/other")})
	deliver("blog", map[string]string{"deploy/payments.yaml": inVault("payments", "blog", "SecretStore", "teams/blog/payments")})
	eventually(t, func() (bool, string) {
		told := s.kubectl(t, teams, "-n", "shop", "get", "events", "--field-selector", "involvedObject.name=other", "-o", "jsonpath={.items[*].message}")
		o := s.run(t, "verify", teams)
		return strings.Contains(told, "permission denied") && strings.Contains(o.stderr, "SecretStore vault") && strings.Contains(o.stderr, "namespace not authorized"), told + "\n" + o.stderr
	})
	left := s.kubectl(t, teams, "-n", "blog", "get", "secrets", "payments", "--ignore-not-found", "-o", "name")
	assert.Check(t, is.Equal(left, ""))
	// What is left would hold its namespace for minutes when the cluster goes: its controller goes first.
	deliver("shop", map[string]string{})
	deliver("blog", map[string]string{})
	s.kubectl(t, teams, "delete", "-f", entry)
	s.vanishes(t, teams, "get", "externalsecrets", "-A")
}

// inVault is an ExternalSecret that reads all of a secret.
func inVault(name, namespace, store, key string) string {
	return fmt.Sprintf("apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: %s, namespace: %s}\nspec:\n"+
		"  refreshInterval: 2s\n  secretStoreRef: {kind: %s, name: vault}\n  dataFrom: [{extract: {key: %s}}]\n", name, namespace, store, key)
}
