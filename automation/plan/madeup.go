package plan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/value"
)

// Random stands in the place of the digits by which a provider makes up a name.
const Random = "(random)"

// madeUpEnd is how providers end a name that they make up: with random digits,
// other ones in each preview. The providers of AWS take 7, that of Kubernetes 8,
// and a FIFO queue's name ends with its suffix.
var madeUpEnd = regexp.MustCompile(`^-[0-9a-f]{7,8}(\.fifo)?$`)

// MadeUp are the names that the provider has made up for a resource that does
// not exist yet, each followed by what is written in its place.
func MadeUp(m apitype.StepEventMetadata) []string {
	if m.New == nil {
		return nil
	}
	var had map[string]any
	if m.Old != nil {
		had = m.Old.Inputs
	}
	var out []string
	for _, in := range []struct{ now, was map[string]any }{
		{m.New.Inputs, had}, {objectAt(m.New.Inputs, "metadata"), objectAt(had, "metadata")},
	} {
		for _, key := range keysOf(in.now, nil) {
			name, is := in.now[key].(string)
			if random, ok := withoutDigits(name, value.NameOf(m.URN)); is && ok && in.was[key] != name {
				out = append(out, name, random)
			}
		}
	}
	return out
}

func objectAt(in map[string]any, key string) map[string]any {
	found, _ := in[key].(map[string]any)
	return found
}

// withoutDigits is a name that was made up of a resource's, with a word in the
// place of the digits; false for another one.
func withoutDigits(name, resource string) (string, bool) {
	i := strings.LastIndex(name, resource+"-")
	if i < 0 || !madeUpEnd.MatchString(name[i+len(resource):]) {
		return "", false
	}
	digits, suffix := name[i+len(resource)+1:], ""
	if before, fifo := strings.CutSuffix(digits, ".fifo"); fifo {
		digits, suffix = before, ".fifo"
	}
	return strings.TrimSuffix(name, digits+suffix) + Random + suffix, true
}

// Settle puts a word in the place of digits that differ in the next preview
// of the same change: those of names that providers make up, wherever the names
// are told.
func (c *Cluster) Settle() {
	var pairs []string
	for _, s := range c.Stacks {
		pairs = append(pairs, s.madeUp...)
	}
	if len(pairs) == 0 {
		return
	}
	names := strings.NewReplacer(pairs...)
	for k, s := range c.Stacks {
		if s.told != nil {
			c.Stacks[k].told = replaced(s.told, names).(map[string]any)
		}
		for i := range s.Resources {
			for j := range s.Resources[i].Diffs {
				d := &s.Resources[i].Diffs[j]
				d.Path, d.Before, d.After = names.Replace(d.Path), replaced(d.Before, names), replaced(d.After, names)
			}
		}
		for i := range s.Outputs {
			o := &s.Outputs[i]
			o.Name, o.Before, o.After = names.Replace(o.Name), replaced(o.Before, names), replaced(o.After, names)
		}
	}
}

// replaced is a value in whose texts the names are replaced.
func replaced(v any, names *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return names.Replace(v)
	case []any:
		out := slices.Clone(v)
		for i, child := range v {
			out[i] = replaced(child, names)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, child := range v {
			out[names.Replace(key)] = replaced(child, names)
		}
		return out
	}
	return v
}
