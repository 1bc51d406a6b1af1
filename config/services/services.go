// Package services has the parts of the platform tree that need values of the infrastructure, and namespaces.
package services

import (
	"cmp"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/identity"
	"tombolo/config/values"
)

// Namespace that bootstrap creates. GitOps may add to its metadata.
type Namespace struct {
	// Name, a DNS label, unique in the file.
	Name string `yaml:"name"`
	// Labels of the namespace.
	Labels map[string]string `yaml:"labels,omitempty"`
	// Annotations of the namespace.
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

var namespaceFields = field.Of[Namespace](map[string]field.Descriptor{
	"Name":        {Rule: form.Label("monitoring"), Change: field.Changes("the namespace of the new name is made, and that of the old one is deleted with everything in it")},
	"Labels":      {Change: field.Changes("the labels of the namespace change")},
	"Annotations": {Change: field.Changes("the annotations of the namespace change")},
})

// Service is a part of the platform tree that needs values from the
// infrastructure. It gets a ConfigMap <name>-values for a HelmRelease's
// valuesFrom. With Identity, it also gets an IAM role for its service account.
type Service struct {
	// Name, a DNS label, unique in the file.
	Name string `yaml:"name"`
	// Namespace of the ConfigMap and the service account: one of the file's
	// namespaces, or the engine's (flux-system, argocd, or tombolo on a spoke).
	Namespace string `yaml:"namespace"`
	// Identity is an IAM role for the service's service account. Default: none.
	Identity *identity.Identity `yaml:"identity,omitempty"`
	// Values are extra Helm values, merged over those that Tombolo publishes. A mapping
	// with fromStack or fromSsm in them stands for a value of another stack or of
	// Parameter Store: see values.<key>.
	Values map[string]any `yaml:"values,omitempty"`
}

var serviceFields = field.Of[Service](map[string]field.Descriptor{
	"Name": {
		Rule: form.Label("external-dns"), Change: field.Changes("the role and the ConfigMap of the new name are made, and those of the old one deleted"),
		AzureChange: field.Changes("the identity and the ConfigMap of the new name are made, and those of the old one deleted"),
	},
	"Namespace": {
		Rule: form.Label("external-dns"), Change: field.Changes("the ConfigMap is made in the new namespace, and the role trusts the service account there"),
		AzureChange: field.Changes("the ConfigMap is made in the new namespace, and the identity trusts the service account there"),
	},
	"Identity": {
		Change:      field.ComesAndGoes("the role is made; pods get it when they start anew", "the role is deleted, and pods lose its rights"),
		AzureChange: field.ComesAndGoes("the identity is made; pods get it when they start anew", "the identity is deleted, and pods lose its rights"),
	},
	"Values": {Change: field.Changes(valuesWords)},
})

// ValuesWith are the service's Helm values with what was read in the place of each
// reference.
func (s Service) ValuesWith(read map[values.Source]any) map[string]any {
	values, _ := values.Replaced(s.Values, read).(map[string]any)
	return values
}

// SetDefaults fills in what the file leaves out.
func (s *Service) SetDefaults(p field.Provider) {
	if s.Identity == nil {
		return
	}
	s.Identity.ServiceAccount = cmp.Or(s.Identity.ServiceAccount, s.Name)
	mode := identity.IRSA
	if p == field.Azure {
		mode = identity.WorkloadIdentity
	}
	s.Identity.Mode = cmp.Or(s.Identity.Mode, mode)
}

// What a change does that several keys share.
const (
	valuesWords = "the ConfigMap of the values changes, and the engine follows it"
)

// RoleName is the name of the IAM role of a service with an identity.
func RoleName(cluster, service string) string { return cluster + "-service-" + service }

// IdentityName is the name of the identity in Azure of a service with an identity.
func IdentityName(cluster, service string) string { return cluster + "-" + service }

// Fields are the descriptors of the package.
var Fields = field.Join(namespaceFields, serviceFields)
