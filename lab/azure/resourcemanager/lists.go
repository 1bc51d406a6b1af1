package resourcemanager

import (
	"regexp"
	"slices"
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// equalities of a filter: tagName eq 'a' and tagValue eq 'b'.
var equalities = regexp.MustCompile(`(\w+) eq '((?:[^']|'')*)'`)

// equals is the value that the question's filter asks a property to have; "" for any.
func equals(q *question, property string) string {
	for _, match := range equalities.FindAllStringSubmatch(q.URL.Query().Get("$filter"), -1) {
		if strings.EqualFold(match[1], property) {
			return strings.ReplaceAll(match[2], "''", "'")
		}
	}
	return ""
}

// groups of a subscription: https://learn.microsoft.com/en-us/rest/api/resources/resource-groups/list
func (a *api) groups(q *question) (any, error) {
	return list(a.having(q, func(r *standin.Record) bool {
		return r.Type == arm.GroupType && arm.Same(armid.SubscriptionOf(r.ID), q.PathValue("subscription"))
	})), nil
}

// resources of a subscription or a group, without those within others. Those that are found
// by a tag come without tags: https://learn.microsoft.com/en-us/rest/api/resources/resources/list
func (a *api) resources(q *question) (any, error) {
	group := q.PathValue("group")
	if group != "" && a.find(armid.Group(q.PathValue("subscription"), group)) == nil {
		return nil, &arm.Error{Status: 404, Code: "ResourceGroupNotFound", Message: "Resource group '" + group + "' could not be found."}
	}
	kind := equals(q, "resourceType")
	found := a.having(q, func(r *standin.Record) bool {
		typ := a.cloud.TypeOf(r.Type)
		return r.Type != arm.GroupType && typ.HasOutput("location") && strings.Count(typ.Noun, "/") == 1 &&
			arm.Same(armid.SubscriptionOf(r.ID), q.PathValue("subscription")) &&
			(group == "" || arm.Same(armid.NameOf(armid.GroupOf(r.ID)), group)) &&
			(kind == "" || arm.Same(kind, typ.Noun))
	})
	for _, r := range found {
		delete(r, "properties")
		if equals(q, "tagName") != "" {
			delete(r, "tags")
		}
	}
	return list(found), nil
}

// having are the descriptions of what a function selects, has the tag that the question's
// filter asks for, and may be read by the caller.
func (a *api) having(q *question, selects func(*standin.Record) bool) []map[string]any {
	defer a.cloud.Lock()()
	found := []map[string]any{}
	for _, r := range a.cloud.All() {
		typ := a.cloud.TypeOf(r.Type)
		if typ == nil || r.Gone() || !selects(r) || !tagged(r, equals(q, "tagName"), equals(q, "tagValue")) {
			continue
		}
		if roles := arm.RolesOf(a.cloud, q.caller, r.ID); slices.ContainsFunc(roles, func(role rbac.Role) bool { return role.Allows(typ.Noun + "/read") }) {
			found = append(found, describe(r))
		}
	}
	return found
}

// tagged says that a record has a tag, of any value where none is given. The names of tags
// are the same in any case: https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources
func tagged(r *standin.Record, name, value string) bool {
	for key, has := range r.Outputs.Strs("tags") {
		if strings.EqualFold(key, name) && (value == "" || has == value) {
			return true
		}
	}
	return name == ""
}

// outside of its properties is what a resource has in common with others. Source:
// https://github.com/Azure/azure-resource-manager-rpc/blob/master/v1.0/resource-api-reference.md
var outside = []string{"name", "type", "location", "tags", "identity", "sku", "zones", "managedBy", "etag", "systemData", "extendedLocation"}

// describe is a resource as the API gives it.
func describe(r *standin.Record) map[string]any {
	properties := r.Outputs.Clone()
	described := map[string]any{"id": r.ID}
	for _, name := range outside {
		if value, has := properties[name]; has {
			described[name] = value
			delete(properties, name)
		}
	}
	if of := properties.Sub("properties"); (r.Type == arm.GroupType || r.Type == arm.VaultType) && of != nil {
		properties = of
	}
	described["properties"] = properties
	return described
}

// find is the resource with an id, of any type; nil for none.
func (a *api) find(id string) *standin.Record {
	defer a.cloud.Lock()()
	for _, r := range a.cloud.All() {
		if arm.Same(r.ID, id) && a.cloud.TypeOf(r.Type) != nil && !r.Gone() {
			return r.Clone()
		}
	}
	return nil
}

// get a resource: https://learn.microsoft.com/en-us/rest/api/resources/resources/get-by-id
func (a *api) get(q *question) (any, error) {
	for kind, answer := range map[string]func(*question, string) (any, error){"permissions": a.permissionsOn, "roleassignments": a.assignments} {
		suffix := "/providers/microsoft.authorization/" + kind
		if strings.HasSuffix(q.URL.Path, suffix) {
			return answer(q, q.path()[:len(q.path())-len(suffix)])
		}
	}
	r, err := a.known(q)
	if err != nil {
		return nil, err
	}
	if r.Type == containerservice.ClusterType {
		containerservice.TellStates(a.cloud, r)
	}
	return describe(r), a.may(q, a.cloud.TypeOf(r.Type).Noun+"/read", r.ID)
}

// assignments of roles at a scope, above it and below, of one principal where the filter names
// one: https://learn.microsoft.com/en-us/rest/api/authorization/role-assignments/list-for-scope
func (a *api) assignments(q *question, scope string) (any, error) {
	if err := a.may(q, "Microsoft.Authorization/roleAssignments/read", scope); err != nil {
		return nil, err
	}
	defer a.cloud.Lock()()
	of, found := equals(q, "principalId"), []any{}
	for r := range a.cloud.Each(rbac.AssignmentType, standin.Global) {
		on := r.Outputs.Str("scope")
		if (rbac.Covers(on, scope) || rbac.Covers(scope, on)) && (of == "" || arm.Same(of, r.Outputs.Str("principalId"))) {
			found = append(found, describe(r))
		}
	}
	return list(found), nil
}

// known is the resource that a question names by its id. Source of the refusals:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-not-found
func (a *api) known(q *question) (*standin.Record, error) { return a.of(q.path()) }

// of is the resource with an id, of any type.
func (a *api) of(id string) (*standin.Record, error) {
	if r := a.find(id); r != nil {
		return r, nil
	}
	group := armid.GroupOf(id)
	if group == "" || a.find(group) == nil {
		return nil, &arm.Error{Status: 404, Code: "ResourceGroupNotFound", Message: "Resource group '" + armid.NameOf(group) + "' could not be found."}
	}
	namespace, _, _ := strings.Cut(after(id, "/providers/"), "/")
	return nil, arm.NotFound(namespace, id)
}

func after(text, separator string) string {
	_, rest, _ := strings.Cut(text, separator)
	return rest
}
