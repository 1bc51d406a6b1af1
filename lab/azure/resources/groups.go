// Package resources is Azure's resource groups in the stand-in.
package resources

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-azure-native-sdk/resources/v2"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// group is what Resource Manager knows of groups. Names are by
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
var group = arm.Kind{
	Token: arm.GroupType, ARM: "Microsoft.Resources/resourceGroups",
	Path: "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}",
	Name: regexp.MustCompile(`^[-\w._()]{0,89}[-\w_()]$`),
}

// Using finds what uses a resource from outside of a group: its id, empty where nothing
// does. The account is locked.
type Using func(c *standin.Cloud, used *standin.Record, group string) string

// Types are the resource groups. A group does not go while something outside uses what is
// in it, as one of the functions tells.
func Types(using ...Using) map[string]*standin.Type {
	return map[string]*standin.Type{
		arm.GroupType: group.Type(standin.Type{
			Constructor: resources.NewResourceGroup,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"location"},
			Put: func(c *standin.Call) error {
				c.Out()["properties"] = map[string]any{"provisioningState": "Succeeded"}
				return nil
			},
			Remove:   func(c *standin.Call) error { return checkUnused(c, using) },
			Teardown: empty,
			// Seconds to make; to delete, as long as what is in it, and about a minute. Source:
			// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/delete-resource-group
			Takes: standin.Timing{Create: 2 * time.Second, Update: time.Second, Remove: time.Minute},
		}),
	}
}

// Functions look up groups.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"azure-native:resources:getResourceGroup": {SDK: resources.LookupResourceGroup, Run: arm.Lookup(group, nil)},
	}
}

// checkUnused refuses a group of which Azure could not delete everything: something else
// uses what is in it. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/delete-resource-group
func checkUnused(c *standin.Call, using []Using) error {
	if by := c.Record.Outputs.Str("managedBy"); by != "" && arm.ByID(c.Cloud, clusterOf(c.Cloud, by), by) != nil {
		return c.Refuse(standin.Refusal{Code: "DenyAssignmentAuthorizationFailed", Status: 403, Message: "The resource group '" + armid.NameOf(c.Record.ID) + "' is managed by '" + by + "'."})
	}
	for r := range within(c.Cloud, c.Record.ID) {
		for _, use := range using {
			if user := use(c.Cloud, r, c.Record.ID); user != "" {
				return c.Refuse(standin.Refusal{Code: "ResourceGroupDeletionBlocked", Status: 409, Message: fmt.Sprintf(
					"Deletion of resource group '%s' failed as resources with identifiers '%s' could not be deleted. The provisioning state of the resource group will be rolled back. "+
						"The tracking Id is '%s'. Please check audit logs for more details.", armid.NameOf(c.Record.ID), r.ID, arm.UUID())})
			}
		}
	}
	return nil
}

// clusterOf is the type of what manages a group.
func clusterOf(c *standin.Cloud, id string) string {
	for _, r := range c.All() {
		if arm.Same(r.ID, id) {
			return r.Type
		}
	}
	return ""
}

// within yields what is in a group, the newest first.
func within(c *standin.Cloud, group string) func(func(*standin.Record) bool) {
	return func(yield func(*standin.Record) bool) {
		for _, r := range slices.Backward(c.All()) {
			if !arm.Same(r.ID, group) && rbac.Covers(group, r.ID) && !yield(r) {
				return
			}
		}
	}
}

// empty deletes all that is in a group, the newest first, as Azure does: what others in the
// group use goes after them. What cannot go is reported.
func empty(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
	client := c.Client("")
	for {
		next, left := deletable(c, r.ID)
		if next == nil {
			return left
		}
		if err := client.Delete(ctx, next.Type, next.ID); err != nil {
			return fmt.Errorf("deleting the resource group %s: %w", armid.NameOf(r.ID), err)
		}
	}
}

// deletable is the resource of a group to be deleted next; nil when none is left but what
// goes with others.
func deletable(c *standin.Cloud, group string) (*standin.Record, error) {
	defer c.Lock()()
	var next *standin.Record
	for r := range within(c, group) {
		if c.TypeOf(r.Type) == nil || r.Implied {
			continue
		}
		if next == nil || rank(r) < rank(next) {
			next = r
		}
	}
	if next == nil {
		return nil, arm.ForgetWithin(c, group)
	}
	return next, nil
}

// rank of a resource in the order of deletion: first clusters, then load balancers and networks
// with what is in them. NAT gateways go after the subnets that use them, and public addresses
// after what has them.
func rank(r *standin.Record) int {
	switch kind := strings.ToLower(r.ID); {
	case strings.Contains(kind, "/managedclusters/"):
		return 0
	case strings.Contains(kind, "/loadbalancers/"):
		return 1
	case strings.Contains(kind, "/virtualnetworks/"):
		return 2
	case strings.Contains(kind, "/natgateways/"):
		return 3
	}
	return 4
}
