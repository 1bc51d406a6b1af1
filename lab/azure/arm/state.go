package arm

import (
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"strings"

	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

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
func UUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Hashed makes eight digits that stay the same from texts.
func Hashed(parts ...string) string {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(strings.Join(parts, "\x00"))))
	return fmt.Sprintf("%08d", h.Sum32()%100_000_000)
}

// Etag is a resource's.
func Etag() string { return `W/"` + UUID() + `"` }
