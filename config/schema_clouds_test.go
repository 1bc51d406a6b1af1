package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/invopop/jsonschema"

	"tombolo/config/addon"
	"tombolo/config/field"
	"tombolo/config/strict"
)

// onlyMark begins what a key's description says of the cloud that it is for.
const onlyMark = " Only in files for "

// commonRule is the rule of a field in all files that have its key: only says for which cloud
// these are, where it is one. The zero Rule where each cloud has another.
func commonRule(only Provider, field string) strict.Rule {
	if only == "" && differs(field) {
		return strict.Rule{}
	}
	return ruleFor(only, field)
}

// differs says that a field's rule is another on each cloud.
func differs(field string) bool {
	d := described[field]
	return d.AzureRule != nil || d.Cloud == Azure && !reflect.ValueOf(d.Rule).IsZero()
}

// typesByCloud are the struct types that cluster files for each cloud are made of.
var typesByCloud = sync.OnceValue(func() map[Provider]map[reflect.Type]bool {
	out := map[Provider]map[reflect.Type]bool{}
	for _, p := range field.Providers() {
		out[p] = typesOf(reflect.TypeFor[Cluster](), formatOf(p))
	}
	return out
})

// cloudOf is the cloud whose files alone have a type; "" for all.
func cloudOf(typ reflect.Type) Provider {
	switch types := typesByCloud(); {
	case types[AWS][typ] == types[Azure][typ]:
		return ""
	case types[AWS][typ]:
		return AWS
	}
	return Azure
}

// addClouds adds what a kind of files for each cloud has to hold to beside the rest: a schema
// <type>.<cloud> for each type that differs, chosen by cloud.provider.
func addClouds(s *jsonschema.Schema, file reflect.Type) {
	for _, p := range field.Providers() {
		types := slices.Collect(maps.Keys(typesOf(file, formatOf(p))))
		if file == reflect.TypeFor[Cluster]() {
			types = append(types, reflect.TypeFor[addon.Selection]())
		}
		for _, typ := range types {
			if own := inCloudSchema(p, typ); own != nil {
				s.Definitions[typ.Name()+"."+string(p)] = own
			}
		}
	}
	provider := jsonschema.NewProperties()
	provider.Set("provider", &jsonschema.Schema{Const: string(Azure)})
	cloud := jsonschema.NewProperties()
	cloud.Set("cloud", &jsonschema.Schema{Properties: provider, Required: []string{"provider"}})
	s.If = &jsonschema.Schema{Properties: cloud, Required: []string{"cloud"}}
	s.Then, s.Else = &jsonschema.Schema{Ref: "#/$defs/" + file.Name() + ".azure"}, &jsonschema.Schema{Ref: "#/$defs/" + file.Name() + ".aws"}
}

// inCloudSchema is what a type has to hold to in the files for one cloud; nil for nothing.
func inCloudSchema(p Provider, typ reflect.Type) *jsonschema.Schema {
	out := &jsonschema.Schema{Properties: jsonschema.NewProperties()}
	format := formatOf(p)
	for _, f := range clusterFormat.Fields(typ) {
		if format.Omission(typ, f.Name) != nil {
			out.Properties.Set(f.Name, jsonschema.FalseSchema)
			continue
		}
		name := ""
		if typ.Kind() == reflect.Struct && cloudOf(typ) == "" {
			name = typ.Name() + "." + typ.Field(f.Index).Name
			if typ.Field(f.Index).Tag.Get(field.CloudTag) != "" { // what it may be, all files say that have it
				name = ""
				if f.Required {
					out.Required = append(out.Required, f.Name)
				}
			}
		}
		if own := valueInCloud(p, name, f.Type); own != nil {
			out.Properties.Set(f.Name, own)
		}
	}
	if out.Properties.Len() == 0 && len(out.Required) == 0 {
		return nil
	}
	return out
}

// valueInCloud is what the value of a field has to hold to in the files for one cloud; nil
// for nothing.
func valueInCloud(p Provider, name string, typ reflect.Type) *jsonschema.Schema {
	switch typ.Kind() {
	case reflect.Pointer:
		return valueInCloud(p, name, typ.Elem())
	case reflect.Slice:
		if item := valueInCloud(p, name, typ.Elem()); item != nil {
			return &jsonschema.Schema{Items: item, MinItems: count(ruleFor(p, name).MinItems)}
		}
		return nil
	case reflect.Map:
		if typ != reflect.TypeFor[addon.Selection]() {
			if value := valueInCloud(p, "", typ.Elem()); value != nil {
				return &jsonschema.Schema{AdditionalProperties: value}
			}
			return nil
		}
		fallthrough
	case reflect.Struct:
		if inCloudSchema(p, typ) != nil {
			return &jsonschema.Schema{Ref: "#/$defs/" + typ.Name() + "." + string(p)}
		}
		return nil
	case reflect.Interface:
		return nil
	}
	if !differs(name) {
		return nil
	}
	own := &jsonschema.Schema{}
	if typ.Kind() == reflect.String {
		own.Type = "string"
	}
	addRule(own, ruleFor(p, name))
	own.Type, own.Default = "", ruleFor(p, name).Default
	return own
}

// liveTexts say what a change of a field does to a live cluster, of each cloud where that is
// not the same.
func liveTexts(only Provider, field string) string {
	if only != "" {
		return liveText(EffectsOn(only, field))
	}
	text := liveText(EffectsOf(field))
	if other := liveText(EffectsOn(Azure, field)); other != text {
		text += strings.Replace(other, liveMark, liveInAzure, 1)
	}
	return text
}

// TestSchemaByCloud: keys of one cloud are no keys of files for the other, and neither are
// values that only the other has.
func TestSchemaByCloud(t *testing.T) {
	compiled := compileSchema(t, Schema)
	section := func(m map[string]any, path ...string) map[string]any {
		for _, key := range path {
			switch next := m[key].(type) {
			case []any:
				m = next[0].(map[string]any)
			default:
				m = next.(map[string]any)
			}
		}
		return m
	}
	group := []string{"kubernetes", "nodeGroups"}
	for name, test := range map[string]struct {
		file    string
		breakIt func(map[string]any)
	}{
		"instanceTypes in Azure":  {"azure-full", func(m map[string]any) { section(m, group...)["instanceTypes"] = []any{"m7i.large"} }},
		"no vmSize in Azure":      {"azure-full", func(m map[string]any) { delete(section(m, group...), "vmSize") }},
		"no tenant in Azure":      {"azure-full", func(m map[string]any) { delete(section(m, "cloud"), "tenant") }},
		"profile in Azure":        {"azure-full", func(m map[string]any) { section(m, "cloud")["profile"] = "dev" }},
		"region of AWS in Azure":  {"azure-full", func(m map[string]any) { section(m, "cloud")["region"] = "eu-central-1" }},
		"account of AWS in Azure": {"azure-full", func(m map[string]any) { section(m, "cloud")["account"] = "111122223333" }},
		"principalArn in Azure": {"azure-full", func(m map[string]any) {
			section(m, "kubernetes", "admins")["principalArn"] = "arn:aws:iam::111122223333:role/a"
		}},
		"name of a group in Azure":    {"azure-full", func(m map[string]any) { section(m, group...)["name"] = "a-b" }},
		"zone of AWS in Azure":        {"azure-full", func(m map[string]any) { section(m, group...)["zones"] = []any{"eu-central-1a"} }},
		"mode of AWS in Azure":        {"azure-full", func(m map[string]any) { section(m, "services", "identity")["mode"] = "irsa" }},
		"addon of AWS in Azure":       {"azure-full", func(m map[string]any) { section(m, "addons")["karpenter"] = map[string]any{} }},
		"option of AWS in Azure":      {"azure-full", func(m map[string]any) { section(m, "addons", "keda")["cloudWatch"] = true }},
		"images in Azure":             {"azure-full", func(m map[string]any) { section(m, "egress")["images"] = map[string]any{} }},
		"fromSsm in Azure":            {"azure-full", func(m map[string]any) { section(m, "values", "db_host")["fromSsm"] = "/a" }},
		"another cloud with its keys": {"azure-full", func(m map[string]any) { section(m, "cloud")["provider"] = "aws" }},
		"vmSize in AWS":               {"full", func(m map[string]any) { section(m, group...)["vmSize"] = "Standard_D4s_v5" }},
		"no instanceTypes in AWS":     {"full", func(m map[string]any) { delete(section(m, group...), "instanceTypes") }},
		"tenant in AWS":               {"full", func(m map[string]any) { section(m, "cloud")["tenant"] = "00000000-0000-4000-8000-00000000000a" }},
		"region of Azure in AWS":      {"full", func(m map[string]any) { section(m, "cloud")["region"] = "germanywestcentral" }},
		"outbound in AWS":             {"full", func(m map[string]any) { section(m, "network")["outbound"] = "nat-gateway" }},
		"tier in AWS":                 {"full", func(m map[string]any) { section(m, "kubernetes")["tier"] = "standard" }},
	} {
		file := "testdata/good/" + test.file + ".yaml"
		if err := compiled.Validate(asJSON(t, file, nil)); err != nil {
			t.Fatalf("%s: %#v", file, err)
		}
		if compiled.Validate(asJSON(t, file, test.breakIt)) == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}
