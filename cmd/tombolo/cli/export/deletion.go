package export

import (
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/config"
	"tombolo/stacks"
)

// The operator destroys a Stack as soon as its object is deleted, whatever else
// there is: prerequisites count for updates alone. The order of a destruction is
// kept by the API server instead: a policy refuses to delete an object while
// another one, its parameter, is there.

const policyName = "tombolo-deletion-order"

// deletionPolicy refuses to delete a Stack while the binding's parameter exists.
func deletionPolicy() *admissionv1.ValidatingAdmissionPolicy {
	fail, invalid := admissionv1.Fail, metav1.StatusReasonInvalid
	return &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			ParamKind:     &admissionv1.ParamKind{APIVersion: stackAPI, Kind: stackKind},
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: deletionOfStacks(),
			}}},
			Validations: []admissionv1.Validation{{
				Expression:        "false",
				MessageExpression: `"delete Stack " + params.metadata.name + " first, and wait until it is gone: what it made is still there"`,
				Reason:            &invalid,
			}},
		},
	}
}

// deletionBindings keep core until bootstrap is gone, and a hub's bootstrap until
// the bootstraps of its spokes are.
func (o *OperatorOptions) deletionBindings(c *config.Cluster, all map[string]*config.Cluster) []any {
	bootstrap := stacks.Name(c.Name, stacks.Bootstrap)
	out := []any{o.deletionBinding(stacks.Name(c.Name, stacks.Core), bootstrap)}
	if hub := all[c.Hub()]; hub != nil && c.IsSpoke() {
		out = append(out, o.deletionBinding(stacks.Name(hub.Name, stacks.Bootstrap), bootstrap))
	}
	return out
}

// deletionBinding keeps a Stack until another one is gone.
func (o *OperatorOptions) deletionBinding(kept, until string) *admissionv1.ValidatingAdmissionPolicyBinding {
	allow := admissionv1.AllowAction
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%s.%s", o.Namespace, kept, until)},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policyName,
			ParamRef:   &admissionv1.ParamRef{Name: until, Namespace: o.Namespace, ParameterNotFoundAction: &allow},
			MatchResources: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": o.Namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{
					ResourceNames: []string{kept}, RuleWithOperations: deletionOfStacks(),
				}},
			},
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
}

func deletionOfStacks() admissionv1.RuleWithOperations {
	namespaced := admissionv1.NamespacedScope
	return admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Delete},
		Rule: admissionv1.Rule{
			APIGroups: []string{"pulumi.com"}, APIVersions: []string{"v1"}, Resources: []string{"stacks"}, Scope: &namespaced,
		},
	}
}
