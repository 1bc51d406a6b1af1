package config

import (
	"fmt"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// maxPolicies is IAM's default quota of managed policies attached to a role.
const maxPolicies = 10

func (v *validator) services() {
	list := strict.Path("services")
	services := v.c.Services
	unique(v, list, "name", services, func(s Service) string { return s.Name }, "give each service its own name")
	for i, s := range services {
		at := list.Index(i)
		v.serviceNamespace(at.Field("namespace"), s.Namespace)
		eachReference(at.Field("values"), s.Values, v.freeReference)
		if s.Identity != nil {
			v.identity(at, s)
		}
	}
	account := func(s Service) string {
		if s.Identity == nil || s.Namespace == "" || s.Identity.ServiceAccount == "" {
			return ""
		}
		return s.Namespace + "/" + s.Identity.ServiceAccount
	}
	repeated(services, account, func(i, first int) {
		v.problem(list.Index(i).Field("identity").Field("serviceAccount"), "a service account has one role: give each service its own",
			"the service account %s already has the identity of the service %s at line %d",
			wording.Quote(account(services[i])), wording.Quote(services[first].Name), v.line(list.Index(first).Field("name")))
	})
}

func (v *validator) serviceNamespace(at strict.Path, namespace string) {
	if !v.doc.Sound(at, "namespaces") {
		return
	}
	names := []string{v.c.EngineNamespace()}
	for _, n := range v.c.Namespaces {
		names = append(names, n.Name)
	}
	for _, a := range v.c.Addons.Enabled() {
		names = append(names, a.Namespace)
	}
	if slices.Contains(names, namespace) {
		return
	}
	remedy := "add it to namespaces, so that it is there before the ConfigMap"
	if near := wording.Nearest(namespace, names); near != "" {
		remedy = fmt.Sprintf("did you mean %s? or add it to namespaces", near)
	}
	v.problem(at, remedy, "%s is not among the file's namespaces", wording.Quote(namespace))
}

func (v *validator) identity(service strict.Path, s Service) {
	if v.c.onAzure() {
		v.azureIdentity(service, s)
		return
	}
	at := service.Field("identity")
	if v.givenRole(at, s.Identity.RoleARN, "policyArns", "statements") {
		v.agentOf(at, s)
		return
	}
	v.fits(service.Field("name"), growth{"the service's IAM role", ServiceRoleName(v.c.Name, s.Name), maxRoleName})
	v.agentOf(at, s)
	v.policies(at.Field("policyArns"), s.Identity.PolicyARNs)
	for i, st := range s.Identity.Statements {
		v.statement(at.Field("statements").Index(i), st)
	}
}

// agentOf wants the agent of Pod Identity for a service that gets its credentials by it.
func (v *validator) agentOf(at strict.Path, s Service) {
	agent := func(a ManagedAddon) bool { return a.Name == awsfacts.PodIdentityAgent }
	if s.Identity.Mode == PodIdentity && !v.c.IsExisting() && !v.c.Kubernetes.Auto() && v.doc.Sound("kubernetes.addons") &&
		!slices.ContainsFunc(v.c.Kubernetes.Addons, agent) {
		v.problem(at.Field("mode"), "add "+awsfacts.PodIdentityAgent+" to kubernetes.addons, or use irsa",
			"pod-identity needs the addon %s on the nodes", awsfacts.PodIdentityAgent)
	}
}

// givenRole checks an identity whose role exists, and refuses the keys beside it that say what
// a role of core's may do. It says whether the file names such a role.
func (v *validator) givenRole(at strict.Path, arn string, others ...string) bool {
	role := at.Field("roleArn")
	if !v.doc.Has(role) {
		return false
	}
	v.inAccount(role, form.RoleARN, arn)
	for _, key := range others {
		if v.doc.Has(at.Field(key)) {
			v.keyProblem(at.Field(key), "remove it, or remove roleArn and have core make the role",
				"does not go with roleArn, at line %d: a role that exists is its owner's", v.line(role))
		}
	}
	return true
}

func (v *validator) policies(list strict.Path, arns []string) {
	unique(v, list, "", arns, itself, "give each policy once")
	if len(arns) > maxPolicies {
		v.problem(list, "join them in statements", "has %d policies; IAM allows %d on a role", len(arns), maxPolicies)
	}
	for i, arn := range arns {
		at := list.Index(i)
		if v.inAccount(at, form.PolicyARN, arn) && strings.HasSuffix(arn, ":policy/AdministratorAccess") {
			v.problem(at, "attach only the policies that the service needs, or write statements", "AdministratorAccess lets a pod do everything")
		}
	}
}

// statement refuses actions and resources that allow too much.
func (v *validator) statement(at strict.Path, s Statement) {
	for i, action := range s.Actions {
		service, name, _ := strings.Cut(action, ":")
		switch {
		case action == "*" || service == "*":
			v.problem(at.Field("actions").Index(i), "name the actions, such as s3:GetObject", "%s allows every action of every service", wording.Quote(action))
		case strings.Trim(name, "*") == "" && name != "":
			v.problem(at.Field("actions").Index(i), fmt.Sprintf("name the actions, such as %s:Get*", service),
				"%s allows every action of %s", wording.Quote(action), service)
		}
	}
	if strings.TrimSpace(s.Reason) != "" {
		return
	}
	for i, r := range s.Resources {
		if r == "*" || strings.Trim(r, "*:") == "arn" {
			v.problem(at.Field("resources").Index(i), "name the ARNs, or say in reason why all are needed",
				"%s means every resource of the account", wording.Quote(r))
		}
	}
}
