package addon

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/armid"
)

// ServiceOperator is the name of the addon by which systems have resources in Azure.
const ServiceOperator = "azure-service-operator"

// operatorNamespace and operatorAccount are where Azure Service Operator runs and what it
// runs as: upstream's names, which its documentation and its chart have.
// https://azure.github.io/azure-service-operator/guide/authentication/credential-format/
const (
	operatorNamespace = "azureserviceoperator-system"
	operatorAccount   = "azureserviceoperator-default"
)

// OperatorOptions are the options of azure-service-operator.
type OperatorOptions struct {
	// CRDPatterns say which kinds the operator installs and works on, as <group>/<kind>, such
	// as storage.azure.com/*. There is no default: upstream has some hundred kinds, each of
	// which takes memory of the API server and of the operator, and is one more that a
	// system could be given.
	CRDPatterns []string `yaml:"crdPatterns"`
	// Systems that get an identity in Azure. A system without one can make nothing there.
	// Default: none.
	Systems []OperatorSystem `yaml:"systems,omitempty"`
}

var operatorOptionsFields = field.Of[OperatorOptions](map[string]field.Descriptor{
	"CRDPatterns": {
		Rule: strict.Rule{
			What: "a pattern of kinds in one group of Azure's", Noun: "pattern", Example: "storage.azure.com/*", MinItems: 1,
			Pattern: regexp.MustCompile(`^[a-z0-9]+(\.[a-z0-9]+)*\.azure\.com/[A-Za-z0-9*?]+$`),
			Advice: func(string) string {
				return "name groups, such as storage.azure.com/*: all kinds at once take more memory than most API servers have for them"
			},
		},
		AzureChange: field.Changes("the engine follows the values: the operator installs definitions that are new, and leaves those that are there"),
	},
	"Systems": {AzureChange: field.Changes("identities are made or deleted, with their roles; what a system has in Azure stays")},
})

// OperatorSystem is the identity in Azure of a system. It says ResourceGroup or Scope.
type OperatorSystem struct {
	// Name of the system, as its file in the platform tree is called.
	Name string `yaml:"name"`
	// ResourceGroup is the name of a resource group that core makes, on which the identity
	// has its role. It goes with the cluster: a destruction stops while something is in it.
	ResourceGroup string `yaml:"resourceGroup,omitempty"`
	// Scope is the id of a resource group of yours, which stays when the cluster goes. A whole
	// subscription needs Reason.
	Scope string `yaml:"scope,omitempty"`
	// Role by its name, one of those that Tombolo knows, or by the id of a role definition.
	// Owner, and roles that give roles, are refused. Default: Contributor.
	Role string `yaml:"role,omitempty"`
	// Reason explains a subscription as Scope.
	Reason string `yaml:"reason,omitempty"`
}

var operatorSystemFields = field.Of[OperatorSystem](map[string]field.Descriptor{
	"Name": {
		Rule:        strict.Rule{What: "the name of a system", Example: "shop", Pattern: regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`), MaxLength: 63},
		AzureChange: field.Changes("the identity is made anew under the other name, and the old one deleted"),
	},
	"ResourceGroup": {AzureRule: new(form.ResourceGroupRule("demo-shop")), AzureChange: field.Changes("another resource group is made, and the old one deleted with all that is in it")},
	"Scope": {
		AzureRule:   &strict.Rule{What: "the id of a resource group", Example: form.ExampleGroup, Pattern: form.OperatorScope, Advice: form.IDAdvice(form.OperatorScope)},
		AzureChange: field.Changes("the role is taken and given on the other scope; what the system has in the old one stays, and it cannot change it any more"),
	},
	"Role":   {AzureRule: &strict.Rule{What: "a role", Example: azurefacts.Contributor, Pattern: form.RoleText}, AzureChange: field.Changes("the old role is taken, and the other one given")},
	"Reason": {AzureChange: field.Changes("it explains the scope; nothing in the cluster changes")},
})

// RoleName is the role, or that of a system that says none.
func (s OperatorSystem) RoleName() string { return cmp.Or(s.Role, azurefacts.Contributor) }

// SystemIdentity is what a system's namespace is told of its identity in Azure. None of it is
// a secret.
type SystemIdentity struct {
	ClientID       string `json:"clientId"`
	SubscriptionID string `json:"subscriptionId"`
	TenantID       string `json:"tenantId"`
	// Scope that its role is on, by its id.
	Scope string `json:"scope"`
}

var _ = register(Addon{
	Name:            ServiceOperator,
	Summary:         "Makes resources in Azure from objects of systems, each with its own identity.",
	Namespace:       operatorNamespace,
	NamespaceLabels: podSecurity("restricted"),
	Stage:           Others,
	// Of its webhooks' certificates, which its chart has as Certificate.
	Requires: []string{"cert-manager"},
	NotOn: map[string]Instead{AWS: {
		Reason: "makes resources in Azure, and this cluster is on AWS",
		Remedy: "remove it, and bring AWS Controllers for Kubernetes by the platform tree, with a service whose identity has the role",
	}},
}, definition[OperatorOptions]{
	Fields: field.Join(operatorOptionsFields, operatorSystemFields),
	Needs: func(in Input[OperatorOptions]) Needs {
		var needs Needs
		for _, s := range in.Options.Systems {
			needs.Identities = append(needs.Identities, Identity{
				Name: s.Name, ServiceAccount: operatorAccount,
				Roles: []Role{{Name: s.RoleName(), Scope: s.Scope, MakeGroup: s.ResourceGroup}},
			})
		}
		return needs
	},
	Keys: []key[OperatorOptions]{{
		"system_identities", "Identities in Azure of systems, as JSON by system.",
		`{"shop":{"clientId":"00000000-0000-4000-8000-0000000000d1","subscriptionId":"00000000-0000-4000-8000-000000000001","tenantId":"00000000-0000-4000-8000-00000000000a","scope":"/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/demo-shop"}}`,
		func(in Input[OperatorOptions], out Outputs) string {
			return in.systemIdentities(in.Options.Systems, out)
		},
	}},
	Values: func(in Input[OperatorOptions], _ Outputs) map[string]any {
		return map[string]any{"crdPattern": strings.Join(in.Options.CRDPatterns, ";")}
	},
	Check: func(o OperatorOptions, _ Selection) []Problem { return append(o.checkPatterns(), o.checkSystems()...) },
})

func (f Facts) systemIdentities(systems []OperatorSystem, out Outputs) string {
	all := map[string]SystemIdentity{}
	for _, s := range systems {
		scope := s.scope(f.Account)
		all[s.Name] = SystemIdentity{ClientID: out.Made[ClientOutput(s.Name)], SubscriptionID: armid.SubscriptionOf(scope), TenantID: f.Tenant, Scope: scope}
	}
	text, _ := json.Marshal(all) //nolint:errchkjson // strings
	return string(text)
}

// scope of the system's role: that of the file, or the group that core makes.
func (s OperatorSystem) scope(account string) string {
	if s.ResourceGroup != "" {
		return armid.Group(account, s.ResourceGroup)
	}
	return s.Scope
}

func (o OperatorOptions) checkPatterns() []Problem {
	return onceEach("crdPatterns", "", "give each pattern once", o.CRDPatterns)
}

// checkSystems finds systems that are not kept apart, or whose rights are not said.
func (o OperatorOptions) checkSystems() []Problem {
	var problems []Problem
	var names, groups, scopes []string
	for i, s := range o.Systems {
		names, groups, scopes = append(names, s.Name), append(groups, strings.ToLower(s.ResourceGroup)), append(scopes, strings.ToLower(s.Scope))
		switch {
		case s.ResourceGroup == "" && s.Scope == "":
			problems = append(problems, Problem{
				Path: at("systems", i, ""), Message: "says not where the identity has its role",
				Remedy: "add resourceGroup, which core makes, or scope, the id of a resource group of yours",
			})
		case s.ResourceGroup != "" && s.Scope != "":
			problems = append(problems, Problem{
				Path: at("systems", i, "scope"), Message: "does not go with resourceGroup, which core makes", Remedy: "remove one of the two",
			})
		}
	}
	const apart = "give each system its own: two on one could change what is the other's"
	problems = append(problems, onceEach("systems", "name", "give each system once", names)...)
	problems = append(problems, onceEach("systems", "resourceGroup", apart, groups)...)
	return append(problems, onceEach("systems", "scope", apart, scopes)...)
}

// onceEach finds values that a list of options has twice.
func onceEach(list, field, remedy string, values []string) []Problem {
	first := map[string]int{}
	var problems []Problem
	for i, value := range values {
		if j, ok := first[value]; ok {
			problems = append(problems, Problem{Path: at(list, i, field), Message: fmt.Sprintf("%q is already in item %d of the list", value, j+1), Remedy: remedy})
			continue
		}
		if value != "" {
			first[value] = i
		}
	}
	return problems
}
