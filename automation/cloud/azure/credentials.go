package azure

import (
	"os"
	"path/filepath"
	"time"

	"tombolo/automation/preflight"
	"tombolo/config"
)

const credentialsCheck = "credentials"

// SignIn is how kubelogin gets a token with the credentials that the provider of Azure takes
// from the environment, as AAD_LOGIN_METHOD names it. env reads the environment. The order is
// the provider's: a service principal, workload identity, a managed identity, the Azure CLI.
// Sources: https://www.pulumi.com/registry/packages/azure-native/installation-configuration/
// and https://azure.github.io/kubelogin/cli/get-token.html
func SignIn(env func(string) string) string {
	switch {
	case env("ARM_CLIENT_ID") != "" && env("ARM_CLIENT_SECRET")+env("ARM_CLIENT_CERTIFICATE_PATH") != "":
		return "spn"
	case isTrue(env("ARM_USE_OIDC")):
		return "workloadidentity"
	case isTrue(env("ARM_USE_MSI")):
		return "msi"
	}
	return "azurecli"
}

func isTrue(value string) bool { return value == "true" || value == "1" }

// Credentials judges what the provider would take for the cluster, without a call. None of it
// asks anybody.
func (Cloud) Credentials(_ *config.Cluster, env func(string) string, _ time.Time) preflight.Finding {
	switch SignIn(env) {
	case "spn":
		if env("ARM_TENANT_ID") == "" {
			return preflight.Bad(credentialsCheck, preflight.Fail, "set ARM_TENANT_ID to its tenant", "a service principal of the environment, without a tenant")
		}
		return preflight.Good(credentialsCheck, "the service principal %s of the environment", env("ARM_CLIENT_ID"))
	case "workloadidentity":
		return workloadIdentity(env)
	case "msi":
		return preflight.Good(credentialsCheck, "the managed identity of this machine, which renews itself")
	}
	return cliCredentials(env)
}

// workloadIdentity judges the token of somebody else that Entra takes.
func workloadIdentity(env func(string) string) preflight.Finding {
	for _, name := range []string{"ARM_CLIENT_ID", "ARM_TENANT_ID"} {
		if env(name) == "" {
			return preflight.Bad(credentialsCheck, preflight.Fail, "set "+name, "workload identity by ARM_USE_OIDC, without %s", name)
		}
	}
	file := env("ARM_OIDC_TOKEN_FILE_PATH")
	switch {
	case file != "":
		if _, err := os.Stat(file); err != nil {
			return preflight.Bad(credentialsCheck, preflight.Fail, "correct ARM_OIDC_TOKEN_FILE_PATH", "workload identity, whose token cannot be read: %v", err)
		}
		return preflight.Good(credentialsCheck, "workload identity, by the token in a file")
	case env("ARM_OIDC_TOKEN") != "":
		return preflight.Bad(credentialsCheck, preflight.Warn, "have the token in a file that is renewed, by ARM_OIDC_TOKEN_FILE_PATH",
			"workload identity, by a token of the environment, which ends within minutes")
	case env("ARM_OIDC_REQUEST_URL")+env("ACTIONS_ID_TOKEN_REQUEST_URL") != "":
		return preflight.Good(credentialsCheck, "workload identity, by the tokens of the pipeline")
	}
	return preflight.Bad(credentialsCheck, preflight.Fail, "set ARM_OIDC_TOKEN_FILE_PATH", "workload identity by ARM_USE_OIDC, without a token")
}

// cliCredentials looks for what `az login` has left. Source:
// https://learn.microsoft.com/cli/azure/azure-cli-configuration
func cliCredentials(env func(string) string) preflight.Finding {
	dir := env("AZURE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(env("HOME"), ".azure")
	}
	if _, err := os.Stat(filepath.Join(dir, "azureProfile.json")); err != nil {
		return preflight.Bad(credentialsCheck, preflight.Fail, "run `az login` before, or set ARM_USE_OIDC, ARM_USE_MSI, or ARM_CLIENT_ID with its secret",
			"the environment has none, and nobody is signed in with the Azure CLI")
	}
	return preflight.Good(credentialsCheck, "those of the Azure CLI")
}

// LoginEnv are the variables that kubelogin wants for the credentials that the provider of
// Azure takes, those that the environment does not have. Without AAD_LOGIN_METHOD kubelogin
// would ask for a code in a browser. Source: https://azure.github.io/kubelogin/cli/get-token.html
func LoginEnv(env func(string) string) map[string]string {
	method := SignIn(env)
	wanted := map[string]string{"AAD_LOGIN_METHOD": method}
	switch method {
	case "spn":
		wanted["AAD_SERVICE_PRINCIPAL_CLIENT_ID"], wanted["AAD_SERVICE_PRINCIPAL_CLIENT_SECRET"] = env("ARM_CLIENT_ID"), env("ARM_CLIENT_SECRET")
		wanted["AAD_SERVICE_PRINCIPAL_CLIENT_CERTIFICATE"] = env("ARM_CLIENT_CERTIFICATE_PATH")
		wanted["AAD_SERVICE_PRINCIPAL_CLIENT_CERTIFICATE_PASSWORD"] = env("ARM_CLIENT_CERTIFICATE_PASSWORD")
	case "workloadidentity":
		wanted["AZURE_CLIENT_ID"], wanted["AZURE_TENANT_ID"] = env("ARM_CLIENT_ID"), env("ARM_TENANT_ID")
		wanted["AZURE_FEDERATED_TOKEN_FILE"] = env("ARM_OIDC_TOKEN_FILE_PATH")
	case "msi":
		wanted["AZURE_CLIENT_ID"] = env("ARM_CLIENT_ID")
	}
	for name, value := range wanted {
		if value == "" || env(name) != "" {
			delete(wanted, name)
		}
	}
	return wanted
}
