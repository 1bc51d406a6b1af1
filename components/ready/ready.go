// Package ready lets a component's output wait for what makes it usable.
package ready

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// After is the value once the resources exist. What uses it is made after them
// and deleted before them.
func After(value pulumi.StringOutput, resources ...pulumi.Resource) pulumi.StringOutput {
	values := []any{value}
	for _, r := range resources {
		values = append(values, r.URN())
	}
	return pulumi.All(values...).ApplyT(func(v []any) string { return v[0].(string) }).(pulumi.StringOutput)
}
