package azure

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/keyvault"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
)

const person = "203.0.113.7"

// vaults asks the vaults of a tenant for secrets. A token names its holder, and what it is for.
type vaults struct {
	*world
	api http.Handler
}

func (w *world) vaults() vaults {
	return vaults{w, keyvault.Secrets(w.Cloud, keyvault.Options{Address: person, Caller: func(token string) (keyvault.Caller, error) {
		object, audience, found := strings.Cut(token, "|")
		if !found {
			return keyvault.Caller{}, errors.New("it is none")
		}
		return keyvault.Caller{Object: object, Application: "app-of-" + object, Audience: audience}, nil
	}})}
}

func (v vaults) send(method, host, path, authorization, body string) (*httptest.ResponseRecorder, props) {
	v.T.Helper()
	request := httptest.NewRequestWithContext(v.T.Context(), method, "https://"+host+path, strings.NewReader(body))
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	recorder := httptest.NewRecorder()
	v.api.ServeHTTP(recorder, request)
	answer := props{}
	assert.NilError(v.T, json.Unmarshal(recorder.Body.Bytes(), &answer), "%s", recorder.Body)
	return recorder, answer
}

// as asks kv-demo with a token for vaults.
func (v vaults) as(object, method, path, body string) (int, props) {
	v.T.Helper()
	recorder, answer := v.send(method, "kv-demo.vault.azure.net", path+"?api-version=7.4", "Bearer "+object+"|https://vault.azure.net", body)
	return recorder.Code, answer
}

func (v vaults) denied(object, method, path, body string, status int, inner, want string) {
	v.T.Helper()
	got, answer := v.as(object, method, path, body)
	said := answer.Sub("error")
	text := said.Str("code") + ": " + said.Str("message")
	assert.Check(v.T, got == status && said.Sub("innererror").Str("code") == inner && strings.Contains(text, want), "%s %s: %d %v", method, path, got, answer)
}

// TestSecretsOfAVault: who has a role reads and writes them, in versions, and keeps nobody else's.
func TestSecretsOfAVault(t *testing.T) {
	w := newIdentities(t)
	w.Cloud.LatencyScale = 0
	vault := w.Add(keyvault.VaultType, "vault", w.vault("kv-demo", nil))
	reader, other := w.identity("reader"), w.identity("other")
	w.assign("reads", reader, rbac.SecretsUser, vault.ID)
	w.assign("owns", other, rbac.Owner, w.group.ID)
	v, who := w.vaults(), reader.Out.Str("principalId")

	status, made := v.as(arm.ClientObject, http.MethodPut, "/secrets/App", `{"value":"one","tags":{"team":"a"}}`)
	assert.Equal(t, status, http.StatusOK, made)
	first := made.Str("id")
	assert.Check(t, is.Regexp(`^https://kv-demo\.vault\.azure\.net/secrets/App/[0-9a-f]{32}$`, first))
	v.as(arm.ClientObject, http.MethodPut, "/secrets/app", `{"value":"two"}`)
	_, found := v.as(who, http.MethodGet, "/secrets/app/", "")
	assert.Check(t, found.Str("value") == "two" && found.Str("id") != first && found.Sub("attributes").Str("recoveryLevel") == "Recoverable", "%v", found)
	_, found = v.as(who, http.MethodGet, strings.TrimPrefix(first, "https://kv-demo.vault.azure.net"), "")
	assert.Check(t, found.Str("value") == "one" && found.Sub("tags").Str("team") == "a", "%v", found)
	_, listed := v.as(who, http.MethodGet, "/secrets", "")
	all := listed.Objects("value")
	assert.Check(t, len(all) == 1 && all[0].Str("id") == "https://kv-demo.vault.azure.net/secrets/App" && all[0]["value"] == nil, "%v", listed)
	v.as(arm.ClientObject, http.MethodPut, "/secrets/off", `{"value":"x","attributes":{"enabled":false}}`)

	v.denied(who, http.MethodGet, "/secrets/none", "", 404, "", "SecretNotFound: A secret with (name/id) none was not found in this key vault.")
	v.denied(who, http.MethodGet, "/secrets/app/0123", "", 404, "", "A secret with (name/id) app/0123 was not found")
	v.denied(who, http.MethodGet, "/secrets/off", "", 403, "SecretDisabled", "Operation get is not allowed on a disabled secret.")
	v.denied(who, http.MethodPut, "/secrets/app", `{"value":"three"}`, 403, "ForbiddenByRbac", "Action: 'Microsoft.KeyVault/vaults/secrets/setSecret/action'")
	v.denied(arm.ClientObject, http.MethodPut, "/secrets/app", `{}`, 400, "", "Property value is required")
	v.denied(arm.ClientObject, http.MethodPut, "/secrets/my_app", `{"value":"x"}`, 400, "", "BadParameter: The request URI contains an invalid name: my_app")
	v.denied(arm.ClientObject, http.MethodDelete, "/secrets/app", "", 400, "", "Method DELETE does not allow operation 'secrets/app'")
	v.denied(other.Out.Str("principalId"), http.MethodGet, "/secrets/app", "", 403, "ForbiddenByRbac",
		"Resource: '"+strings.ToLower(vault.ID)+"/secrets/app'\r\nAssignment: (not found)")

	_, kept := v.as(who, http.MethodGet, "/secrets/app", "")
	assert.Equal(t, kept.Str("value"), "two", "a refused request has changed it")
}

// TestVaultsAskForTokens: without one for vaults, they tell where there are some.
func TestVaultsAskForTokens(t *testing.T) {
	w := newNetwork(t)
	vault := w.Add(keyvault.VaultType, "vault", w.vault("kv-demo", nil))
	v := w.vaults()
	const host, path = "KV-demo.vault.azure.net", "/secrets/app?api-version=7.4"
	for authorization, want := range map[string]string{
		"":            "AKV10000: Request is missing a Bearer or PoP token.",
		"Bearer none": "Error validating token: it is none",
		"Bearer " + arm.ClientObject + "|https://management.azure.com": "AKV10022: Invalid audience. Expected https://vault.azure.net, found: https://management.azure.com.",
	} {
		recorder, answer := v.send(http.MethodGet, host, path, authorization, "")
		assert.Check(t, is.Equal(recorder.Code, http.StatusUnauthorized))
		assert.Check(t, is.Equal(answer.Sub("error").Str("message"), want))
		assert.Check(t, is.Equal(recorder.Header().Get("WWW-Authenticate"),
			`Bearer authorization="https://login.windows.net/00000000-0000-4000-8000-00000000000a", resource="https://vault.azure.net"`))
	}
	token := "Bearer " + arm.ClientObject + "|https://vault.azure.net"
	_, answer := v.send(http.MethodGet, host, "/secrets/app", token, "")
	assert.Check(t, is.Equal(answer.Sub("error").Str("message"), "api-version must be specified"))

	v.as(arm.ClientObject, http.MethodPut, "/secrets/app", `{"value":"one"}`)
	assert.Check(t, keyvault.IsHost(host) && keyvault.Answers(w.Cloud, host))
	assert.NilError(t, w.Delete(vault))
	assert.Check(t, keyvault.IsHost(host) && !keyvault.Answers(w.Cloud, host))
	w.Add(keyvault.VaultType, "vault", w.vault("kv-demo", props{"createMode": "recover"}))
	_, found := v.as(arm.ClientObject, http.MethodGet, "/secrets/app", "")
	assert.Check(t, is.Equal(found.Str("value"), "one"), "the recovered vault has lost it: %v", found)
}

// TestVaultsLetInByNetwork: a pod comes by its nodes' subnet or their public address, and people by theirs.
func TestVaultsLetInByNetwork(t *testing.T) {
	w := newWorld(t)
	w.Cloud.LatencyScale = 0
	reader := w.identity("reader")
	w.Add(managedidentity.CredentialType, "trust", props{
		"resourceGroupName": demo, "resourceName": "reader", "federatedIdentityCredentialResourceName": "pods", "audiences": list("api://AzureADTokenExchange"),
		"issuer": containerservice.Issuer(w.Cloud.Get(containerservice.ClusterType, "global", w.cluster.ID)), "subject": "system:serviceaccount:a:a",
	})
	rules := func(rules props) map[string]any {
		return w.vault("kv-demo", props{"networkAcls": map[string]any(rules)})
	}
	vault := w.Add(keyvault.VaultType, "vault", rules(props{"defaultAction": "Deny"}))
	w.assign("reads", reader, rbac.SecretsUser, vault.ID)
	v, who := w.vaults(), reader.Out.Str("principalId")
	const put = `{"value":"one"}`
	v.denied(arm.ClientObject, http.MethodPut, "/secrets/app", put, 403, "ForbiddenByFirewall", "Client address: "+person+"\r\n")
	v.denied(who, http.MethodGet, "/secrets/app", "", 403, "ForbiddenByFirewall", "Client address: "+w.ip.Out.Str("ipAddress")+"\r\n")

	assert.NilError(t, w.Update(vault, rules(props{"defaultAction": "Deny", "ipRules": list(map[string]any{"value": "203.0.113.6/31"})})))
	status, answer := v.as(arm.ClientObject, http.MethodPut, "/secrets/app", put)
	assert.Equal(t, status, http.StatusOK, answer)
	if w.ip.Out.Str("ipAddress") != person {
		v.denied(who, http.MethodGet, "/secrets/app", "", 403, "ForbiddenByFirewall", "caller is not a trusted service")
	}

	assert.NilError(t, w.Update(w.subnet, props{
		"resourceGroupName": demo, "virtualNetworkName": demo, "subnetName": "demo-nodes", "addressPrefix": "10.1.0.0/20",
		"natGateway": map[string]any{"id": w.gateway.ID}, "serviceEndpoints": list(map[string]any{"service": "Microsoft.KeyVault"}),
	}))
	assert.NilError(t, w.Update(vault, rules(props{"defaultAction": "Deny", "virtualNetworkRules": list(map[string]any{"id": w.subnet.ID})})))
	_, found := v.as(who, http.MethodGet, "/secrets/app", "")
	assert.Check(t, is.Equal(found.Str("value"), "one"))
	v.denied(arm.ClientObject, http.MethodGet, "/secrets/app", "", 403, "ForbiddenByFirewall", "Client address: "+person)
	assert.Check(t, is.Equal(network.OutboundAddress(w.Cloud, network.TeamSubnetID), network.TeamAddress))
}
