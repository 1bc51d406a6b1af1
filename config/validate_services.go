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

// Around is what services depend on beside themselves.
type ServicesAround struct {
	// Namespaces that are there when services are made.
	Namespaces []string
	// LacksAgent says that nothing brings the agent of Pod Identity to the nodes.
	LacksAgent bool
}

// CheckServices checks the services of a file.
func CheckServices(v *File, services []Service, around ServicesAround) {
	const list = strict.Path("services")
	Unique(v, list, "name", services, func(s Service) string { return s.Name }, "give each service its own name")
	for i, s := range services {
		at := list.Index(i)
		checkServiceNamespace(v, at.Field("namespace"), s.Namespace, around.Namespaces)
		eachReference(at.Field("values"), s.Values, func(at strict.Path, keys map[string]any) { CheckFreeReference(v, at, keys) })
		if s.Identity != nil {
			checkIdentity(v, at, s, around.LacksAgent)
		}
	}
	account := func(s Service) string {
		if s.Identity == nil || s.Namespace == "" || s.Identity.ServiceAccount == "" {
			return ""
		}
		return s.Namespace + "/" + s.Identity.ServiceAccount
	}
	Repeated(services, account, func(i, first int) {
		v.Problem(list.Index(i).Field("identity").Field("serviceAccount"), "a service account has one role: give each service its own",
			"the service account %s already has the identity of the service %s at line %d",
			wording.Quote(account(services[i])), wording.Quote(services[first].Name), v.Line(list.Index(first).Field("name")))
	})
}

func checkServiceNamespace(v *File, at strict.Path, namespace string, names []string) {
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

func checkIdentity(v *File, service strict.Path, s Service, lacksAgent bool) {
	if v.OnAzure() {
		checkAzureIdentity(v, service, s)
		return
	}
	at := service.Field("identity")
	if checkGivenRole(v, at, s.Identity.RoleARN, "policyArns", "statements") {
		checkAgentOf(v, at, s, lacksAgent)
		return
	}
	v.Fits(service.Field("name"), "the service's IAM role", ServiceRoleName(v.Name, s.Name), maxRoleName)
	checkAgentOf(v, at, s, lacksAgent)
	checkPolicies(v, at.Field("policyArns"), s.Identity.PolicyARNs)
	for i, st := range s.Identity.Statements {
		checkStatement(v, at.Field("statements").Index(i), st)
	}
}

// checkAgentOf wants the agent of Pod Identity for a service that gets its credentials by it.
func checkAgentOf(v *File, at strict.Path, s Service, lacksAgent bool) {
	if s.Identity.Mode == PodIdentity && lacksAgent && v.Doc.Sound("kubernetes.addons") {
		v.Problem(at.Field("mode"), "add "+awsfacts.PodIdentityAgent+" to kubernetes.addons, or use irsa",
			"pod-identity needs the addon %s on the nodes", awsfacts.PodIdentityAgent)
	}
}

// checkGivenRole checks an identity whose role exists, and refuses the keys beside it that say what
// a role of core's may do. It says whether the file names such a role.
func checkGivenRole(v *File, at strict.Path, arn string, others ...string) bool {
	role := at.Field("roleArn")
	if !v.Doc.Has(role) {
		return false
	}
	v.InAccount(role, form.RoleARN, arn)
	for _, key := range others {
		if v.Doc.Has(at.Field(key)) {
			v.KeyProblem(at.Field(key), "remove it, or remove roleArn and have core make the role",
				"does not go with roleArn, at line %d: a role that exists is its owner's", v.Line(role))
		}
	}
	return true
}

func checkPolicies(v *File, list strict.Path, arns []string) {
	Unique(v, list, "", arns, Itself, "give each policy once")
	if len(arns) > maxPolicies {
		v.Problem(list, "join them in statements", "has %d policies; IAM allows %d on a role", len(arns), maxPolicies)
	}
	for i, arn := range arns {
		at := list.Index(i)
		if v.InAccount(at, form.PolicyARN, arn) && strings.HasSuffix(arn, ":policy/AdministratorAccess") {
			v.Problem(at, "attach only the policies that the service needs, or write statements", "AdministratorAccess lets a pod do everything")
		}
	}
}

// checkStatement refuses actions and resources that allow too much.
func checkStatement(v *File, at strict.Path, s Statement) {
	for i, action := range s.Actions {
		service, name, _ := strings.Cut(action, ":")
		switch {
		case action == "*" || service == "*":
			v.Problem(at.Field("actions").Index(i), "name the actions, such as s3:GetObject", "%s allows every action of every service", wording.Quote(action))
		case strings.Trim(name, "*") == "" && name != "":
			v.Problem(at.Field("actions").Index(i), fmt.Sprintf("name the actions, such as %s:Get*", service),
				"%s allows every action of %s", wording.Quote(action), service)
		}
	}
	if strings.TrimSpace(s.Reason) != "" {
		return
	}
	for i, r := range s.Resources {
		if r == "*" || strings.Trim(r, "*:") == "arn" {
			v.Problem(at.Field("resources").Index(i), "name the ARNs, or say in reason why all are needed",
				"%s means every resource of the account", wording.Quote(r))
		}
	}
}
