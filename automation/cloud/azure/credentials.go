package azure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/config"
)

const credentialsCheck = "credentials"

// loginMethod is the variable by which kubelogin chooses how to sign in.
const loginMethod = "AAD_LOGIN_METHOD"

// SignIn is how kubelogin gets a token with the credentials that the provider of Azure takes
// from the environment, as AAD_LOGIN_METHOD names it. env reads the environment. The order is
// the provider's: a service principal, workload identity, a managed identity, the Azure CLI.
// Sources: https://www.pulumi.com/registry/packages/azure-native/installation-configuration/
// and https://azure.github.io/kubelogin/cli/get-token.html
func SignIn(env func(string) string) string {
	switch {
	case env("ARM_CLIENT_SECRET")+env("ARM_CLIENT_CERTIFICATE_PATH") != "":
		return "spn"
	case isTrue(env("ARM_USE_OIDC")) && env(tokenFile) == "" && inAzurePipelines(env):
		return "azurepipelines"
	case isTrue(env("ARM_USE_OIDC")):
		return "workloadidentity"
	case isTrue(env("ARM_USE_MSI")):
		return "msi"
	}
	return "azurecli"
}

// Where a token of somebody else comes from that Entra takes. The provider takes one of the
// environment first, then one in a file, and then asks an address in the way of GitHub; Azure
// DevOps answers another one. Sources:
// https://github.com/pulumi/pulumi-azure-native/blob/015fcf2279888470bbfe63ead852bacf47ca38d4/provider/pkg/provider/auth_azidentity.go
// and https://github.com/hashicorp/packer-plugin-azure/pull/421
const (
	tokenFile    = "ARM_OIDC_TOKEN_FILE_PATH"
	requestURL   = "ARM_OIDC_REQUEST_URL"
	requestToken = "ARM_OIDC_REQUEST_TOKEN"
	// Those that GitHub sets, which the provider and kubelogin read by themselves.
	gitHubURL   = "ACTIONS_ID_TOKEN_REQUEST_URL"
	gitHubToken = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
	// The address of a pipeline of Azure DevOps.
	pipelineURL = "SYSTEM_OIDCREQUESTURI"
)

// inAzurePipelines says that kubelogin can ask Azure DevOps itself, with what the task
// AzureCLI@2 and the pipeline set:
// https://azure.github.io/kubelogin/concepts/login-modes/azurepipelines.html
func inAzurePipelines(env func(string) string) bool {
	return env(pipelineURL) != "" && env("SYSTEM_ACCESSTOKEN") != "" && env("AZURESUBSCRIPTION_SERVICE_CONNECTION_ID") != ""
}

// asksGitHub says that the provider and kubelogin can ask for tokens in GitHub's way.
func asksGitHub(env func(string) string) bool {
	return env(gitHubURL) != "" && env(gitHubToken) != "" || env(pipelineURL) == "" && env(requestURL) != "" && env(requestToken) != ""
}

func isTrue(value string) bool { return value == "true" || value == "1" }

// Credentials judges what the provider would take for the cluster, without a call. None of it
// asks anybody.
func (Cloud) Credentials(c *config.Cluster, env func(string) string, _ time.Time) preflight.Finding {
	switch method := env(loginMethod); method {
	case "devicecode", "interactive", "ropc":
		return preflight.Bad(credentialsCheck, preflight.Fail, "unset it: it is derived from the credentials in use",
			"%s is %s: kubelogin would ask a person for a code or a password", loginMethod, method)
	}
	if tenant := env("ARM_TENANT_ID"); tenant != "" && c.Cloud.Tenant != "" && !strings.EqualFold(tenant, c.Cloud.Tenant) {
		return preflight.Bad(credentialsCheck, preflight.Fail, "use credentials of that tenant, or correct cloud.tenant",
			"ARM_TENANT_ID is %s, and the cluster is for %s", tenant, c.Cloud.Tenant)
	}
	switch SignIn(env) {
	case "spn":
		return servicePrincipal(env)
	case "workloadidentity", "azurepipelines":
		return workloadIdentity(env)
	case "msi":
		return preflight.Good(credentialsCheck, "the managed identity of this machine, which renews itself")
	}
	return cliCredentials(c, env)
}

// servicePrincipal judges a secret or a certificate of an application.
func servicePrincipal(env func(string) string) preflight.Finding {
	for _, name := range []string{"ARM_CLIENT_ID", "ARM_TENANT_ID"} {
		if env(name) == "" {
			return preflight.Bad(credentialsCheck, preflight.Fail, "set "+name, "a service principal of the environment, without %s", name)
		}
	}
	if file := env("ARM_CLIENT_CERTIFICATE_PATH"); file != "" {
		if _, err := os.Stat(file); err != nil {
			return preflight.Bad(credentialsCheck, preflight.Fail, "correct ARM_CLIENT_CERTIFICATE_PATH", "a service principal, whose certificate cannot be read: %v", err)
		}
	}
	return preflight.Good(credentialsCheck, "the service principal %s of the environment", env("ARM_CLIENT_ID"))
}

// workloadIdentity judges the token of somebody else that Entra takes.
func workloadIdentity(env func(string) string) preflight.Finding {
	for _, name := range []string{"ARM_CLIENT_ID", "ARM_TENANT_ID"} {
		if env(name) == "" {
			return preflight.Bad(credentialsCheck, preflight.Fail, "set "+name, "workload identity by ARM_USE_OIDC, without %s", name)
		}
	}
	file, given := env(tokenFile), env("ARM_OIDC_TOKEN") != ""
	const short = "workload identity, by a token of the environment, which ends within minutes"
	switch {
	case file != "":
		if _, err := os.Stat(file); err != nil {
			return preflight.Bad(credentialsCheck, preflight.Fail, "correct "+tokenFile, "workload identity, whose token cannot be read: %v", err)
		}
		if given {
			return preflight.Bad(credentialsCheck, preflight.Warn, "unset ARM_OIDC_TOKEN: the token in the file is renewed", short)
		}
		return preflight.Good(credentialsCheck, "workload identity, by the token in a file")
	case given && (inAzurePipelines(env) || asksGitHub(env) || env(loginMethod) != ""):
		return preflight.Bad(credentialsCheck, preflight.Warn, "have the token in a file that is renewed, by "+tokenFile+", and unset ARM_OIDC_TOKEN", short)
	case given:
		return preflight.Bad(credentialsCheck, preflight.Fail, "write the token into a file that only you can read, name it in "+tokenFile+", and unset ARM_OIDC_TOKEN",
			short+": kubelogin does not read it, and gets no token for the Kubernetes API")
	case asksGitHub(env):
		return preflight.Good(credentialsCheck, "workload identity, by the tokens of the pipeline")
	case env(pipelineURL) != "":
		return preflight.Bad(credentialsCheck, preflight.Fail, "write idToken of the task AzureCLI@2 with addSpnToEnvironment into a file, and name it in "+tokenFile,
			"workload identity in a pipeline of Azure DevOps: the provider of Azure cannot ask it for a token")
	}
	return preflight.Bad(credentialsCheck, preflight.Fail, "set "+tokenFile, "workload identity by ARM_USE_OIDC, without a token")
}

// cliCredentials reads which subscriptions `az login` has left. How long its sign-on lasts,
// the tenant decides: the CLI renews it. Source:
// https://learn.microsoft.com/cli/azure/azure-cli-configuration
func cliCredentials(c *config.Cluster, env func(string) string) preflight.Finding {
	dir := cmp.Or(env("AZURE_CONFIG_DIR"), filepath.Join(env("HOME"), ".azure"))
	login := "run `az login --tenant " + c.Cloud.Tenant + "` before"
	text, err := os.ReadFile(filepath.Join(dir, "azureProfile.json"))
	if err != nil {
		return preflight.Bad(credentialsCheck, preflight.Fail, login+", or set ARM_USE_OIDC, ARM_USE_MSI, or ARM_CLIENT_ID with its secret",
			"the environment has none, and nobody is signed in with the Azure CLI")
	}
	if _, err := pulumicli.LookPath("az", env("PATH")); err != nil {
		return preflight.Bad(credentialsCheck, preflight.Fail, "install the Azure CLI, or set ARM_USE_OIDC, ARM_USE_MSI, or ARM_CLIENT_ID with its secret",
			"the environment has none, and az is not in PATH")
	}
	var profile struct {
		Subscriptions []struct {
			ID   string
			User struct{ Name string }
		}
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &profile); err != nil { // the CLI writes a mark first
		return preflight.Bad(credentialsCheck, preflight.Fail, login, "the sign-on of the Azure CLI cannot be read: %v", err)
	}
	for _, subscription := range profile.Subscriptions {
		if subscription.ID == c.Cloud.Account {
			return preflight.Good(credentialsCheck, "the sign-on of %s with the Azure CLI", subscription.User.Name)
		}
	}
	return preflight.Bad(credentialsCheck, preflight.Fail, login, "the sign-on of the Azure CLI does not have the subscription %s", c.Cloud.Account)
}

// LoginEnv are the variables that kubelogin wants for the credentials that the provider of
// Azure takes, those that the environment does not have. Without AAD_LOGIN_METHOD kubelogin
// would ask for a code in a browser. Source: https://azure.github.io/kubelogin/cli/get-token.html
func LoginEnv(env func(string) string) map[string]string {
	method := SignIn(env)
	wanted := map[string]string{loginMethod: method}
	switch method {
	case "spn":
		wanted["AAD_SERVICE_PRINCIPAL_CLIENT_ID"], wanted["AAD_SERVICE_PRINCIPAL_CLIENT_SECRET"] = env("ARM_CLIENT_ID"), env("ARM_CLIENT_SECRET")
		wanted["AAD_SERVICE_PRINCIPAL_CLIENT_CERTIFICATE"] = env("ARM_CLIENT_CERTIFICATE_PATH")
		wanted["AAD_SERVICE_PRINCIPAL_CLIENT_CERTIFICATE_PASSWORD"] = env("ARM_CLIENT_CERTIFICATE_PASSWORD")
	case "workloadidentity":
		wanted["AZURE_CLIENT_ID"], wanted["AZURE_TENANT_ID"] = env("ARM_CLIENT_ID"), env("ARM_TENANT_ID")
		if wanted["AZURE_FEDERATED_TOKEN_FILE"] = env(tokenFile); env(tokenFile) == "" && asksGitHub(env) {
			wanted[gitHubURL], wanted[gitHubToken] = env(requestURL), env(requestToken)
		}
	case "azurepipelines":
		wanted["AZURE_CLIENT_ID"], wanted["AZURE_TENANT_ID"] = env("ARM_CLIENT_ID"), env("ARM_TENANT_ID")
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
