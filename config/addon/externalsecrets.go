package addon

import (
	"regexp"
	"strings"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
)

// SecretsOptions are the options of external-secrets.
type SecretsOptions struct {
	// Prefixes of the names in Secrets Manager that it may read, such as
	// demo/. The cluster cannot read others.
	Prefixes []string `yaml:"prefixes" cloud:"aws"`
	// ParameterPrefixes of the names in Parameter Store that it may read, such
	// as /demo/. Without any, it cannot read Parameter Store.
	ParameterPrefixes []string `yaml:"parameterPrefixes,omitempty" cloud:"aws"`
	// KMSKeyARNs are your own keys that encrypt the secrets; AWS's own keys need no
	// entry.
	KMSKeyARNs []string `yaml:"kmsKeyArns,omitempty" cloud:"aws"`
	// Vault is the id of a key vault of others that it reads: all secrets that are in it.
	// Default: one that core makes, which goes with the cluster, and can be brought back for
	// 90 days.
	Vault string `yaml:"vault,omitempty" cloud:"azure"`
	// AllowedCIDRs are public IPv4 blocks that reach core's vault, beside the cluster's own
	// subnet, such as those of the people who write secrets. Default: none.
	AllowedCIDRs []string `yaml:"allowedCidrs,omitempty" cloud:"azure"`
	// RecoverVault makes core's vault from the one that an earlier destruction of the cluster
	// has deleted, with the secrets in it. Azure refuses a new one in its place for 90 days.
	// Default false.
	RecoverVault bool `yaml:"recoverVault,omitempty" cloud:"azure"`
	// VaultServer holds secrets beside the cloud's store. Default: none.
	VaultServer *VaultServer `yaml:"vaultServer,omitempty"`
}

var secretsOptionsFields = field.Of[SecretsOptions](map[string]field.Descriptor{
	"Prefixes": {
		Rule:   strict.Rule{What: "a prefix of secrets' names that ends in / _ . or -", Noun: "prefix", Example: "demo/", Pattern: secretPrefix, MaxLength: 256, MinItems: 1},
		Change: field.Changes("the role's policy changes"), Remedy: "remove it: External Secrets reads all of the vault, so give each cluster its own",
	},
	"ParameterPrefixes": {
		Rule:   strict.Rule{What: "a path of parameters that begins and ends with /", Noun: "prefix", Example: "/demo/", Pattern: parameterPrefix, MaxLength: 512},
		Change: field.Changes("the role's policy changes"), Remedy: "remove it: Azure has no Parameter Store",
	},
	"KMSKeyARNs": {Rule: kmsKeys, Change: field.Changes("the role's policy changes"), Remedy: "remove it: Key Vault has its own keys"},
	"Vault": {
		Rule: strict.Rule{
			What: "the id of a key vault", Pattern: form.VaultID, Advice: form.IDAdvice(form.VaultID),
			Example: "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/secrets/providers/Microsoft.KeyVault/vaults/shop",
		},
		Change: field.Changes("the identity reads the other vault, and no longer the one before; a vault of core's is deleted, and can be brought back for 90 days"), Instead: "prefixes",
		Remedy: "use prefixes of names in Secrets Manager",
	},
	"AllowedCIDRs": {
		Rule: strict.Rule{What: "a public IPv4 block", Noun: "block", Example: "203.0.113.0/24", Pattern: ipv4Block}, Change: field.Changes("the network rules of the vault change"),
		Remedy: "remove it: IAM alone opens Secrets Manager",
	},
	"RecoverVault": {Rule: strict.Rule{Default: false}, Change: field.Changes("it counts when the vault is made"), Remedy: "remove it: secrets in Secrets Manager stay when the cluster goes"},
	"VaultServer":  {Change: vaultChange},
})

// The patterns hold the characters that the services take in names. A prefix
// has to end at a word: demo would open demonstration too.
var (
	secretPrefix    = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]*[A-Za-z0-9][/_.-]$`)
	parameterPrefix = regexp.MustCompile(`^/([A-Za-z0-9_.-]+/)+$`)
	ipv4Block       = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$`)
)

// secretsAccount is the service account of the controller.
const secretsAccount = "external-secrets"

var _ = register(Addon{
	Name:      "external-secrets",
	Summary:   "Copies secrets from Secrets Manager, or from a key vault on Azure, into the cluster.",
	Namespace: "external-secrets",
	Stage:     Others,
}, definition[SecretsOptions]{
	Fields: field.Join(secretsOptionsFields, vaultServerFields),
	Needs: func(in Input[SecretsOptions]) Needs {
		if in.onAzure() {
			return vaultNeeds(in.Facts, in.Options)
		}
		return Needs{Identities: []Identity{{
			ServiceAccount: secretsAccount, Statements: secretsStatements(in.Facts, in.Options),
		}}}
	},
	Keys: []key[SecretsOptions]{
		{
			"secret_store", "Name of the ClusterSecretStore that ExternalSecrets name: secrets-manager, or key-vault on Azure.", "secrets-manager",
			func(in Input[SecretsOptions], out Outputs) string { return storeOf(in.Facts, out).name },
		},
		{
			"secret_store_provider", "The store's spec.provider, as JSON.", `{"aws":{"region":"eu-central-1","service":"SecretsManager"}}`,
			func(in Input[SecretsOptions], out Outputs) string { return storeOf(in.Facts, out).json() },
		},
		{
			vaultStoreKey, "With vaultServer: spec.provider of the ClusterSecretStore vault, as JSON.",
			`{"vault":{"auth":{"kubernetes":{"mountPath":"demo","role":"external-secrets","serviceAccountRef":{"name":"vault","namespace":"external-secrets"}}},"path":"secret","server":"https://vault.example.com:8200","version":"v2"}}`,
			func(in Input[SecretsOptions], _ Outputs) string { return vaultStore(in.Facts, in.Options.VaultServer) },
		},
	},
	Unpublished: func(o SecretsOptions) []string {
		if o.VaultServer == nil {
			return []string{vaultStoreKey}
		}
		return nil
	},
	Values: func(in Input[SecretsOptions], out Outputs) map[string]any {
		values := map[string]any{"serviceAccount": serviceAccount(secretsAccount, out.Made[RoleARN])}
		if in.onAzure() {
			values = map[string]any{"serviceAccount": federatedAccount(secretsAccount, out.Made[ClientID]), "podLabels": federatedPods()}
		}
		return with(values, "extraEnv", in.proxyEnv())
	},
	Check: func(o SecretsOptions, _ Selection) []Problem {
		return append(vaultProblems(o), serverProblems(o.VaultServer)...)
	},
})

// secretsStatements follow "AWS Secrets Manager" and "AWS Parameter Store" in
// the documentation of External Secrets, for reading by name: finding secrets
// by tag or name would need to list those of the account.
func secretsStatements(f Facts, o SecretsOptions) []Statement {
	var secrets, parameters []string
	for _, prefix := range o.Prefixes {
		secrets = append(secrets, f.ARN("secretsmanager", "secret:"+prefix+"*"))
	}
	for _, prefix := range o.ParameterPrefixes {
		parameters = append(parameters, f.ARN("ssm", "parameter/"+strings.TrimPrefix(prefix, "/")+"*"))
	}
	statements := []Statement{{
		Sid:       "ReadSecrets",
		Actions:   []string{"secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue", "secretsmanager:ListSecretVersionIds"},
		Resources: secrets,
	}}
	if len(parameters) > 0 {
		statements = append(statements, Statement{Sid: "ReadParameters", Actions: []string{"ssm:GetParameter"}, Resources: parameters})
	}
	if len(o.KMSKeyARNs) > 0 {
		statements = append(statements, Statement{
			Sid: "DecryptWhatItReads", Actions: []string{"kms:Decrypt"},
			Resources: o.KMSKeyARNs, Conditions: f.through("secretsmanager", "ssm"),
		})
	}
	return statements
}
