// Package arm is what all resource providers of the Azure stand-in have in common: the ids
// and checks of Azure Resource Manager, its locations, and how azure-native words errors.
package arm

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"tombolo/internal/armid"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// Same says that two texts are one id. Azure does not tell cases of letters apart:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
func Same(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// Filled puts inputs and the subscription into the parameters of a path.
func Filled(path, subscription string, in standin.Props) string {
	return parameter.ReplaceAllStringFunc(path, func(text string) string {
		name := strings.Trim(text, "{}")
		if name == "subscriptionId" {
			return subscription
		}
		return strings.Trim(in.Str(name), "/")
	})
}

// parameters of a path but the subscription, in order.
func parameters(path string) []string {
	var names []string
	for _, match := range parameter.FindAllStringSubmatch(path, -1) {
		if match[1] != "subscriptionId" {
			names = append(names, match[1])
		}
	}
	return names
}

// ByID is the resource of a type with an id, or nil. One that is being made or deleted
// exists.
func ByID(c *standin.Cloud, token, id string) *standin.Record {
	return c.Find(token, standin.Global, id)
}

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

// UnregisteredType records that a subscription is not registered for a resource provider.
// No program can make one.
const UnregisteredType = "lab:azure:Unregistered"

// Registered says that a subscription is registered for a resource provider. The lab's are
// for all that it has, until Unregister.
func Registered(c *standin.Cloud, subscription, provider string) bool {
	return c.Get(UnregisteredType, standin.Global, registration(subscription, provider)) == nil
}

// Unregister takes away the registration of a subscription for a resource provider, such as
// Microsoft.ContainerService, as a new subscription has none; Register gives it back.
func Unregister(c *standin.Cloud, subscription, provider string) error {
	defer c.Lock()()
	return c.Put(&standin.Record{
		Type: UnregisteredType, ID: registration(subscription, provider), Region: standin.Global, Created: c.Now(), Implied: true,
		Inputs: standin.Props{}, Outputs: standin.Props{},
	})
}

// Register a subscription for a resource provider.
func Register(c *standin.Cloud, subscription, provider string) error {
	defer c.Lock()()
	if r := c.Get(UnregisteredType, standin.Global, registration(subscription, provider)); r != nil {
		return c.Forget(r)
	}
	return nil
}

func registration(subscription, provider string) string {
	return "/subscriptions/" + strings.ToLower(subscription) + "/providers/" + strings.ToLower(provider)
}

// ForgetWithin drops all that is within a resource, and what is assigned on it. The account
// is locked.
func ForgetWithin(c *standin.Cloud, id string) error {
	for _, r := range c.All() {
		if Same(r.ID, id) || !rbac.Covers(id, r.ID) {
			continue
		}
		if err := c.Forget(r); err != nil {
			return err
		}
	}
	return nil
}

// UUID makes a random UUID, as Azure names things.
func UUID() string { return uuid.NewString() }

// Hashed makes eight digits that stay the same from texts.
func Hashed(parts ...string) string {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(strings.Join(parts, "\x00"))))
	return fmt.Sprintf("%08d", h.Sum32()%100_000_000)
}

// Etag is a resource's.
func Etag() string { return `W/"` + UUID() + `"` }
