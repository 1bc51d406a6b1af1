// Package zones checks that hosted zones of Route 53 are the ones they are
// taken for.
package zones

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/route53"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Zone is a hosted zone as the cluster file describes it.
type Zone struct {
	// ID of the zone, such as Z0123456789ABCDEFGHIJ.
	ID string
	// Name of the zone's domain, such as example.com; a dot at its end counts
	// for nothing, nor does the case.
	Name string
	// Public says that the zone has to be one that the internet sees.
	Public bool
}

// Check looks every zone up by its id. It fails, naming all of them, when one
// does not exist, has another name, or is private where it has to be public: a
// role or a record for the wrong zone would otherwise fail late, or work.
func Check(ctx *pulumi.Context, zones []Zone, opts ...pulumi.InvokeOption) error {
	var problems []error
	for _, z := range zones {
		problems = append(problems, z.check(ctx, opts...))
	}
	return errors.Join(problems...)
}

func (z Zone) check(ctx *pulumi.Context, opts ...pulumi.InvokeOption) error {
	found, err := route53.LookupZone(ctx, &route53.LookupZoneArgs{ZoneId: &z.ID}, opts...)
	if err != nil {
		return fmt.Errorf("look up hosted zone %s (%s): %w", z.ID, z.Name, err)
	}
	if canonical(found.Name) != canonical(z.Name) {
		return fmt.Errorf("hosted zone %s is %s, not %s; give the id of the zone %s, or correct the name",
			z.ID, canonical(found.Name), canonical(z.Name), canonical(z.Name))
	}
	if private := found.PrivateZone; z.Public && private != nil && *private {
		return fmt.Errorf("hosted zone %s (%s) is private; give the id of the public zone of that name", z.ID, canonical(z.Name))
	}
	return nil
}

// canonical is a domain name in the one form in which names can be compared.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
