// Package azurezones checks that DNS zones of Azure exist.
package azurezones

import (
	"errors"
	"fmt"

	dns "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20180501"
	privatedns "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240601"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/internal/armid"
)

// Check looks every zone up by its id, by a provider of its subscription. It fails, naming all
// of them, when one cannot be read: a role on it would otherwise fail late.
func Check(ctx *pulumi.Context, ids []string, provider pulumi.InvokeOption) error {
	var problems []error
	for _, id := range ids {
		if err := lookUp(ctx, id, provider); err != nil {
			problems = append(problems, fmt.Errorf("look up DNS zone %s: %w; correct the id, and allow %s/read on it to the credentials", id, err, typeOf(id)))
		}
	}
	return errors.Join(problems...)
}

func typeOf(id string) string {
	if armid.Is(id, armid.PrivateZones) {
		return armid.PrivateZones
	}
	return armid.Zones
}

func lookUp(ctx *pulumi.Context, id string, provider pulumi.InvokeOption) (err error) {
	group, name := armid.NameOf(armid.GroupOf(id)), armid.NameOf(id)
	if armid.Is(id, armid.PrivateZones) {
		_, err = privatedns.LookupPrivateZone(ctx, &privatedns.LookupPrivateZoneArgs{ResourceGroupName: group, PrivateZoneName: name}, provider)
		return err
	}
	_, err = dns.LookupZone(ctx, &dns.LookupZoneArgs{ResourceGroupName: group, ZoneName: name}, provider)
	return err
}
