package azure

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/automation/preflight"
	"tombolo/config"
)

// TestSignIn: kubelogin signs in as the provider does, and what somebody has set stays.
func TestSignIn(t *testing.T) {
	for name, test := range map[string]struct {
		env, want map[string]string
	}{
		"nothing":             {nil, map[string]string{"AAD_LOGIN_METHOD": "azurecli"}},
		"somebody has chosen": {map[string]string{"AAD_LOGIN_METHOD": "azd"}, map[string]string{}},
		"a managed identity":  {map[string]string{"ARM_USE_MSI": "true"}, map[string]string{"AAD_LOGIN_METHOD": "msi"}},
		"a service principal": {
			map[string]string{"ARM_CLIENT_ID": "c", "ARM_CLIENT_SECRET": "s", "ARM_TENANT_ID": "t"},
			map[string]string{"AAD_LOGIN_METHOD": "spn", "AAD_SERVICE_PRINCIPAL_CLIENT_ID": "c", "AAD_SERVICE_PRINCIPAL_CLIENT_SECRET": "s"},
		},
		"workload identity": {
			map[string]string{"ARM_USE_OIDC": "true", "ARM_CLIENT_ID": "c", "ARM_TENANT_ID": "t", "ARM_OIDC_TOKEN_FILE_PATH": "f", "AZURE_TENANT_ID": "other"},
			map[string]string{"AAD_LOGIN_METHOD": "workloadidentity", "AZURE_CLIENT_ID": "c", "AZURE_FEDERATED_TOKEN_FILE": "f"},
		},
		"an address like GitHub's": {
			map[string]string{"ARM_USE_OIDC": "true", "ARM_CLIENT_ID": "c", "ARM_TENANT_ID": "t", "ARM_OIDC_REQUEST_URL": "u", "ARM_OIDC_REQUEST_TOKEN": "r"},
			map[string]string{"AAD_LOGIN_METHOD": "workloadidentity", "AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t", "ACTIONS_ID_TOKEN_REQUEST_URL": "u", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "r"},
		},
		"GitHub itself": {
			map[string]string{"ARM_USE_OIDC": "true", "ARM_CLIENT_ID": "c", "ARM_TENANT_ID": "t", "ACTIONS_ID_TOKEN_REQUEST_URL": "u", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "r"},
			map[string]string{"AAD_LOGIN_METHOD": "workloadidentity", "AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t"},
		},
		"Azure DevOps": {
			map[string]string{
				"ARM_USE_OIDC": "true", "ARM_CLIENT_ID": "c", "ARM_TENANT_ID": "t", "ARM_OIDC_TOKEN": "x", "SYSTEM_OIDCREQUESTURI": "u", "SYSTEM_ACCESSTOKEN": "a",
				"AZURESUBSCRIPTION_SERVICE_CONNECTION_ID": "s",
			},
			map[string]string{"AAD_LOGIN_METHOD": "azurepipelines", "AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.DeepEqual(t, LoginEnv(func(key string) string { return test.env[key] }), test.want)
		})
	}
}

const (
	subscription = "00000000-0000-4000-8000-000000000001"
	tenant       = "00000000-0000-4000-8000-00000000000a"
)

// demo is a cluster in the subscription.
func demo() *config.Cluster {
	return &config.Cluster{Name: "demo", Cloud: config.Cloud{Provider: config.Azure, Region: "germanywestcentral", Account: subscription, Tenant: tenant}}
}

// profile is what `az login` leaves, with the mark that the CLI writes first.
const profile = "\ufeff" + `{"subscriptions": [{"id": "` + subscription + `", "tenantId": "` + tenant + `", "user": {"name": "ada@example.com", "type": "user"}}]}`

func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o700)) //nolint:gosec // one is a program
		return path
	}
	token := write("token", "x")
	write("azure/azureProfile.json", profile)
	write("other/azureProfile.json", `{"subscriptions": []}`)
	write("broken/azureProfile.json", "{")
	write("bin/az", "#!/bin/sh\n")
	with := func(all ...map[string]string) map[string]string {
		out := map[string]string{"PATH": filepath.Join(dir, "bin")}
		for _, m := range all {
			maps.Copy(out, m)
		}
		return out
	}
	cli := func(name string) map[string]string {
		return map[string]string{"AZURE_CONFIG_DIR": filepath.Join(dir, name)}
	}
	oidc := map[string]string{"ARM_USE_OIDC": "true", "ARM_CLIENT_ID": "c", "ARM_TENANT_ID": tenant}
	devops := map[string]string{"SYSTEM_OIDCREQUESTURI": "x", "SYSTEM_ACCESSTOKEN": "x", "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID": "x"}
	secret := map[string]string{"ARM_CLIENT_ID": "c", "ARM_CLIENT_SECRET": "s", "ARM_TENANT_ID": tenant}
	for _, test := range []struct {
		name    string
		env     map[string]string
		level   preflight.Level
		message string
	}{
		{"az login", with(cli("azure")), preflight.OK, "the sign-on of ada@example.com with the Azure CLI"},
		{"az login to another", with(cli("other")), preflight.Fail, "the sign-on of the Azure CLI does not have the subscription " + subscription},
		{"a broken sign-on", with(cli("broken")), preflight.Fail, "the sign-on of the Azure CLI cannot be read: unexpected end of JSON input"},
		{"no az", with(cli("azure"), map[string]string{"PATH": dir}), preflight.Fail, "the environment has none, and az is not in PATH"},
		{"nobody is signed in", with(cli("none")), preflight.Fail, "the environment has none, and nobody is signed in with the Azure CLI"},
		{"a token in a file", with(oidc, map[string]string{"ARM_OIDC_TOKEN_FILE_PATH": token}), preflight.OK, "workload identity, by the token in a file"},
		{"a file that is not there", with(oidc, map[string]string{"ARM_OIDC_TOKEN_FILE_PATH": token + "x"}), preflight.Fail, "workload identity, whose token cannot be read: stat " + token + "x: no such file or directory"},
		{"a token of the environment", with(oidc, map[string]string{"ARM_OIDC_TOKEN": "x"}), preflight.Fail, "workload identity, by a token of the environment, which ends within minutes: kubelogin does not read it, and gets no token for the Kubernetes API"},
		{"a token of the environment, and a login of kubelogin's", with(oidc, map[string]string{"ARM_OIDC_TOKEN": "x", "AAD_LOGIN_METHOD": "azurecli"}), preflight.Warn, "workload identity, by a token of the environment, which ends within minutes"},
		{"a token of the environment, and a file", with(oidc, map[string]string{"ARM_OIDC_TOKEN": "x", "ARM_OIDC_TOKEN_FILE_PATH": token}), preflight.Warn, "workload identity, by a token of the environment, which ends within minutes"},
		{"a token in Azure DevOps", with(oidc, devops, map[string]string{"ARM_OIDC_TOKEN": "x"}), preflight.Warn, "workload identity, by a token of the environment, which ends within minutes"},
		{"no token in Azure DevOps", with(oidc, devops, map[string]string{"ARM_OIDC_REQUEST_URL": "x", "ARM_OIDC_REQUEST_TOKEN": "x"}), preflight.Fail, "workload identity in a pipeline of Azure DevOps: the provider of Azure cannot ask it for a token"},
		{"the tokens of a pipeline", with(oidc, map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": "x", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x"}), preflight.OK, "workload identity, by the tokens of the pipeline"},
		{"workload identity, no token", with(oidc), preflight.Fail, "workload identity by ARM_USE_OIDC, without a token"},
		{"workload identity, no client", map[string]string{"ARM_USE_OIDC": "true"}, preflight.Fail, "workload identity by ARM_USE_OIDC, without ARM_CLIENT_ID"},
		{"a secret", with(secret), preflight.OK, "the service principal c of the environment"},
		{"a secret, no tenant", map[string]string{"ARM_CLIENT_ID": "c", "ARM_CLIENT_SECRET": "s"}, preflight.Fail, "a service principal of the environment, without ARM_TENANT_ID"},
		{"a secret, no client", map[string]string{"ARM_CLIENT_SECRET": "s"}, preflight.Fail, "a service principal of the environment, without ARM_CLIENT_ID"},
		{"a certificate", with(secret, map[string]string{"ARM_CLIENT_CERTIFICATE_PATH": dir + "/none"}), preflight.Fail, "a service principal, whose certificate cannot be read: stat " + dir + "/none: no such file or directory"},
		{"a managed identity", map[string]string{"ARM_USE_MSI": "true"}, preflight.OK, "the managed identity of this machine, which renews itself"},
		{"another tenant", with(secret, map[string]string{"ARM_TENANT_ID": "other"}), preflight.Fail, "ARM_TENANT_ID is other, and the cluster is for " + tenant},
		{"a code for a person", with(secret, map[string]string{"AAD_LOGIN_METHOD": "devicecode"}), preflight.Fail, "AAD_LOGIN_METHOD is devicecode: kubelogin would ask a person for a code or a password"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Cloud{}.Credentials(demo(), func(key string) string { return test.env[key] }, time.Time{})
			assert.Equal(t, got.Level, test.level, got.Message)
			assert.Equal(t, got.Message, test.message)
			assert.Equal(t, got.Remedy == "", got.Level == preflight.OK)
		})
	}
}
