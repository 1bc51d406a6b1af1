package arm

import (
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/standin"
)

// Lookup answers a function that reads one resource of a kind, by the inputs that name it.
// describe completes the outputs, of which it gets a copy. Optional.
func Lookup(k Kind, describe func(q *standin.Query, r *standin.Record, out standin.Props)) func(q *standin.Query) (standin.Props, error) {
	return func(q *standin.Query) (standin.Props, error) {
		r, err := Read(q, k, Filled(k.Path, SubscriptionFor(q.Call), q.Args))
		if err != nil {
			return nil, err
		}
		out := standin.WithID(r)
		if describe != nil {
			describe(q, r, out)
		}
		return out, nil
	}
}

// Read finds a resource for a function, or refuses as Resource Manager does. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-not-found
func Read(q *standin.Query, k Kind, id string) (*standin.Record, error) {
	if err := mayRead(q, k, id); err != nil {
		return nil, err
	}
	if group := armid.GroupOf(id); ByID(q.Cloud, GroupType, group) == nil {
		return nil, &Error{Status: 404, Code: "ResourceGroupNotFound", Message: "Resource group '" + armid.NameOf(group) + "' could not be found."}
	}
	if r := ByID(q.Cloud, k.Token, id); r != nil {
		return r, nil
	}
	return nil, NotFound(k.ARM, id)
}

// NotFound is the answer to a request for a resource that does not exist.
func NotFound(kind, id string) error {
	namespace, _, _ := strings.Cut(kind, "/")
	return &Error{Status: 404, Code: "ResourceNotFound", Message: "The Resource '" + namespace + "/" + pathWithin(id) +
		"' under resource group '" + armid.NameOf(armid.GroupOf(id)) + "' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"}
}

// mayRead refuses a reader without rights, as authorize does.
func mayRead(q *standin.Query, k Kind, id string) error {
	if !KnownSubscription(q.Cloud, armid.SubscriptionOf(id)) {
		return &Error{Status: 404, Code: "SubscriptionNotFound", Message: "The subscription '" + armid.SubscriptionOf(id) + "' could not be found."}
	}
	return authorize(q.Call, k.ARM+"/read", id)
}

// pathWithin is what an id has after its resource provider: virtualNetworks/shared.
func pathWithin(id string) string {
	_, after, _ := strings.Cut(id, "/providers/")
	_, path, _ := strings.Cut(after, "/")
	return path
}
