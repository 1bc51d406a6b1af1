package addon

import (
	"regexp"
	"strings"

	"tombolo/config/strict"
)

// SecretsOptions are the options of external-secrets.
type SecretsOptions struct {
	// Prefixes of the names in Secrets Manager that it may read, such as
	// demo/. The cluster cannot read others.
	Prefixes []string `yaml:"prefixes"`
	// ParameterPrefixes of the names in Parameter Store that it may read, such
	// as /demo/. Without any, it cannot read Parameter Store.
	ParameterPrefixes []string `yaml:"parameterPrefixes,omitempty"`
	// KMSKeyARNs are your own keys that encrypt the secrets; AWS's own keys need no
	// entry.
	KMSKeyARNs []string `yaml:"kmsKeyArns,omitempty"`
}

// The patterns hold the characters that the services take in names. A prefix
// has to end at a word: demo would open demonstration too.
var (
	secretPrefix    = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]*[A-Za-z0-9][/_.-]$`)
	parameterPrefix = regexp.MustCompile(`^/([A-Za-z0-9_.-]+/)+$`)
)

var _ = register(Addon{
	Name:      "external-secrets",
	Summary:   "Copies secrets from Secrets Manager into the cluster.",
	Namespace: "external-secrets",
	Stage:     Others,
	NotOn: notOnAzure("reads Secrets Manager, and this catalogue has it for AWS alone",
		"remove it, and bring it by the platform tree with a service whose identity has the role Key Vault Secrets User"),
}, definition[SecretsOptions]{
	Rules: map[string]strict.Rule{
		"SecretsOptions.Prefixes": {
			What: "a prefix of secrets' names that ends in / _ . or -", Noun: "prefix", Example: "demo/",
			Pattern: secretPrefix, MaxLength: 256, MinItems: 1,
		},
		"SecretsOptions.ParameterPrefixes": {
			What: "a path of parameters that begins and ends with /", Noun: "prefix", Example: "/demo/", Pattern: parameterPrefix, MaxLength: 512,
		},
		"SecretsOptions.KMSKeyARNs": kmsKeys,
	},
	Needs: func(in Input[SecretsOptions]) Needs {
		return Needs{Identities: []Identity{{
			ServiceAccount: "external-secrets", Statements: secretsStatements(in.Facts, in.Options),
		}}}
	},
	Values: func(in Input[SecretsOptions], out Outputs) map[string]any {
		return with(map[string]any{"serviceAccount": serviceAccount("external-secrets", out.Made[RoleARN])}, "extraEnv", in.proxyEnv())
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
