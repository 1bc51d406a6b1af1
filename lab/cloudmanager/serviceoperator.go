package cloudmanager

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// What Azure Service Operator calls what it reads and writes. Sources, of version 2.13.0 of
// https://github.com/Azure/azure-service-operator: v2/pkg/common/annotations,
// v2/pkg/genruntime and v2/internal/identity/credential_provider.go
const (
	operatorChart      = "azure-service-operator"
	operatorFinalizer  = "serviceoperator.azure.com/finalizer"
	policyAnnotation   = "serviceoperator.azure.com/reconcile-policy"
	fromAnnotation     = "serviceoperator.azure.com/credential-from"
	resourceAnnotation = "serviceoperator.azure.com/resource-id"
	namespaceSecret    = "aso-credential"
	exchangeAudience   = "api://AzureADTokenExchange"
)

// stalled is why an object is not ready, in the words of its condition. Reasons and severities
// are those of v2/pkg/genruntime/conditions and v2/internal/reconcilers/arm/error_classifier.go.
type stalled struct {
	severity, reason, message string
}

func (s *stalled) Error() string { return s.reason + ": " + s.message }

// fatal are the codes of Azure's refusals after which the operator gives up until the object
// changes.
var fatal = []string{"BadRequest", "InvalidParameter", "LocationRequired", "PropertyChangeNotAllowed", "ReservedResourceName", "SubscriptionNotFound"}

// retried are those that it tries again, whatever their status.
var retried = []string{
	"AuthorizationFailed", "Conflict", "LinkedAuthorizationFailed", "MissingSubscriptionRegistration", "NotFound", "PrincipalNotFound", "ResourceGroupNotFound", "ResourceNotFound", "ScopeLocked",
}

// stall is what becomes of an error.
func stall(err error) *stalled {
	var known *stalled
	if errors.As(err, &known) {
		return known
	}
	var refused *arm.Error
	switch {
	case !errors.As(err, &refused):
		return &stalled{"Warning", "Failed", err.Error()}
	case slices.Contains(fatal, refused.Code), refused.Status == 400 && !slices.Contains(retried, refused.Code):
		return &stalled{"Error", refused.Code, refused.Message}
	}
	return &stalled{"Warning", refused.Code, refused.Message}
}

// reconcileOperated has Azure have what an object of the operator's asks for, and takes it away
// with the object. Without the operator nothing happens.
func (w *watch) reconcileOperated(ctx context.Context, k operatedKind, key string) error {
	namespace, name, _ := strings.Cut(key, "/")
	operators, err := w.deploymentsOf(ctx, operatorChart)
	if err != nil || len(operators) == 0 {
		return err
	}
	objects := w.objects.Resource(k.resource).Namespace(namespace)
	object, err := objects.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up %s %s: %w", k.kind, key, err)
	}
	o := operated{watch: w, operatedKind: k, operator: &operators[0], object: object}
	policy := object.GetAnnotations()[policyAnnotation]
	if object.GetDeletionTimestamp() != nil {
		return release(ctx, untyped{objects}, object, operatorFinalizer, func() error {
			if policy == "skip" || policy == "detach-on-delete" {
				return nil
			}
			return o.tell(ctx, o.remove(ctx))
		})
	}
	if policy == "skip" { // which the lab does not look up in Azure
		return nil
	}
	if o.object, err = hold(ctx, untyped{objects}, object, operatorFinalizer); err != nil {
		return err
	}
	return o.tell(ctx, o.make(ctx))
}

// operated is an object that the operator works with.
type operated struct {
	*watch
	operatedKind
	operator *appsv1.Deployment
	object   *unstructured.Unstructured
	// made is the resource in Azure.
	made standin.Resource
}

// credential is whom the operator is in Azure for the object: the Secret that an annotation
// names, or that of the namespace. The operator has none of its own here.
func (o *operated) credential(ctx context.Context) (map[string][]byte, error) {
	name, named := o.object.GetAnnotations()[fromAnnotation]
	if !named {
		name = namespaceSecret
	}
	if strings.Contains(name, "/") {
		return nil, &stalled{"Warning", "SecretNotFound", fromAnnotation + " cannot contain '/'. Secret must be in same namespace as resource."}
	}
	secret, err := o.client.CoreV1().Secrets(o.object.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && named:
		return nil, &stalled{"Warning", "SecretNotFound", "credential secret not found: " + err.Error()}
	case apierrors.IsNotFound(err):
		return nil, &stalled{"Warning", "Failed", "global credential not configured, you must use either namespaced or per-resource credentials"}
	case err != nil:
		return nil, fmt.Errorf("read the credential: %w", err)
	}
	for _, key := range []string{"AZURE_SUBSCRIPTION_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_ID"} {
		if len(secret.Data[key]) == 0 {
			return nil, &stalled{"Warning", "SecretNotFound", fmt.Sprintf("credential Secret %q does not contain key %q", o.object.GetNamespace()+"/"+name, key)}
		}
	}
	return secret.Data, nil
}

// signIn gets the account as the object's identity has it, with a token of the operator's own
// service account, and the identity's subscription.
func (o *operated) signIn(ctx context.Context) (Cloud, string, error) {
	credential, err := o.credential(ctx)
	if err != nil {
		return nil, "", err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{exchangeAudience}}}
	account := o.operator.Spec.Template.Spec.ServiceAccountName
	token, err := o.client.CoreV1().ServiceAccounts(o.operator.Namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return nil, "", fmt.Errorf("get a token of service account %s/%s: %w", o.operator.Namespace, account, err)
	}
	cloud, err := o.entra(string(credential["AZURE_CLIENT_ID"]), token.Status.Token)
	if err != nil {
		return nil, "", fmt.Errorf("sign in as %s: %w", credential["AZURE_CLIENT_ID"], err)
	}
	return cloud, string(credential["AZURE_SUBSCRIPTION_ID"]), nil
}

// make has Azure have the resource.
func (o *operated) make(ctx context.Context) error {
	cloud, subscription, err := o.signIn(ctx)
	if err != nil {
		return err
	}
	inputs, id, err := o.inputs(ctx, subscription)
	if err != nil {
		return err
	}
	if own := armid.SubscriptionOf(o.maker.(*azureMaker).id); !arm.Same(armid.SubscriptionOf(id), own) {
		return &stalled{"Error", "SubscriptionNotFound", "The subscription '" + armid.SubscriptionOf(id) + "' could not be found."}
	}
	if err := o.claim(ctx, id); err != nil {
		return err
	}
	found, there := withID(cloud, o.token, id)
	if there {
		err = cloud.Update(ctx, o.token, found.ID, inputs)
	} else {
		_, err = cloud.Create(ctx, o.token, inputs)
	}
	if err != nil {
		return err
	}
	if o.made, there = withID(cloud, o.token, id); !there {
		return fmt.Errorf("look up %s in Azure: it is gone", id)
	}
	return o.export(ctx)
}

// remove deletes the resource in Azure; one that was never made is gone.
func (o *operated) remove(ctx context.Context) error {
	id := o.object.GetAnnotations()[resourceAnnotation]
	if id == "" {
		return nil
	}
	cloud, _, err := o.signIn(ctx)
	if err != nil {
		return err
	}
	found, there := withID(cloud, o.token, id)
	if !there {
		return nil
	}
	return cloud.Delete(ctx, o.token, found.ID)
}

// claim writes down where the resource is to be, before it is made.
func (o *operated) claim(ctx context.Context, id string) error {
	annotations := o.object.GetAnnotations()
	if annotations[resourceAnnotation] == id {
		return nil
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[resourceAnnotation] = id
	o.object.SetAnnotations(annotations)
	updated, err := o.objects.Resource(o.resource).Namespace(o.object.GetNamespace()).Update(ctx, o.object, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("write down where it is: %w", err)
	}
	o.object = updated
	return nil
}

// withID is the resource of a type with an id.
func withID(cloud Cloud, token, id string) (standin.Resource, bool) {
	all := cloud.Find(token, nil)
	if i := slices.IndexFunc(all, func(r standin.Resource) bool { return arm.Same(r.ID, id) }); i >= 0 {
		return all[i], true
	}
	return standin.Resource{}, false
}

// tell writes into the object's status what became of it and what Azure has, where that is
// new. It returns what is to be tried again.
func (o *operated) tell(ctx context.Context, failed error) error {
	going := o.object.GetDeletionTimestamp() != nil
	if going && failed == nil {
		return nil
	}
	had, _, _ := unstructured.NestedMap(o.object.Object, "status")
	status := standin.Props(had).Clone()
	if o.made.ID != "" {
		status = o.status(o.made)
	}
	ready := condition(readyCondition, "Succeeded")
	delete(ready, "message")
	if failed != nil {
		why := stall(failed)
		ready["status"], ready["severity"], ready["reason"], ready["message"] = "False", why.severity, why.reason, why.message
		if why.severity == "Error" && !going {
			failed = nil
		}
	}
	ready["observedGeneration"] = o.object.GetGeneration()
	for _, old := range standin.Props(had).Objects("conditions") {
		if old.Str("status") == ready["status"] {
			ready["lastTransitionTime"] = old["lastTransitionTime"]
		}
	}
	status["conditions"] = []any{ready}
	if reflect.DeepEqual(map[string]any(status), had) {
		return failed
	}
	o.object.Object["status"] = map[string]any(status)
	_, err := o.objects.Resource(o.resource).Namespace(o.object.GetNamespace()).UpdateStatus(ctx, o.object, metav1.UpdateOptions{})
	if err != nil {
		err = fmt.Errorf("write the status: %w", err)
	}
	return errors.Join(failed, err)
}
