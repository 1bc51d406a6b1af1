package object

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Input turns decoded YAML into Pulumi inputs. Nulls are left out: they say
// nothing, and server-side apply would take them for a wish.
func Input(v any) pulumi.Input {
	switch v := v.(type) {
	case map[string]any:
		m := pulumi.Map{}
		for k, e := range v {
			if in := Input(e); in != nil {
				m[k] = in
			}
		}
		return m
	case []any:
		a := make(pulumi.Array, 0, len(v))
		for _, e := range v {
			if in := Input(e); in != nil {
				a = append(a, in)
			}
		}
		return a
	case []string:
		return pulumi.ToStringArray(v)
	case pulumi.Input:
		return v
	case string:
		return pulumi.String(v)
	case bool:
		return pulumi.Bool(v)
	case int:
		return pulumi.Int(v)
	case float64:
		return pulumi.Float64(v)
	case nil:
		return nil
	default:
		return pulumi.String(fmt.Sprint(v))
	}
}
