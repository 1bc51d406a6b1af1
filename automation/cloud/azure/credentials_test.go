package azure

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/automation/preflight"
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
	} {
		t.Run(name, func(t *testing.T) {
			assert.DeepEqual(t, LoginEnv(func(key string) string { return test.env[key] }), test.want)
		})
	}
}

func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	for _, file := range []string{token, filepath.Join(dir, "azureProfile.json")} {
		assert.NilError(t, os.WriteFile(file, []byte("{}"), 0o600))
	}
	oidc := map[string]string{"ARM_USE_OIDC": "true", "ARM_CLIENT_ID": "c", "ARM_TENANT_ID": "t"}
	with := func(more map[string]string) map[string]string {
		out := map[string]string{}
		for _, m := range []map[string]string{oidc, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	for name, test := range map[string]struct {
		env  map[string]string
		want preflight.Level
	}{
		"az login":                     {map[string]string{"AZURE_CONFIG_DIR": dir}, preflight.OK},
		"nobody is signed in":          {map[string]string{"AZURE_CONFIG_DIR": filepath.Join(dir, "none")}, preflight.Fail},
		"a token in a file":            {with(map[string]string{"ARM_OIDC_TOKEN_FILE_PATH": token}), preflight.OK},
		"a file that is not there":     {with(map[string]string{"ARM_OIDC_TOKEN_FILE_PATH": token + "x"}), preflight.Fail},
		"a token of the environment":   {with(map[string]string{"ARM_OIDC_TOKEN": "x"}), preflight.Warn},
		"the tokens of a pipeline":     {with(map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": "x"}), preflight.OK},
		"workload identity, no token":  {oidc, preflight.Fail},
		"workload identity, no client": {map[string]string{"ARM_USE_OIDC": "true"}, preflight.Fail},
		"no tenant":                    {map[string]string{"ARM_CLIENT_ID": "c", "ARM_CLIENT_SECRET": "s"}, preflight.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			got := Cloud{}.Credentials(nil, func(key string) string { return test.env[key] }, time.Time{})
			assert.Equal(t, got.Level, test.want, "%+v", got)
		})
	}
}
