package render

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"tombolo/internal/names"
)

// unknown stands for a value that does not exist yet.
type unknown struct{}

func isUnknown(v any) bool {
	_, ok := v.(unknown)
	return ok
}

// flatten turns the nested inputs of a resource into one value per path.
func flatten(inputs map[string]any) map[string]any {
	flat := map[string]any{}
	for key, v := range inputs {
		if !strings.HasPrefix(key, "__") {
			flattenInto(flat, key, v)
		}
	}
	return flat
}

func flattenInto(flat map[string]any, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if isSecret(v) {
			flat[path] = names.Secret
			return
		}
		for key, child := range v {
			flattenInto(flat, join(path, key), child)
		}
	case []any:
		for i, child := range v {
			flattenInto(flat, fmt.Sprintf("%s[%d]", path, i), child)
		}
	case string:
		if unknownSentinel(v) {
			flat[path] = unknown{}
			return
		}
		flat[path] = v
	default:
		flat[path] = v
	}
}

// maskSecretObject masks what a Kubernetes Secret holds, whether or not the
// program has marked it as secret.
func maskSecretObject(typ string, flat map[string]any) {
	if typ != "kubernetes:core/v1:Secret" {
		return
	}
	for path, v := range flat {
		holds := strings.HasPrefix(path, "data") || strings.HasPrefix(path, "stringData")
		if holds && !isUnknown(v) {
			flat[path] = names.Secret
		}
	}
}

// join extends a path by a key, quoting keys that would read as two.
func join(path, key string) string {
	if strings.ContainsAny(key, ".[/") {
		return fmt.Sprintf("%s[%q]", path, key)
	}
	return path + "." + key
}

// isSecret recognises the engine's mark of a secret value.
func isSecret(v map[string]any) bool {
	return v[resource.SigKey] == resource.SecretSig
}

// unknownSentinel recognises the strings by which the engine writes a value,
// of any type, that does not exist yet.
func unknownSentinel(s string) bool {
	return slices.Contains([]string{
		plugin.UnknownBoolValue, plugin.UnknownNumberValue, plugin.UnknownStringValue,
		plugin.UnknownArrayValue, plugin.UnknownAssetValue, plugin.UnknownArchiveValue,
		plugin.UnknownObjectValue,
	}, s)
}

// formatValue writes a known value on one line.
func formatValue(v any) string {
	if s, ok := v.(string); ok && s == names.Secret {
		return names.Secret
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	return string(text)
}
