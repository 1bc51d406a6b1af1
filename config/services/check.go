package services

import (
	"fmt"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/identity"
	"tombolo/config/strict"
	"tombolo/config/values"
	"tombolo/internal/armid"
	"tombolo/internal/wording"
)

// Around is what services depend on beside themselves.
type Around struct {
	// Namespaces that are there when services are made.
	Namespaces []string
	// LacksAgent says that nothing brings the agent of Pod Identity to the nodes.
	LacksAgent bool
	// Reader is the service account, namespace/name, of the engine's pods that read Git by an identity
	// of the cluster's; "" where they have none.
	Reader string
}

// Check checks the services of a file.
func Check(v *check.File, services []Service, around Around) {
	const list = strict.Path("services")
	check.Unique(v, list, "name", services, func(s Service) string { return s.Name }, "give each service its own name")
	for i, s := range services {
		at := list.Index(i)
		checkServiceNamespace(v, at.Field("namespace"), s.Namespace, around.Namespaces)
		values.EachReference(at.Field("values"), s.Values, func(at strict.Path, keys map[string]any) { values.CheckFree(v, at, keys) })
		if s.Identity != nil {
			checkIdentity(v, at, s, around)
		}
	}
	account := func(s Service) string {
		if s.Identity == nil || s.Namespace == "" || s.Identity.ServiceAccount == "" {
			return ""
		}
		return s.Namespace + "/" + s.Identity.ServiceAccount
	}
	check.Repeated(services, account, func(i, first int) {
		v.Problem(list.Index(i).Field("identity").Field("serviceAccount"), "a service account has one role: give each service its own",
			"the service account %s already has the identity of the service %s at %s",
			wording.Quote(account(services[i])), wording.Quote(services[first].Name), v.Line(list.Index(first).Field("name")))
	})
}

func checkServiceNamespace(v *check.File, at strict.Path, namespace string, names []string) {
	if !v.Doc.Sound(at, "namespaces") {
		return
	}
	if slices.Contains(names, namespace) {
		return
	}
	remedy := "add it to namespaces, so that it is there before the ConfigMap"
	if near := wording.Nearest(namespace, names); near != "" {
		remedy = fmt.Sprintf("did you mean %s? or add it to namespaces", near)
	}
	v.Problem(at, remedy, "%s is not among the file's namespaces", wording.Quote(namespace))
}

func checkIdentity(v *check.File, service strict.Path, s Service, around Around) {
	if v.OnAzure() {
		checkAzureIdentity(v, service, s, around.Reader)
		return
	}
	at := service.Field("identity")
	if identity.GivenRole(v, at, s.Identity.RoleARN, "policyArns", "statements") {
		checkAgentOf(v, at, s, around.LacksAgent)
		return
	}
	v.Fits(service.Field("name"), "the service's IAM role", RoleName(v.Name, s.Name), form.MaxRoleName)
	checkAgentOf(v, at, s, around.LacksAgent)
	identity.CheckPolicies(v, at.Field("policyArns"), s.Identity.PolicyARNs)
	for i, st := range s.Identity.Statements {
		identity.CheckStatement(v, at.Field("statements").Index(i), st)
	}
}

// checkAgentOf wants the agent of Pod Identity for a service that gets its credentials by it.
func checkAgentOf(v *check.File, at strict.Path, s Service, lacksAgent bool) {
	if s.Identity.Mode == identity.PodIdentity && lacksAgent && v.Doc.Sound("kubernetes.addons") {
		v.Problem(at.Field("mode"), "add "+awsfacts.PodIdentityAgent+" to kubernetes.addons, or use irsa",
			"pod-identity needs the addon %s on the nodes", awsfacts.PodIdentityAgent)
	}
}

// checkAzureIdentity checks the identity of a service.
func checkAzureIdentity(v *check.File, service strict.Path, s Service, reader string) {
	at := service.Field("identity").Field("roles")
	v.Fits(service.Field("name"), "the service's identity", IdentityName(v.Name, s.Name), azurefacts.MaxIdentityName)
	taken := []string{"control-plane", "kubelet"}
	if reader != "" {
		taken = append(taken, identity.GitReader)
	}
	if slices.Contains(taken, s.Name) || strings.HasPrefix(s.Name, identity.AddonPrefix) {
		v.Problem(service.Field("name"), "use another name", "%s would be an identity of the cluster's own", wording.Quote(IdentityName(v.Name, s.Name)))
	}
	checkCredential(v, service, s, reader)
	grant := func(g identity.RoleGrant) string { return g.Role + " on " + g.Scope }
	check.Repeated(s.Identity.Roles, grant, func(i, first int) {
		v.Problem(at.Index(i), "give each role once", "%s is already given at %s", grant(s.Identity.Roles[i]), v.Line(at.Index(first)))
	})
	for i, g := range s.Identity.Roles {
		identity.CheckGrant(v, at.Index(i), g)
	}
}

// checkCredential checks the name of the federated credential that the service account gets, which
// Azure refuses only once the cluster is there, and that the account has no other identity: it has
// room for one client id.
func checkCredential(v *check.File, service strict.Path, s Service, reader string) {
	at := service.Field("identity").Field("serviceAccount")
	if !v.Doc.Sound(at, service.Field("name"), service.Field("namespace")) {
		return
	}
	if !v.Doc.Has(at) {
		at = service.Field("name")
	}
	if account := s.Namespace + "/" + s.Identity.ServiceAccount; account == reader {
		v.Problem(at, "use another service account, or another gitops.auth than workload-identity",
			"the service account %s has the identity by which the engine reads Git, and can have no other", wording.Quote(account))
	}
	name := armid.Credential(s.Namespace, s.Identity.ServiceAccount)
	if over := len(name) - azurefacts.MaxCredentialName; over > 0 {
		v.Problem(at, fmt.Sprintf("shorten the service account or the namespace by %d; each dot of the service account counts twice", over),
			"makes the name of the identity's federated credential %s longer than the %d characters that Azure takes", wording.Quote(name), azurefacts.MaxCredentialName)
	}
}

// CheckNamespaces checks the namespaces that bootstrap makes.
func CheckNamespaces(v *check.File, namespaces []Namespace) {
	list := strict.Path("namespaces")
	check.Unique(v, list, "name", namespaces, func(n Namespace) string { return n.Name }, "give the namespace once")
	for i, n := range namespaces {
		at := list.Index(i)
		if n.Name == "default" || strings.HasPrefix(n.Name, "kube-") {
			v.Problem(at.Field("name"), "use a namespace of your own", "%s belongs to Kubernetes", wording.Quote(n.Name))
		}
		v.Labels(at.Field("labels"), n.Labels)
		if _, ok := n.Labels["kubernetes.io/metadata.name"]; ok {
			v.KeyProblem(at.Field("labels").Key("kubernetes.io/metadata.name"), "remove it", "is set by Kubernetes")
		}
		v.Annotations(at.Field("annotations"), n.Annotations)
	}
}
