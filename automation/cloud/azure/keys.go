package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/internal/wording"
)

// This file asks about the key that AKS is to encrypt Secrets by. AKS would refuse a wrong one only
// when all else that core makes is there.

// keyPath begins the keys of the cluster file about it.
const keyPath = "kubernetes.secretsEncryption."

// vaultVersion is the version of the API of vaults and keys:
// https://learn.microsoft.com/rest/api/keyvault/keyvault
const vaultVersion = "2023-07-01"

// vault is what is asked of a key vault, and vaultKey of a version of a key.
type (
	vault struct {
		Properties struct {
			TenantID                string
			EnableRbacAuthorization bool
			PublicNetworkAccess     string
			NetworkAcls             struct{ DefaultAction string }
		}
	}
	vaultKey struct {
		Properties struct {
			Kty        string
			KeyOps     []string
			Attributes struct {
				Enabled  bool
				Nbf, Exp int64
			}
		}
	}
)

// readKey asks for the key of Secrets and its vault; nil for none.
func readKey(ctx context.Context, client arm.Client, c *config.Cluster) map[string]preflight.Key {
	s := c.Kubernetes.SecretsEncryption
	if s.KeyID == "" {
		return nil
	}
	key := preflight.Key{}
	_, at, _ := strings.Cut(s.KeyID, "/keys/")
	name, version, _ := strings.Cut(at, "/")
	var in vault
	var is vaultKey
	err := client.Get(ctx, s.Vault, vaultVersion, &in)
	if err == nil {
		err = client.Get(ctx, s.Vault+"/keys/"+name+"/versions/"+version, vaultVersion, &is)
	}
	switch {
	case arm.IsMissing(err):
		key.Missing = true
	case err != nil:
		key.Err = err.Error()
	default:
		key.Spec, key.Unfit = is.Properties.Kty, append(in.unfit(c.Cloud.Tenant), is.unfit(time.Now())...)
	}
	return map[string]preflight.Key{s.KeyID: key}
}

// unfit says what of the vault AKS does not take. Source: "Limitations" in
// https://learn.microsoft.com/azure/aks/use-kms-etcd-encryption; core gives roles, and writes no access
// policies.
func (v vault) unfit(tenant string) []string {
	var out []string
	p := v.Properties
	if p.TenantID != "" && !strings.EqualFold(p.TenantID, tenant) {
		out = append(out, "its vault is of tenant "+p.TenantID)
	}
	if !p.EnableRbacAuthorization {
		out = append(out, "its vault goes by access policies, and core gives a role")
	}
	if p.PublicNetworkAccess == "Disabled" || p.NetworkAcls.DefaultAction == "Deny" {
		out = append(out, "the network rules of its vault keep the control plane out")
	}
	return out
}

// unfit says what of the key AKS does not take. A key of another kind is refused like one without rights:
// https://github.com/Azure/AKS/issues/3575
func (k vaultKey) unfit(now time.Time) []string {
	var out []string
	p := k.Properties
	if !strings.HasPrefix(p.Kty, "RSA") {
		out = append(out, fmt.Sprintf("it is of the type %s, and not RSA", p.Kty))
	}
	if len(p.KeyOps) > 0 && (!slices.Contains(p.KeyOps, "encrypt") || !slices.Contains(p.KeyOps, "decrypt")) {
		out = append(out, "it is for "+wording.And(p.KeyOps)+", and not for encrypt and decrypt")
	}
	a := p.Attributes
	if !a.Enabled || a.Nbf > now.Unix() || a.Exp != 0 && a.Exp <= now.Unix() {
		out = append(out, "it is disabled, or not valid by its dates")
	}
	return out
}

// judgeKey judges the key of Secrets.
func judgeKey(f preflight.Facts) []preflight.Finding {
	var out []preflight.Finding
	for id, key := range f.Keys {
		bad := func(level preflight.Level, remedy, format string, args ...any) {
			out = append(out, preflight.BadKey(keyCheck, keyPath+"keyId", level, remedy, format, args...))
		}
		switch {
		case key.Missing:
			bad(preflight.Fail, "correct keyId and vault, or make the key", "there is no key %s in the vault that the file names", id)
		case key.Err != "":
			bad(preflight.Warn, "allow Microsoft.KeyVault/vaults/read and Microsoft.KeyVault/vaults/keys/versions/read on the vault to the credentials in use",
				"whether AKS takes the key %s cannot be told: %s", id, key.Err)
		case len(key.Unfit) > 0:
			bad(preflight.Fail, "use an enabled RSA key for encrypt and decrypt, in a vault of the tenant with Azure's roles that is open to all networks",
				"AKS does not take the key %s: %s", id, strings.Join(key.Unfit, "; "))
		default:
			out = append(out, preflight.Good(keyCheck, "AKS can encrypt Secrets by the key %s", id))
		}
	}
	return out
}
