package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"tombolo/config/addon"
	"tombolo/config/field"
	"tombolo/config/strict"
)

// cases of a key on a cloud; none in a section's.
func (r *reference) cases(p Provider, typ reflect.Type, f strict.Field) []Case {
	if typ == reflect.TypeFor[addon.Selection]() {
		return EffectsOn(p, "Cluster.Addons")
	}
	return EffectsOn(p, typ.Name()+"."+typ.Field(f.Index).Name)
}

// only is the cloud whose files alone have a key; "" for all.
func (r *reference) only(typ reflect.Type, f strict.Field) Provider {
	if typ == reflect.TypeFor[addon.Selection]() {
		return ""
	}
	return Provider(typ.Field(f.Index).Tag.Get(field.CloudTag))
}

// mark of a key that only the files for one cloud have.
func mark(p Provider) string {
	if p == "" {
		return ""
	}
	return " (" + p.Title() + ")"
}

// byCloud are the cases of a key that are told: those of its cloud, or of each where they are
// not the same.
func (r *reference) byCloud(typ reflect.Type, f strict.Field) map[Provider][]Case {
	if only := cmp.Or(r.only(typ, f), cloudOf(typ)); only != "" {
		return map[Provider][]Case{only: r.cases(only, typ, f)}
	}
	aws, azure := r.cases(AWS, typ, f), r.cases(Azure, typ, f)
	if liveText(aws) == liveText(azure) {
		return map[Provider][]Case{"": aws}
	}
	return map[Provider][]Case{AWS: aws, Azure: azure}
}

// liveRows tell the cases of a key, where one does more than to change in place.
func (r *reference) liveRows(b *strings.Builder, typ reflect.Type, f strict.Field, p Provider, cases []Case) {
	if !slices.ContainsFunc(cases, func(c Case) bool { return c.Effect != InPlace }) {
		return
	}
	for _, c := range cases {
		path := strings.TrimPrefix(r.paths[typ][0]+"."+f.Name, ".")
		fmt.Fprintf(b, "| `%s`%s | %s | %s | %s |\n", path, mark(p), cmp.Or(c.When, "any"), marked(c.Effect), escaped.Replace(c.Words))
	}
}

// liveCell is what a change of a key does, in short.
func (r *reference) liveCell(typ reflect.Type, f strict.Field) string {
	byCloud := r.byCloud(typ, f)
	aws, azure := effectsInShort(byCloud[AWS]), effectsInShort(byCloud[Azure])
	switch common := effectsInShort(byCloud[""]); {
	case common != "":
		return common
	case aws == azure || azure == "":
		return aws
	case aws == "":
		return azure
	}
	return aws + "; on Azure " + azure
}

// valueByCloud says what a value may be, on each cloud where that is not the same.
func (r *reference) valueByCloud(typ reflect.Type, f strict.Field, common *jsonschema.Schema) string {
	text := r.value(f.Name, f.Type, common)
	var texts []string
	for _, p := range field.Providers() {
		own := r.schema.Definitions[typ.Name()+"."+string(p)]
		if own == nil {
			continue
		}
		if s, there := own.Properties.Get(f.Name); there && r.only(typ, f) == "" {
			both := *common
			both.Enum, both.Minimum, both.Maximum, both.MaxLength = s.Enum, s.Minimum, s.Maximum, s.MaxLength
			if items := s.Items; items != nil && common.Items != nil {
				item := *common.Items
				item.Enum, item.MaxLength = items.Enum, items.MaxLength
				both.Items = &item
			}
			texts = append(texts, p.Title()+": "+r.value(f.Name, f.Type, &both))
		}
	}
	if len(texts) < 2 || strings.TrimPrefix(texts[0], "AWS: ") == strings.TrimPrefix(texts[1], "Azure: ") {
		return text
	}
	return strings.Join(texts, "; ")
}
