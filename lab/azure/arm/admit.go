package arm

import (
	"fmt"
	"slices"
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// GroupType is the type of resource groups.
const GroupType = "azure-native:resources:ResourceGroup"

// admit refuses a resource that Resource Manager does not let be made, in its own order.
func (k Kind) admit(c *standin.Call, property string) error {
	checkName := func(c *standin.Call) error { return k.checkName(c, c.In().Str(property)) }
	return c.Check(k.admitWrite, checkGroup, k.checkParent, checkName, k.checkLocation, checkTags, k.checkContent)
}

// admitWrite refuses a write by somebody who may not, and to a resource provider that the
// subscription is not registered for.
func (k Kind) admitWrite(c *standin.Call) error {
	subscription := armid.SubscriptionOf(c.Record.ID)
	if subscription != "" && !KnownSubscription(c.Cloud, subscription) {
		// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/common-deployment-errors
		return c.Refuse(standin.Refusal{Code: "SubscriptionNotFound", Status: 404, Message: "The subscription '" + subscription + "' could not be found."})
	}
	if err := authorize(c, k.ARM+"/write", c.Record.ID); err != nil {
		return err
	}
	return k.checkRegistered(c)
}

// authorize refuses a call that its caller is not allowed. The credentials own their
// subscription; anything else is by role assignments. Source:
// https://learn.microsoft.com/en-us/azure/role-based-access-control/troubleshooting
func authorize(c *standin.Call, action, id string) error {
	if Allowed(c, action, id) {
		return nil
	}
	return c.Refuse(standin.Refusal{Code: "AuthorizationFailed", Status: 403, Message: fmt.Sprintf(
		"The client '%s' with object id '%s' does not have authorization to perform action '%s' over scope '%s' or the scope is invalid. "+
			"If access was recently granted, please refresh your credentials.", ClientFor(c), CallerFor(c), action, id)})
}

// Allowed says that the caller may do an action on what an id names.
func Allowed(c *standin.Call, action, id string) bool {
	return slices.ContainsFunc(RolesOf(c.Cloud, CallerFor(c), id), func(role rbac.Role) bool { return role.Allows(action) })
}

// RolesOf are the roles that a caller has on what an id names. The account is locked.
func RolesOf(c *standin.Cloud, caller, id string) []rbac.Role {
	if owner, _ := rbac.ByID(rbac.Owner); caller == ClientObject && Same(armid.SubscriptionOf(id), c.Account) {
		return []rbac.Role{owner}
	}
	return rbac.Of(c, caller, id)
}

// CheckLinked refuses a caller that may write a resource, but not use another one that the
// resource names. Source: https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/linkedauthorizationfailed-error
func CheckLinked(c *standin.Call, action, id string) error {
	if Allowed(c, action, id) {
		return nil
	}
	return c.Refuse(standin.Refusal{Code: "LinkedAuthorizationFailed", Status: 403, Message: fmt.Sprintf(
		"The client '%s' with object id '%s' has permission to perform action '%s' on scope '%s'; however, it does not have permission to perform action(s) '%s' "+
			"on the linked scope(s) '%s' (respectively) or the linked scope(s) are invalid.", ClientFor(c), CallerFor(c), c.Type.Noun+"/write", c.Record.ID, action, id)})
}

// checkRegistered refuses a resource provider that the subscription is not registered for.
// azure-native does not register it. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-register-resource-provider
func (k Kind) checkRegistered(c *standin.Call) error {
	if k.Provider == "" || Registered(c.Cloud, armid.SubscriptionOf(c.Record.ID), k.Provider) {
		return nil
	}
	return c.Refuse(standin.Refusal{Code: "MissingSubscriptionRegistration", Status: 409, Message: fmt.Sprintf(
		"The subscription is not registered to use namespace '%s'. See https://aka.ms/rps-not-found for how to register subscriptions.", k.Provider)})
}

// checkGroup refuses a resource in a group that does not exist, or that is going. Sources:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-not-found and
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/common-deployment-errors
func checkGroup(c *standin.Call) error {
	group := armid.GroupOf(c.Record.ID)
	if group == "" || Same(group, c.Record.ID) {
		return nil
	}
	found := ByID(c.Cloud, GroupType, group)
	if found == nil {
		return c.Refuse(standin.Refusal{Code: "ResourceGroupNotFound", Status: 404, Message: "Resource group '" + armid.NameOf(group) + "' could not be found."})
	}
	if found.Status == standin.StatusDeleting {
		return c.Refuse(standin.Refusal{Code: "ResourceGroupBeingDeleted", Status: 409, Message: "The resource group '" + armid.NameOf(group) + "' is in deprovisioning state and cannot perform this operation."})
	}
	return nil
}

// checkParent refuses a resource within one that does not exist. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-parent-resource
func (k Kind) checkParent(c *standin.Call) error {
	if k.Parent == "" || k.parentOf(c) != nil {
		return nil
	}
	return c.Refuse(standin.Refusal{Code: "ParentResourceNotFound", Status: 404, Message: fmt.Sprintf(
		"Failed to perform '%s' on resource(s) of type '%s', because the parent resource '%s' could not be found.", "write", typeWithin(k.ARM), Filled(k.ParentPath, SubscriptionFor(c), c.In()))})
}

// parentOf is the resource that a call's is within.
func (k Kind) parentOf(c *standin.Call) *standin.Record {
	return ByID(c.Cloud, k.Parent, Filled(k.ParentPath, SubscriptionFor(c), c.In()))
}

// ParentOf is the resource of a type around another one: its id is the beginning of the
// other's.
func ParentOf(c *standin.Cloud, token, id string) *standin.Record {
	for r := range c.Each(token, standin.Global) {
		if rbac.Covers(r.ID, id) {
			return r
		}
	}
	return nil
}

// typeWithin is a type without its namespace: virtualNetworks/subnets.
func typeWithin(arm string) string {
	_, within, _ := strings.Cut(arm, "/")
	return within
}

// reserved names and words are those of
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-reserved-resource-name
var (
	reservedWords = []string{"MICROSOFT", "WINDOWS"}
	reservedNames = []string{"ACCESS", "APP_CODE", "APP_THEMES", "AZURE", "BACKUP", "BING", "BIZTALK", "EXCEL", "EXCHANGE", "HOTMAIL", "OFFICE", "OFFICE365", "ONENOTE", "OUTLOOK", "SHAREPOINT", "SKYPE", "VISIO", "VISUALSTUDIO", "XBOX"}
)

func (k Kind) checkName(c *standin.Call, name string) error {
	upper := strings.ToUpper(name)
	within := slices.ContainsFunc(reservedWords, func(word string) bool { return strings.Contains(upper, word) })
	if within || slices.Contains(reservedNames, upper) || strings.HasPrefix(upper, "LOGIN") {
		return c.Refuse(standin.Refusal{Code: "ReservedResourceName", Message: "The resource name '" + name + "' or a part of the name is a trademarked or reserved word."})
	}
	if k.Name == nil || k.Name.MatchString(name) {
		return nil
	}
	if k.ARM == "Microsoft.Resources/resourceGroups" {
		return c.Refuse(standin.Refusal{Code: "InvalidResourceGroup", Message: "The provided resource group name '" + name + "' has these invalid characters: the name can only be a letter, digit, '-', '.', '(', ')' or '_'."})
	}
	// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
	return c.Refuse(standin.Refusal{Code: "InvalidResourceName", Message: fmt.Sprintf("Resource name %s is invalid. %s", name, k.NameRule)})
}

// checkLocation refuses a location that there is not. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/common-deployment-errors
func (k Kind) checkLocation(c *standin.Call) error {
	location := c.In().Str("location")
	if !c.Type.HasInput("location") || k.Free {
		return nil
	}
	if location == "" {
		location = defaultLocation(c)
		c.In()["location"], c.Out()["location"] = location, location
	}
	if k.offeredIn(location) {
		return nil
	}
	if k.ARM == "Microsoft.Resources/resourceGroups" {
		return c.Refuse(standin.Refusal{Code: "LocationNotAvailableForResourceGroup", Message: fmt.Sprintf(
			"The provided location '%s' is not available for resource group. List of available regions is '%s'.", location, offered())})
	}
	return c.Refuse(standin.Refusal{Code: "LocationNotAvailableForResourceType", Message: fmt.Sprintf(
		"The provided location '%s' is not available for resource type '%s'. List of available regions for the resource type is '%s'.", location, k.ARM, k.locations())})
}

// offeredIn says that resources of the kind can be in a location.
func (k Kind) offeredIn(location string) bool {
	if k.Worldwide {
		return Normal(location) == global
	}
	return knownLocation(location)
}

// locations that resources of the kind can be in, as refusals list them.
func (k Kind) locations() string {
	if k.Worldwide {
		return global
	}
	return offered()
}

// global is the location of what is in no region.
const global = "global"

// defaultLocation is what azure-native takes without one: the provider's, or the group's.
func defaultLocation(c *standin.Call) string {
	if location := c.Settings.Str("location"); location != "" {
		return location
	}
	if group := ByID(c.Cloud, GroupType, armid.GroupOf(c.Record.ID)); group != nil {
		return group.Outputs.Str("location")
	}
	return ""
}

// checkTags refuses tags beyond Azure's limits; of their number, Azure publishes no words. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources
func checkTags(c *standin.Call) error {
	tags := c.In().Strs("tags")
	if len(tags) > 50 {
		return c.Refusef("InvalidTagCount", "The number of tags on the resource, %d, exceeds the maximum allowed, 50.", len(tags))
	}
	for _, key := range standin.SortedKeys(tags) {
		switch {
		case len(key) > 512:
			return c.Refusef("InvalidTagName", "Tag name too large. Following tag name '%s...' exceeded the maximum length. Maximum allowed length for tag name - '512' characters.", key[:40])
		case len(tags[key]) > 256:
			return c.Refusef("InvalidTagValue", "Tag value too large. Following tag value '%s...' exceeded the maximum length. Maximum allowed length for tag value - '256' characters.", tags[key][:40])
		case strings.ContainsAny(key, `<>%&\?/`):
			return c.Refusef("InvalidTagNameCharacters", `The tag names '%s' have reserved characters '<,>,%%,&,\,?,/' or control characters.`, key)
		}
	}
	return nil
}
