package addon

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/internal/userdata"
)

var (
	label    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	variable = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	sentence = regexp.MustCompile(`^[A-Z].*\.$`)
)

func facts() Facts {
	return Facts{
		Cluster: "demo", Environment: "dev", Region: "eu-central-1", Account: "111122223333", Tenant: "00000000-0000-4000-8000-00000000000a",
		Partition: "aws", OwnNetwork: true, Enabled: []string{"istio"}, IssuerURL: "https://id.demo.example.com/application/o/kubernetes/", ClientID: "kubernetes",
		Egress: userdata.Egress{Proxy: "http://proxy.corp.example:3128", NoProxy: []string{".svc", "172.20.0.0/16"}},
		Tags:   map[string]string{"team": "platform", "cost center": "a=b", "a=b": "c", "karpenter.sh/team": "x", "tombolo:cluster": "demo", "tombolo:environment": "dev"},
	}
}

func TestEveryAddonIsComplete(t *testing.T) {
	keys := map[string]string{}
	for _, a := range All() {
		assert.Check(t, label.MatchString(a.Name) && label.MatchString(a.Namespace), "%s in %s: name and namespace must be DNS labels", a.Name, a.Namespace)
		if !sentence.MatchString(a.Summary) {
			t.Errorf("%s: the summary %q is no sentence", a.Name, a.Summary)
		}
		for _, other := range slices.Concat(a.Required(AWS), a.Required(Azure)) {
			assert.Check(t, Find(other) != nil, "%s requires %s, which the catalogue does not have", a.Name, other)
		}
		for _, k := range a.Keys() {
			if !variable.MatchString(k.Name) || !sentence.MatchString(k.Description) || k.Example == "" {
				t.Errorf("%s: key %q needs a variable's name, a description and an example", a.Name, k.Name)
			}
			if other := keys[k.Name]; other != "" {
				t.Errorf("key %s is of %s and of %s", k.Name, other, a.Name)
			}
			keys[k.Name] = a.Name
		}
	}
	assert.Check(t, len(All()) >= 10, "the catalogue has %d addons, expected 10 or more", len(All()))
}

func TestStagesKeepTheirOrder(t *testing.T) {
	position := map[Stage]int{}
	for i, s := range Stages() {
		position[s] = i
	}
	last := -1
	for _, a := range All() {
		p, ok := position[a.Stage]
		assert.Check(t, ok && p >= last, "%s: stage %q is unknown or out of order", a.Name, a.Stage)
		last = p
	}
}

// TestRulesAreOfFields finds rules that nothing is held to, and defaults that
// SetDefaults does not set.
func TestRulesAreOfFields(t *testing.T) {
	for _, a := range All() {
		options := a.NewOptions()
		Selection{a.Name: options}.SetDefaults()
		for name, d := range a.fields {
			rule := d.Rule
			typ, field, _ := strings.Cut(name, ".")
			if typ != a.options.Name() {
				assert.Check(t, nested(a.options, typ, field), "%s: rule %s is of no field", a.Name, name)
				continue
			}
			v := reflect.ValueOf(options).Elem().FieldByName(field)
			if !v.IsValid() {
				t.Errorf("%s: rule %s is of no field", a.Name, name)
				continue
			}
			if rule.Default != nil && !reflect.DeepEqual(plain(v), rule.Default) {
				t.Errorf("%s: %s is %v by default, the rule says %v", a.Name, name, plain(v), rule.Default)
			}
		}
	}
}

func plain(v reflect.Value) any {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return v.Interface()
}

// nested says whether a struct type contains, in a list or a pointer, a type with
// the name and the field.
func nested(t reflect.Type, name, field string) bool {
	for i := range t.NumField() {
		f := t.Field(i).Type
		for f.Kind() == reflect.Pointer || f.Kind() == reflect.Slice {
			f = f.Elem()
		}
		if f.Kind() != reflect.Struct {
			continue
		}
		if _, ok := f.FieldByName(field); f.Name() == name && ok || nested(f, name, field) {
			return true
		}
	}
	return false
}
