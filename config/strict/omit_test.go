package strict

import (
	"reflect"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

type house struct {
	Name string `yaml:"name"`
	Oven string `yaml:"oven" land:"cold"`
	Fan  string `yaml:"fan" land:"hot"`
	Pool *pool  `yaml:"pool,omitempty" land:"hot"`
}

type pool struct {
	Depth int `yaml:"depth"`
}

// coldFormat has no keys of hot lands.
var coldFormat = Format{
	Rule: func(string) Rule { return Rule{} },
	Omit: func(owner reflect.Type, name string, tag reflect.StructTag) *Omission {
		if land := tag.Get("land"); land == "" || land == "cold" {
			return nil
		}
		o := &Omission{Message: "is for hot lands", Remedy: "remove it"}
		if owner.Name()+"."+name == "house.Fan" {
			o.Remedy, o.Instead = "use oven", "oven"
		}
		return o
	},
}

func TestOmittedKeys(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"of the format", "name: a\noven: b\n", ""},
		{"the other's, with a counterpart that is then not missing", "name: a\nfan: b\n", "x:2:1: fan: is for hot lands; use oven"},
		{"the other's, whose own keys are not looked at", "name: a\noven: b\npool: {width: 3}\n", "x:3:1: pool: is for hot lands; remove it"},
		{"required", "name: a\n", "x:1:1: oven: is required and missing; add it"},
		{"nobody's", "name: a\noven: b\nfun: c\n", "x:3:1: fun: is not a known key; remove it; the keys here are name, oven"},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc := NewDocument("x")
			coldFormat.Decode(doc, []byte(test.file), &house{})
			if test.want == "" {
				assert.NilError(t, doc.Problems().Err())
				return
			}
			assert.Equal(t, doc.Problems().Error(), test.want)
		})
	}
}

func TestFieldsWithoutOmitted(t *testing.T) {
	assert.Check(t, is.DeepEqual(namesOf(coldFormat.Fields(reflect.TypeFor[house]())), []string{"name", "oven"}))
	all := Format{Rule: coldFormat.Rule}
	assert.Check(t, is.Len(all.Fields(reflect.TypeFor[house]()), 4))
	assert.Check(t, coldFormat.Omission(reflect.TypeFor[house](), "pool") != nil)
	assert.Check(t, coldFormat.Omission(reflect.TypeFor[house](), "oven") == nil)
	assert.Check(t, coldFormat.Omission(reflect.TypeFor[house](), "roof") == nil)
}
