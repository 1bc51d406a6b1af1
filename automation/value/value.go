// Package value reads the values of resources as the engine's events have them:
// where a property is, what may not be shown, and what is not known yet.
package value

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"tombolo/internal/names"
)

// Masked is written in place of a secret.
const Masked = names.Secret

// secretType holds nothing that may be shown, marked as secret or not.
const secretType = "kubernetes:core/v1:Secret"

// Unknown stands for a value that does not exist yet.
type Unknown struct{}

// HidesContent says whether a path of a resource is what a Kubernetes Secret
// holds, which is a secret whether or not the program has marked it.
func HidesContent(token string, path resource.PropertyPath) bool {
	return token == secretType && len(path) > 0 && (path[0] == "data" || path[0] == "stringData")
}

// At is the value at a path, nil without one, and whether it is a secret or
// within one.
func At(v any, path resource.PropertyPath) (found any, secret bool) {
	if IsSecret(v) {
		return Masked, true
	}
	if len(path) == 0 {
		return v, false
	}
	switch in := v.(type) {
	case map[string]any:
		key, ok := path[0].(string)
		if next, has := in[key]; ok && has {
			return At(next, path[1:])
		}
	case []any:
		if i, ok := path[0].(int); ok && i >= 0 && i < len(in) {
			return At(in[i], path[1:])
		}
	}
	return nil, false
}

// IsSecret recognises a secret as events have it: the engine's mark, or the
// text that stands in its place.
func IsSecret(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return v[resource.SigKey] == resource.SecretSig
	case string:
		return v == Masked
	}
	return false
}

// IsUnknown recognises the texts by which events write a value, of any type,
// that does not exist yet.
func IsUnknown(v any) bool {
	text, ok := v.(string)
	return ok && slices.Contains([]string{
		plugin.UnknownBoolValue, plugin.UnknownNumberValue, plugin.UnknownStringValue, plugin.UnknownArrayValue,
		plugin.UnknownAssetValue, plugin.UnknownArchiveValue, plugin.UnknownObjectValue,
	}, text)
}

// Shown is a value for people, with every secret within it masked, all of it
// where it is hidden, and Unknown in the place of what is not known.
func Shown(v any, hidden bool) any {
	switch {
	case v == nil:
		return nil
	case IsUnknown(v):
		return Unknown{}
	case hidden || IsSecret(v):
		return Masked
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, child := range v {
			if !strings.HasPrefix(key, "__") {
				out[key] = Shown(child, false)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = Shown(child, false)
		}
		return out
	}
	return v
}

// NameOf is the name of a resource, the last part of its URN; all of a text that is none.
func NameOf(urn string) string {
	if at := strings.LastIndex(urn, "::"); at >= 0 {
		return urn[at+len("::"):]
	}
	return urn
}
