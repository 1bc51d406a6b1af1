package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/authorization"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/resourcemanager"
	"tombolo/lab/standin"
)

const endpoint = "https://management.azure.com"

// asker asks a tenant's API.
type asker struct {
	*world
	api    http.Handler
	token  string
	header http.Header
}

func (w *world) asker() *asker {
	w.T.Helper()
	found, err := w.Invoke("azure-native:authorization:getClientToken", nil)
	assert.NilError(w.T, err)
	return &asker{world: w, api: resourcemanager.New(w.Cloud, resourcemanager.Options{}), token: found.Str("token")}
}

// ask sends a request, and returns the status and the answer.
func (a *asker) ask(method, path, query string) (int, props) {
	a.T.Helper()
	request := httptest.NewRequestWithContext(a.T.Context(), method, endpoint+path+"?api-version=2024-01-01&"+query, nil)
	request.Header.Set("Authorization", "Bearer "+a.token)
	recorder := httptest.NewRecorder()
	a.api.ServeHTTP(recorder, request)
	a.header = recorder.Header()
	answer := props{}
	if body := recorder.Body.Bytes(); len(body) > 0 {
		assert.NilError(a.T, json.Unmarshal(body, &answer), "%s", body)
	}
	return recorder.Code, answer
}

func (a *asker) get(path, query string) props {
	a.T.Helper()
	status, answer := a.ask(http.MethodGet, path, query)
	assert.Equal(a.T, status, http.StatusOK, "%s: %v", path, answer)
	return answer
}

// list are the elements of a list, by one of their properties.
func (a *asker) list(path, query, property string) map[string]props {
	a.T.Helper()
	found, values := map[string]props{}, a.get(path, query)["value"].([]any)
	for _, value := range values {
		name := props(value.(map[string]any))
		found[name.Str(property)] = name
	}
	return found
}

func (a *asker) refused(method, path string, status int, want string) {
	a.T.Helper()
	got, answer := a.ask(method, path, "")
	text := fmt.Sprintf("%s: %s", answer.Sub("error").Str("code"), answer.Sub("error").Str("message"))
	assert.Check(a.T, got == status && strings.Contains(text, want), "%s %s: %d %s", method, path, got, text)
}

const ofSubscription = "/subscriptions/" + arm.Subscription

func TestAPITellsFacts(t *testing.T) {
	a := newWorld(t).asker()
	assert.Equal(t, a.get(ofSubscription, "").Str("tenantId"), arm.Tenant)
	assert.Equal(t, a.get(ofSubscription, "").Str("state"), "Enabled")
	assert.Check(t, len(a.list("/subscriptions", "", "subscriptionId")) == 1)
	assert.Check(t, a.list(ofSubscription+"/locations", "", "name")[arm.Location] != nil)
	permissions := a.list(ofSubscription+"/providers/Microsoft.Authorization/permissions", "", "")[""]
	assert.DeepEqual(t, permissions["actions"], []any{"*"})
	onSubnet := a.get(network.TeamSubnetID+"/providers/Microsoft.Authorization/permissions", "")["value"].([]any)
	assert.Equal(t, len(onSubnet), 3)
	assert.DeepEqual(t, onSubnet[1].(map[string]any)["actions"], []any{"Microsoft.Network/virtualNetworks/subnets/read", "Microsoft.Network/virtualNetworks/subnets/join/action"})
	assigned := a.list(ofSubscription+"/providers/Microsoft.Authorization/roleAssignments", "$filter="+url.QueryEscape("principalId eq '"+a.control.Out.Str("principalId")+"'"), "id")
	assert.Equal(t, len(assigned), 3) // on the subnet and the kubelet's identity, and by AKS on the group of the nodes
	a.refused(http.MethodGet, "/subscriptions/"+arm.NetworkSubscription+"/providers/Microsoft.Authorization/roleAssignments", 403, "AuthorizationFailed")

	sizes := a.list(ofSubscription+"/providers/Microsoft.Compute/skus", "$filter="+url.QueryEscape("location eq '"+arm.Location+"'"), "name")
	assert.Equal(t, sizes["Standard_D4ads_v5"].Str("family"), "standardDADSv5Family")
	assert.DeepEqual(t, sizes["Standard_D4ads_v5"].Objects("locationInfo")[0].List("zones"), []string{"1", "2", "3"})
	usages := func(provider string) map[string]int {
		found := map[string]int{}
		for _, value := range a.get(ofSubscription+"/providers/"+provider+"/locations/"+arm.Location+"/usages", "")["value"].([]any) {
			u := props(value.(map[string]any))
			found[u.Sub("name").Str("value")] = int(u["currentValue"].(float64))
		}
		return found
	}
	cores := usages("Microsoft.Compute") // two nodes of the system pool with 2 vCPUs each, and one with 4
	assert.Check(t, cores["cores"] == 8 && cores["standardDSv5Family"] == 8 && cores["lowPriorityCores"] == 0, "%v", cores)
	assert.Equal(t, usages("Microsoft.Network")["VirtualNetworks"], 1)

	versions := map[string]bool{}
	for _, value := range a.get(ofSubscription+"/providers/Microsoft.ContainerService/locations/"+arm.Location+"/kubernetesVersions", "")["values"].([]any) {
		v := props(value.(map[string]any))
		plans := v.Sub("capabilities")["supportPlan"].([]any)
		versions[v.Str("version")] = slices.Contains(plans, any("KubernetesOfficial"))
	}
	assert.DeepEqual(t, versions, map[string]bool{"1.32": false, "1.33": false, "1.34": true, "1.35": true, "1.36": true})
}

func TestAPITellsUpgrades(t *testing.T) {
	w := newWorld(t)
	a := w.asker()
	profile := a.get(w.cluster.ID+"/upgradeProfiles/default", "").Sub("properties")
	plane := profile.Sub("controlPlaneProfile")
	assert.Equal(t, plane.Str("kubernetesVersion"), "1.34.9")
	var to []string
	for _, u := range plane["upgrades"].([]any) {
		to = append(to, props(u.(map[string]any)).Str("kubernetesVersion"))
	}
	assert.DeepEqual(t, to, []string{"1.35.5", "1.35.4"})
	pools := profile["agentPoolProfiles"].([]any)
	assert.Check(t, len(pools) > 0 && props(pools[0].(map[string]any)).Str("kubernetesVersion") != "", "%v", pools)
	a.refused(http.MethodGet, w.cluster.ID+"x/upgradeProfiles/default", http.StatusNotFound, "ResourceNotFound: ")
}

func TestAPIRegistersProviders(t *testing.T) {
	a := newWorld(t).asker()
	path := ofSubscription + "/providers/Microsoft.ContainerService"
	assert.NilError(t, arm.Unregister(a.Cloud, arm.Subscription, "Microsoft.ContainerService"))
	assert.Equal(t, a.get(path, "").Str("registrationState"), "NotRegistered")
	status, answer := a.ask(http.MethodPost, path+"/register", "")
	assert.Equal(t, status, http.StatusOK, "%v", answer)
	assert.Equal(t, a.get(path, "").Str("registrationState"), "Registered")
}

func TestAPIFindsByTag(t *testing.T) {
	w := newWorld(t)
	a := w.asker()
	a.Make(managedidentity.IdentityType, "tagged", a.inGroup(props{"resourceName": "tagged", "tags": map[string]any{"owner": "it's me"}}))
	filter := "$filter=" + url.QueryEscape("tagName eq 'owner' and tagValue eq 'it''s me'")
	found := a.list(ofSubscription+"/resources", filter, "name")
	assert.Check(t, len(found) == 1 && found["tagged"] != nil && !found["tagged"].Has("tags"), "%v", found)
	assert.Check(t, len(a.list(ofSubscription+"/resourcegroups", filter, "name")) == 0)
	groups := a.list(ofSubscription+"/resourcegroups", "", "name")
	assert.Check(t, len(groups) == 2 && groups[demo] != nil && groups["demo-nodes"].Sub("tags").Has("aks-managed-cluster-name"), "%v", groups)
	within := a.list(ofSubscription+"/resourceGroups/"+strings.ToUpper(demo)+"/resources", "", "name")
	assert.NilError(t, w.Update(w.cluster, props{"tags": map[string]any{"team": "b"}}))
	tags := a.list(ofSubscription+"/resourcegroups", "", "name")["demo-nodes"].Sub("tags")
	assert.DeepEqual(t, tags, props{"team": "b", "aks-managed-cluster-name": demo, "aks-managed-cluster-rg": demo})
	assert.Equal(t, within["tagged"].Sub("tags").Str("owner"), "it's me")
	one := a.get(strings.ToUpper(found["tagged"].Str("id")), "")
	assert.Check(t, one.Str("name") == "tagged" && one.Sub("properties").Str("principalId") != "", "%v", one)
}

func TestAPIDeletes(t *testing.T) {
	w := newWorld(t)
	a := w.asker()
	made := a.Make(managedidentity.IdentityType, "leftover", a.inGroup(props{"resourceName": "leftover"}))
	for _, want := range []int{http.StatusOK, http.StatusNoContent} {
		status, answer := a.ask(http.MethodDelete, made.ID, "")
		assert.Equal(t, status, want, "%v", answer)
	}
	a.refused(http.MethodGet, made.ID, http.StatusNotFound, "ResourceNotFound: The Resource 'Microsoft.ManagedIdentity/userAssignedIdentities/leftover'")
}

func TestAPIGoesOnAfterItsAnswer(t *testing.T) {
	w := newWorld(t)
	a := w.asker()
	group := a.Make(arm.GroupType, "slow", props{"resourceGroupName": "slow", "location": arm.Location})
	a.Cloud.LatencyScale = 0.03 // of a minute
	status, _ := a.ask(http.MethodDelete, group.ID, "")
	assert.Equal(t, status, http.StatusAccepted)
	at, _ := strings.CutPrefix(a.header.Get("Azure-AsyncOperation"), endpoint)
	path, _, _ := strings.Cut(at, "?")
	a.Eventually("the operation ends", func() bool { return a.get(path, "").Str("status") == "Succeeded" })
	a.refused(http.MethodGet, group.ID, http.StatusNotFound, "ResourceGroupNotFound: Resource group 'slow' could not be found.")
	a.refused(http.MethodDelete, group.ID, http.StatusNotFound, "ResourceGroupNotFound: ")
}

func TestAPIRefuses(t *testing.T) {
	w := newWorld(t)
	a := w.asker()
	a.refused(http.MethodGet, "/subscriptions/"+arm.Tenant, http.StatusNotFound, "SubscriptionNotFound: ")
	a.refused(http.MethodGet, ofSubscription+"/providers/Microsoft.Nothing", http.StatusNotFound, "InvalidResourceNamespace: ")
	a.refused(http.MethodGet, ofSubscription+"/resourceGroups/none/resources", http.StatusNotFound, "ResourceGroupNotFound: ")
	a.refused(http.MethodGet, "/subscriptions/"+arm.NetworkSubscription, http.StatusForbidden, "AuthorizationFailed: ")
	a.refused(http.MethodDelete, network.TeamRouteTableID, http.StatusForbidden, "AuthorizationFailed: ")

	stranger, err := authorization.Token(a.Cloud, arm.Tenant, arm.Tenant, endpoint)
	assert.NilError(t, err)
	a.token = stranger
	a.refused(http.MethodGet, ofSubscription, http.StatusForbidden, "AuthorizationFailed: ")
	assert.Check(t, len(a.list(ofSubscription+"/resourcegroups", "", "id")) == 0)
	a.token += "x"
	a.refused(http.MethodGet, ofSubscription, http.StatusUnauthorized, "InvalidAuthenticationToken: ")
	recorder := httptest.NewRecorder()
	a.api.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, endpoint+ofSubscription, nil))
	assert.Check(t, recorder.Code == http.StatusUnauthorized && strings.Contains(recorder.Body.String(), "AuthenticationFailed"), recorder.Body)
}

// TestAPIMeetsFaults: a question goes wrong as often as somebody asked for, and its answer may be
// lost after what was asked has been done.
func TestAPIMeetsFaults(t *testing.T) {
	a := newWorld(t).asker()
	fault := func(kind standin.FaultKind, question string) {
		t.Helper()
		_, err := a.Cloud.AddFault(standin.Fault{Kind: kind, Operation: standin.OpAsk, Type: question, Delay: time.Millisecond})
		assert.NilError(t, err)
	}
	fault(standin.FaultThrottled, "subscription")
	a.refused(http.MethodGet, ofSubscription, 429, "SubscriptionRequestsThrottled: Number of 'read' requests")
	assert.Equal(t, a.header.Get("Retry-After"), "17")
	a.get(ofSubscription, "")
	fault(standin.FaultServerError, "*")
	a.refused(http.MethodGet, ofSubscription+"/locations", 503, "ServerTimeout: The request timed out.")
	fault(standin.FaultSlow, "locations")
	a.get(ofSubscription+"/locations", "")

	fault(standin.FaultAnswerLost, "delete")
	func() {
		defer func() { assert.Equal(t, recover(), http.ErrAbortHandler) }()
		a.ask(http.MethodDelete, a.control.ID, "")
	}()
	assert.Check(t, !slices.ContainsFunc(a.Cloud.Faults(), func(standin.Fault) bool { return true }))
	_, err := a.Cloud.AddFault(standin.Fault{Kind: standin.FaultQuota, Operation: standin.OpAsk, Type: "*"})
	assert.ErrorContains(t, err, "quota cannot happen to")
	_, err = a.Cloud.AddFault(standin.Fault{Kind: standin.FaultSlow, Operation: standin.OpAsk, Type: "locaton"})
	assert.ErrorContains(t, err, "did you mean location")
}
