package drift

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// Masked is written in place of a secret.
const Masked = "[secret]"

// secretType holds nothing that may be shown, marked as secret or not.
const secretType = "kubernetes:core/v1:Secret"

// property compares the values at a path: what the program wanted with what
// there is. What is read back from the cloud is not always marked as secret, so
// a mark on either side counts for both.
func property(m apitype.StepEventMetadata, path string) Property {
	p := Property{Path: path}
	parsed, err := resource.ParsePropertyPath(path)
	if err != nil {
		return p
	}
	wanted, hidden := at(m.Old.Inputs, parsed)
	var actual any
	if m.New != nil {
		var secret bool
		if actual, secret = at(m.New.Inputs, parsed); actual == nil {
			actual, secret = at(m.New.Outputs, parsed)
		}
		hidden = hidden || secret
	}
	_, made := at(m.Old.Outputs, parsed)
	hidden = hidden || made || m.Type == secretType && isContent(parsed)
	p.Expected, p.Actual = shown(wanted, hidden), shown(actual, hidden)
	return p
}

// isContent says whether a path of a Kubernetes Secret is what it holds.
func isContent(path resource.PropertyPath) bool {
	return len(path) > 0 && (path[0] == "data" || path[0] == "stringData")
}

// at is the value at a path, nil without one, and whether it is a secret or
// within one.
func at(v any, path resource.PropertyPath) (value any, secret bool) {
	if isSecret(v) {
		return Masked, true
	}
	if len(path) == 0 {
		return v, false
	}
	switch in := v.(type) {
	case map[string]any:
		key, ok := path[0].(string)
		if next, has := in[key]; ok && has {
			return at(next, path[1:])
		}
	case []any:
		if i, ok := path[0].(int); ok && i >= 0 && i < len(in) {
			return at(in[i], path[1:])
		}
	}
	return nil, false
}

// isSecret recognises a secret as events have it: the engine's mark, or the
// text that stands in its place.
func isSecret(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return v[resource.SigKey] == resource.SecretSig
	case string:
		return v == Masked
	}
	return false
}

// shown is a value for people, with every secret within it masked.
func shown(v any, hidden bool) any {
	if v == nil {
		return nil
	}
	if hidden || isSecret(v) {
		return Masked
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, child := range v {
			if !strings.HasPrefix(key, "__") {
				out[key] = shown(child, false)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = shown(child, false)
		}
		return out
	}
	return v
}
