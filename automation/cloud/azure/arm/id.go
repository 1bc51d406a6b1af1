package arm

import "strings"

// ID is the id of a resource in Azure's Resource Manager, and its parts. Source:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules and
// https://learn.microsoft.com/rest/api/resources/resources/get-by-id
type ID struct {
	// Text is the whole id. Ids are the same in any case of their letters.
	Text string
	// Subscription and Group that the resource is in; Group is "" for what is above groups.
	Subscription, Group string
	// Type of the resource, such as Microsoft.Network/virtualNetworks/subnets; for a group
	// Microsoft.Resources/resourceGroups.
	Type string
	// Name of the resource, and Parent, the id of what it is a part of, or on; "" for none.
	Name, Parent string
}

// GroupType is the type of resource groups.
const GroupType = "Microsoft.Resources/resourceGroups"

// ParseID reads an id; false for a text that is none.
func ParseID(text string) (ID, bool) {
	parts := strings.Split(strings.TrimPrefix(text, "/"), "/")
	if !strings.HasPrefix(text, "/") || len(parts) < 2 || len(parts)%2 != 0 || !strings.EqualFold(parts[0], "subscriptions") {
		return ID{}, false
	}
	id := ID{Text: text, Subscription: parts[1], Name: parts[len(parts)-1]}
	if len(parts) > 3 && strings.EqualFold(parts[2], "resourceGroups") {
		id.Group, id.Type = parts[3], GroupType
	}
	provider := -1
	for i := 2; i < len(parts); i += 2 {
		if strings.EqualFold(parts[i], "providers") {
			provider = i
		}
	}
	if provider < 0 {
		return id, true
	}
	id.Type = parts[provider+1]
	for i := provider + 2; i < len(parts); i += 2 {
		id.Type += "/" + parts[i]
	}
	switch {
	case len(parts)-provider > 4: // a part of another resource of the provider
		id.Parent = "/" + strings.Join(parts[:len(parts)-2], "/")
	case provider > 4: // a resource on another one
		id.Parent = "/" + strings.Join(parts[:provider], "/")
	}
	return id, true
}

// Is says that the resource is of a type.
func (id ID) Is(typ string) bool { return strings.EqualFold(id.Type, typ) }

// In says that the resource is in a group of a subscription, or that it is the group.
func (id ID) In(subscription, group string) bool {
	return strings.EqualFold(id.Subscription, subscription) && strings.EqualFold(id.Group, group)
}

// Same says that two texts are the id of one resource.
func Same(a, b string) bool { return strings.EqualFold(a, b) }
