package inventory

import (
	"maps"
	"slices"
	"strings"

	"tombolo/check/manifest"
)

// azureGroups is how the groups of Azure Service Operator's kinds end.
const azureGroups = ".azure.com"

// operatedFields are the secrets and the values that the operator can write for a kind, of those that
// systems may have. Source: *OperatorSecrets and *OperatorConfigMaps in v2/api of
// https://github.com/Azure/azure-service-operator, version 2.13.0; all API versions have the same.
type operatedFields struct {
	group, kind         string
	secrets, configMaps []string
}

func operatedKinds() []operatedFields {
	endpoints := []string{"blobEndpoint", "dfsEndpoint", "fileEndpoint", "queueEndpoint", "tableEndpoint", "webEndpoint"}
	keys := []string{"primaryConnectionString", "primaryKey", "secondaryConnectionString", "secondaryKey"}
	ids, host := []string{"clientId", "principalId", "tenantId"}, []string{"fullyQualifiedDomainName"}
	return []operatedFields{
		{"dbforpostgresql.azure.com", "FlexibleServer", host, host},
		{"managedidentity.azure.com", "UserAssignedIdentity", ids, ids},
		{"servicebus.azure.com", "Namespace", append([]string{"endpoint"}, keys...), nil},
		{"servicebus.azure.com", "NamespacesAuthorizationRule", keys, nil},
		{"storage.azure.com", "StorageAccount", append([]string{"key1", "key2"}, endpoints...), endpoints},
	}
}

// Destination is where Azure Service Operator is to write one value.
type Destination struct {
	// To is the Secret or ConfigMap, and Key its key; "" where an expression gives several.
	To  ID
	Key string
	// Field is the value's name, and Path that of the destination in the object.
	Field string
	Path  []string
	// Fields are those that the kind has, where it is known here.
	Fields []string
	// Unknown says that the kind does not have the field: nothing is written.
	Unknown bool
}

// Destinations are what the operator writes for an object of its own, or of none. Sources:
// https://azure.github.io/azure-service-operator/guide/secrets/ and
// https://azure.github.io/azure-service-operator/guide/configmaps/
func Destinations(o manifest.Object, content map[string]any) []Destination {
	if !Operated(o) {
		return nil
	}
	known := slices.IndexFunc(operatedKinds(), func(k operatedFields) bool { return k.group == o.Group() && k.kind == o.Kind })
	var out []Destination
	for _, into := range []struct{ list, kind string }{{"secrets", "Secret"}, {"configMaps", "ConfigMap"}} {
		path := []string{"spec", "operatorSpec", into.list}
		fields, _ := below(content, path).(map[string]any)
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			d := Destination{Field: field, Path: append(slices.Clone(path), field)}
			if known >= 0 {
				k := operatedKinds()[known]
				d.Fields = map[string][]string{"secrets": k.secrets, "configMaps": k.configMaps}[into.list]
				d.Unknown = !slices.Contains(d.Fields, field)
			}
			out = append(out, d.to(into.kind, o, fields[field])...)
		}
		path = []string{"spec", "operatorSpec", strings.TrimSuffix(into.list, "s") + "Expressions"}
		expressions, _ := below(content, path).([]any)
		for _, e := range expressions {
			out = append(out, Destination{Path: append(slices.Clone(path), "[]")}.to(into.kind, o, e)...)
		}
	}
	return out
}

func (d Destination) to(kind string, o manifest.Object, value any) []Destination {
	name, _ := below(value, []string{"name"}).(string)
	d.Key, _ = below(value, []string{"key"}).(string)
	if name == "" {
		return nil
	}
	d.To = ID{kind, o.Metadata.Namespace, name}
	return []Destination{d}
}

// addOperated adds what the operator writes, and says whether that is anything: all keys of it are known, unless an
// expression gives them.
func (s Inventory) addOperated(o manifest.Object, content map[string]any) bool {
	all := Destinations(o, content)
	for _, d := range all {
		e, ok := s[d.To]
		switch {
		case d.Unknown:
			continue
		case ok && !e.Exact:
			e.Open = true // something else makes it, too
		case d.Key == "":
			e.Exact, e.Open = true, true
		default:
			e.Exact = true
		}
		if d.Key != "" {
			e.Keys = append(slices.Clone(e.Keys), d.Key)
		}
		s.put(d.To, e)
	}
	return len(all) > 0
}

// Use is a key of a Secret or ConfigMap that an object needs.
type Use struct {
	Of  ID
	Key string
	// Path of the key in the object, and the keys next to it, as in tree.Wanted.
	Path    []string
	Besides map[string]string
}

// podsOf says where kinds have the specification of their pods.
func podsOf(kind string) []string {
	switch kind {
	case "Pod":
		return []string{"spec"}
	case "CronJob":
		return []string{"spec", "jobTemplate", "spec", "template", "spec"}
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job":
		return []string{"spec", "template", "spec"}
	}
	return nil
}

// Operated says whether an object's kind may be one of Azure Service Operator's.
func Operated(o manifest.Object) bool { return strings.HasSuffix(o.Group(), azureGroups) }

// Needs says whether Uses or Destinations may find something in an object.
func Needs(o manifest.Object) bool { return podsOf(o.Kind) != nil || Operated(o) }

// Uses are the keys that the pods of an object need to start, or Azure Service Operator for an object of its own.
func Uses(o manifest.Object, content map[string]any) []Use {
	if Operated(o) {
		password := []string{"spec", "administratorLoginPassword"}
		return use(o, "Secret", below(content, password), append(password, "key"))
	}
	path := podsOf(o.Kind)
	pods, _ := below(content, path).(map[string]any)
	if path == nil || pods == nil {
		return nil
	}
	var out []Use
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range items(pods, list) {
			for _, variable := range items(c, "env") {
				for field, kind := range map[string]string{"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"} {
					at := append(slices.Clone(path), list, "[]", "env", "[]", "valueFrom", field, "key")
					out = append(out, use(o, kind, below(variable, []string{"valueFrom", field}), at)...)
				}
			}
		}
	}
	for _, volume := range items(pods, "volumes") {
		for _, v := range []struct{ field, name, kind string }{{"secret", "secretName", "Secret"}, {"configMap", "name", "ConfigMap"}} {
			source, _ := volume[v.field].(map[string]any)
			for _, item := range items(source, "items") {
				from := map[string]any{"name": source[v.name], "key": item["key"], "optional": source["optional"]}
				for _, u := range use(o, v.kind, from, append(slices.Clone(path), "volumes", "[]", v.field, "items", "[]", "key")) {
					u.Besides = nil // its name is not next to it
					out = append(out, u)
				}
			}
		}
	}
	return out
}

// use is a reference by name and key, unless it is optional.
func use(o manifest.Object, kind string, reference any, path []string) []Use {
	name, _ := below(reference, []string{"name"}).(string)
	key, _ := below(reference, []string{"key"}).(string)
	if optional, _ := below(reference, []string{"optional"}).(bool); optional || name == "" || key == "" {
		return nil
	}
	return []Use{{Of: ID{kind, o.Metadata.Namespace, name}, Key: key, Path: path, Besides: map[string]string{"name": name}}}
}

func items(value map[string]any, key string) []map[string]any {
	list, _ := value[key].([]any)
	var out []map[string]any
	for _, item := range list {
		if item, ok := item.(map[string]any); ok {
			out = append(out, item)
		}
	}
	return out
}
