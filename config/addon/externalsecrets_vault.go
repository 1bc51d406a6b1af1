package addon

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"

	"tombolo/config/field"
	"tombolo/config/strict"
)

// VaultServer is a server of HashiCorp Vault or OpenBao that holds secrets beside the cloud's store.
// The cluster logs in by the auth method Kubernetes, so that no token of Vault's is in a file.
type VaultServer struct {
	// Address of the server: https://, a host and, where it is not 443, a port.
	Address string `yaml:"address"`
	// Path of the secrets engine KV, version 2.
	Path string `yaml:"path,omitempty"`
	// AuthPath is where the auth method Kubernetes of this cluster is, without auth/ in front.
	// Default: the name of the cluster.
	AuthPath string `yaml:"authPath,omitempty"`
	// Role of the auth method, for the service account vault of the namespace external-secrets.
	Role string `yaml:"role,omitempty"`
	// CertificateAuthority is whom the server's certificate is from: certificates in PEM.
	// Default: the public authorities.
	CertificateAuthority string `yaml:"certificateAuthority,omitempty"`
}

// vaultEngine is where a server in development mode has the engine.
const vaultEngine = "secret"

// The names of paths and roles in Vault. Both may have other characters, which nobody needs here.
var (
	vaultAddress = regexp.MustCompile(`^https://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[1-9][0-9]{0,4})?/?$`)
	vaultPath    = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$`)
)

var vaultServerFields = field.Of[VaultServer](map[string]field.Descriptor{
	"Address": {
		Rule: strict.Rule{
			What: "the https:// address of a server, with nothing after host and port", Example: "https://vault.example.com:8200",
			Pattern: vaultAddress, Advice: addressAdvice, Secret: true,
		},
		Change: vaultChange,
	},
	"Path":                 {Rule: strict.Rule{What: "the path of a secrets engine", Example: "secret", Pattern: vaultPath, Default: vaultEngine}, Change: vaultChange},
	"AuthPath":             {Rule: strict.Rule{What: "the path of an auth method, without auth/", Example: "demo", Pattern: vaultPath}, Change: vaultChange},
	"Role":                 {Rule: strict.Rule{What: "the name of a role", Example: "external-secrets", Pattern: vaultPath, Default: secretsAccount}, Change: vaultChange},
	"CertificateAuthority": {Rule: strict.Rule{Secret: true}, Change: vaultChange},
})

// vaultChange is what a change of any of them does.
var vaultChange = field.Changes("the engine changes the stores of Vault")

// addressAdvice says what to do about an address without repeating it: it may have a password.
func addressAdvice(address string) string {
	switch {
	case strings.HasPrefix(address, "http://"):
		return "use https://: whoever reads the way there has the secrets"
	case strings.Contains(address, "@"):
		return "remove user name and password: the cluster logs in with a service account"
	}
	return ""
}

// serverProblems finds a path with the part that External Secrets puts in front.
func serverProblems(server *VaultServer) []Problem {
	if server == nil || !strings.HasPrefix(server.AuthPath, "auth/") {
		return nil
	}
	return []Problem{{Path: "vaultServer.authPath", Message: "begins with auth/, which is put in front of it", Remedy: "use " + strings.TrimPrefix(server.AuthPath, "auth/")}}
}

// vaultAccount is the service account that the stores of Vault log in as. It has no rights but to
// have tokens reviewed, so that its token is worth nothing to Vault but for that (ADR 79).
const vaultAccount = "vault"

// vaultStoreKey is the key of the infra ConfigMap with that store.
const vaultStoreKey = "vault_store_provider"

// vaultStore is the spec.provider of the ClusterSecretStore vault, as JSON; "" without a server.
// Source: docs/provider/hashicorp-vault.md of https://github.com/external-secrets/external-secrets
func vaultStore(f Facts, server *VaultServer) string {
	if server == nil {
		return ""
	}
	vault := map[string]any{
		"server": strings.TrimSuffix(server.Address, "/"), "path": cmp.Or(server.Path, vaultEngine), "version": "v2",
		"auth": map[string]any{"kubernetes": map[string]any{
			"mountPath": cmp.Or(server.AuthPath, f.Cluster), "role": cmp.Or(server.Role, secretsAccount),
			"serviceAccountRef": map[string]any{"name": vaultAccount, "namespace": "external-secrets"},
		}},
	}
	if server.CertificateAuthority != "" {
		vault["caBundle"] = base64.StdEncoding.EncodeToString([]byte(server.CertificateAuthority))
	}
	text, _ := json.Marshal(map[string]any{"vault": vault}) // texts never fail
	return string(text)
}
