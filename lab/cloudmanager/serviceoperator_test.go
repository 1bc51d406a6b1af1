package cloudmanager

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/authorization"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// operating is the tenant with a system's identity, which may make what it wants in the group
// demo, and the operator on the cluster.
type operating struct {
	*tenant
	w *watch
	// principal of the system's identity.
	principal string
}

const operatorAccount = "azureserviceoperator-default"

func operatorDeployment(patterns string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: operatorChart, Namespace: "azureserviceoperator-system", Labels: map[string]string{"app.kubernetes.io/name": operatorChart}},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			ServiceAccountName: operatorAccount, Containers: []corev1.Container{{Args: []string{"--crd-pattern=" + patterns}}},
		}}},
	}
}

func newOperating(t *testing.T) *operating {
	t.Helper()
	a := newTenant(t)
	identity := a.make(managedidentity.IdentityType, map[string]any{"resourceGroupName": "demo", "location": arm.Location, "resourceName": "shop"})
	o := &operating{tenant: a, principal: identity.Text("principalId")}
	assert.NilError(t, authorization.Assign(a.cloud, o.principal, rbac.Contributor, armid.Group(arm.Subscription, "demo")))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: namespaceSecret, Namespace: "shop"}, Data: map[string][]byte{
		"AZURE_CLIENT_ID": []byte(identity.Text("clientId")), "AZURE_TENANT_ID": []byte(arm.Tenant), "AZURE_SUBSCRIPTION_ID": []byte(arm.Subscription),
	}}
	client := fake.NewClientset(secret, operatorDeployment("resources.azure.com/*;managedidentity.azure.com/UserAssignedIdentity"))
	client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create := action.(clienttesting.CreateActionImpl)
		request := create.Object.(*authenticationv1.TokenRequest)
		request.Status.Token = create.Namespace + "/" + create.Name + " for " + strings.Join(request.Spec.Audiences, " ")
		return true, request, nil
	})
	kinds := map[schema.GroupVersionResource]string{definitions: "CustomResourceDefinitionList"}
	for _, k := range operatedKinds {
		kinds[k.resource] = k.kind + "List"
	}
	o.w = a.watching()
	o.w.clients = clients{client: client, objects: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)}
	o.w.entra = func(id, assertion string) (Cloud, error) {
		defer a.cloud.Lock()()
		found := managedidentity.ByClient(a.cloud, id)
		if found == nil || assertion != "azureserviceoperator-system/"+operatorAccount+" for api://AzureADTokenExchange" {
			return nil, errors.New("AADSTS700016: there is no such application")
		}
		return a.client.As(found.Outputs.Str("principalId")), nil
	}
	return o
}

// apply makes an object, or gives it this spec and these annotations, and reconciles it twice.
func (o *operating) apply(kind, name string, annotations map[string]string, spec map[string]any) props {
	o.t.Helper()
	k, known := kindNamed(kind)
	assert.Assert(o.t, known)
	objects := o.w.objects.Resource(k.resource).Namespace("shop")
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": k.resource.GroupVersion().String(), "kind": kind, "spec": spec}}
	object.SetName(name)
	object.SetNamespace("shop")
	object.SetUID(types.UID(kind + "/" + name))
	had, err := objects.Get(o.t.Context(), name, metav1.GetOptions{})
	if err == nil {
		had.Object["spec"] = spec
		_, err = objects.Update(o.t.Context(), had, metav1.UpdateOptions{})
	} else {
		object.SetAnnotations(annotations)
		_, err = objects.Create(o.t.Context(), object, metav1.CreateOptions{})
	}
	assert.NilError(o.t, err)
	for range 2 { // once more changes nothing
		_ = o.w.reconcileOperated(o.t.Context(), k, "shop/"+name) // the condition says it
	}
	return o.get(k, name)
}

type props = standin.Props

func (o *operating) get(k operatedKind, name string) props {
	o.t.Helper()
	object, err := o.w.objects.Resource(k.resource).Namespace("shop").Get(o.t.Context(), name, metav1.GetOptions{})
	assert.NilError(o.t, err)
	return object.Object
}

// ready is the condition of an object: its status, severity, reason and message.
func ready(object props) string {
	all := object.Sub("status").Objects("conditions")
	if len(all) != 1 {
		return "no condition"
	}
	c := all[0]
	return strings.Join(strings.Fields(c.Str("status")+" "+c.Str("severity")+" "+c.Str("reason")+" "+c.Str("message")), " ")
}

// remove deletes an object as far as its finalizer lets it, and says whether that is gone.
func (o *operating) remove(kind, name string) (released bool, _ error) {
	o.t.Helper()
	k, _ := kindNamed(kind)
	objects := o.w.objects.Resource(k.resource).Namespace("shop")
	object, err := objects.Get(o.t.Context(), name, metav1.GetOptions{})
	assert.NilError(o.t, err)
	now := metav1.Now()
	object.SetDeletionTimestamp(&now)
	_, err = objects.Update(o.t.Context(), object, metav1.UpdateOptions{})
	assert.NilError(o.t, err)
	failed := o.w.reconcileOperated(o.t.Context(), k, "shop/"+name)
	object, err = objects.Get(o.t.Context(), name, metav1.GetOptions{})
	return err != nil || len(object.GetFinalizers()) == 0, failed
}

func (o *operating) has(name string) bool {
	for _, r := range o.client.Find(managedidentity.IdentityType, nil) {
		if r.Text("name") == name {
			return true
		}
	}
	return false
}

const resourceGroup, identityKind = "ResourceGroup", "UserAssignedIdentity"

func inDemo(change props) map[string]any {
	return standin.Merged(props{"location": arm.Location, "owner": map[string]any{"armId": armid.Group(arm.Subscription, "demo")}}, change)
}

// TestOperatorMakesWhatTheSystemMay: an object becomes a resource of the system's identity, and
// goes with it.
func TestOperatorMakesWhatTheSystemMay(t *testing.T) {
	o := newOperating(t)
	made := o.apply(identityKind, "api", nil, inDemo(props{"azureName": "shop-api", "tags": map[string]any{"team": "a"}}))
	assert.Equal(t, ready(made), "True Succeeded")
	assert.Check(t, is.DeepEqual(made.Sub("metadata")["finalizers"], []any{operatorFinalizer}))
	id := armid.Group(arm.Subscription, "demo") + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/shop-api"
	assert.Check(t, is.Equal(made.Sub("metadata").Sub("annotations").Str(resourceAnnotation), id))
	assert.Check(t, arm.Same(made.Sub("status").Str("id"), id) && made.Sub("status").Str("clientId") != "", "%v", made)
	changed := o.apply(identityKind, "api", nil, inDemo(props{"azureName": "shop-api", "tags": map[string]any{"team": "b"}}))
	assert.Check(t, is.Equal(changed.Sub("status").Sub("tags").Str("team"), "b"))
	released, err := o.remove(identityKind, "api")
	assert.Check(t, released && err == nil && !o.has("shop-api"), "%v %v", released, err)

	detached := o.apply(identityKind, "kept", map[string]string{policyAnnotation: "detach-on-delete"}, inDemo(nil))
	assert.Equal(t, ready(detached), "True Succeeded")
	released, err = o.remove(identityKind, "kept")
	assert.Check(t, released && err == nil && o.has("kept"), "%v %v", released, err)
	assert.Equal(t, ready(o.apply(identityKind, "again", nil, inDemo(props{"azureName": "kept"}))), "True Succeeded", "it takes over what is there")

	skipped := o.apply(identityKind, "skipped", map[string]string{policyAnnotation: "skip"}, inDemo(nil))
	assert.Check(t, ready(skipped) == "no condition" && !o.has("skipped"))
}

// TestOperatorIsRefused: what the system's identity may not do is not done, and the condition
// says why.
func TestOperatorIsRefused(t *testing.T) {
	o := newOperating(t)
	elsewhere := map[string]any{"armId": armid.Group(arm.Subscription, "data")}
	refused := o.apply(identityKind, "api", nil, inDemo(props{"owner": elsewhere}))
	assert.Check(t, is.Contains(ready(refused), "False Warning AuthorizationFailed The client '"+arm.ClientID+"' with object id '"+o.principal+"' does not have authorization"))
	assert.Check(t, is.Contains(ready(o.apply(resourceGroup, "mine", nil, props{"location": arm.Location})),
		"over scope '"+armid.Group(arm.Subscription, "mine")+"'"))
	assert.Check(t, is.Contains(ready(o.apply(identityKind, "bad", nil, inDemo(props{"azureName": "a b"}))), "False Error InvalidResourceName"))
	assert.Check(t, is.Equal(ready(o.apply(identityKind, "waits", nil, inDemo(props{"owner": map[string]any{"name": "mine"}}))),
		`False Warning WaitingForOwner Owner "mine, Group/Kind: resources.azure.com/ResourceGroup" cannot be found. Progress is blocked until the owner is created.`))
	assert.Check(t, is.Contains(ready(o.apply(identityKind, "other", map[string]string{fromAnnotation: "none"}, inDemo(nil))), "False Warning SecretNotFound"))
	assert.Check(t, is.Contains(ready(o.apply(identityKind, "far", map[string]string{fromAnnotation: "blog/aso-credential"}, inDemo(nil))), "Secret must be in same namespace"))

	// A group of its own, and what is in it.
	assert.NilError(t, authorization.Assign(o.cloud, o.principal, rbac.Contributor, "/subscriptions/"+arm.Subscription))
	assert.Equal(t, ready(o.apply(resourceGroup, "mine", nil, props{"location": arm.Location})), "True Succeeded")
	within := o.apply(identityKind, "waits", nil, inDemo(props{"owner": map[string]any{"name": "mine"}}))
	assert.Equal(t, ready(within), "True Succeeded")
	assert.Check(t, is.Equal(within.Sub("metadata").Objects("ownerReferences")[0].Str("name"), "mine"))

	// Without its credential, it deletes nothing, and the object stays.
	assert.NilError(t, o.w.client.CoreV1().Secrets("shop").Delete(t.Context(), namespaceSecret, metav1.DeleteOptions{}))
	released, err := o.remove(identityKind, "waits")
	assert.Check(t, !released && o.has("waits"))
	assert.ErrorContains(t, err, "global credential not configured")
	kind, _ := kindNamed(identityKind)
	assert.Check(t, is.Contains(ready(o.get(kind, "waits")), "False Warning Failed global credential not configured"))
}

// TestOperatorHasItsKinds: those of its patterns, while it is there.
func TestOperatorHasItsKinds(t *testing.T) {
	o := newOperating(t)
	for range 2 {
		assert.NilError(t, o.w.reconcileOperator(t.Context(), operatorDeployment("storage.azure.com/*;resources.azure.com/*")))
	}
	list, err := o.w.objects.Resource(definitions).List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(list.Items, 1))
	assert.Check(t, is.Equal(list.Items[0].GetName(), "resourcegroups.resources.azure.com"))

	assert.NilError(t, o.w.client.AppsV1().Deployments("azureserviceoperator-system").Delete(t.Context(), operatorChart, metav1.DeleteOptions{}))
	assert.Equal(t, ready(o.apply(identityKind, "api", nil, inDemo(nil))), "no condition")
	assert.Check(t, !o.has("api"))
}
