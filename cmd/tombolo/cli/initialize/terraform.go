package initialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/internal/wording"
)

// takeNetwork answers what a state of Terraform says: the network, and the cloud, region and account that it is in.
func (o *ClusterOptions) takeNetwork(ctx context.Context) error {
	if o.FromTerraform == "" {
		if o.Network != "" {
			return fault.NewUsage("--network is for --from-terraform", "give the state that has the network, or leave the flag out")
		}
		return nil
	}
	if o.Like != "" {
		return nil // refused with the other flags that do not go with it
	}
	dir, address := o.Dir, o.FromTerraform
	if !strings.Contains(address, "://") { // a path, from where the command was started
		if !filepath.IsAbs(address) {
			address = filepath.Join(o.Dir, address)
		}
		dir, address = filepath.Split(address)
	}
	found, err := o.Networks(ctx, dir, address, o.Network)
	if several := interface{ Choices() []string }(nil); errors.As(err, &several) {
		return fault.NewUsage(err.Error(), "name one of them by --network <id>")
	}
	if err != nil {
		return fault.NewPrecondition(err.Error(), "give a state with a network that can be read here, or leave --from-terraform out", nil)
	}
	if len(found.Isolated) > 0 {
		o.Status().Plain("  left out, as they have no default route: %s", strings.Join(found.Isolated, ", "))
	}
	if vpc := found.Existing.VPC; vpc != "" && len(found.Existing.PrivateSubnets) < 2 {
		return fault.NewPrecondition(fmt.Sprintf("of %s the state has %s", vpc, wording.Count(len(found.Existing.PrivateSubnets), "private subnet"))+", and EKS needs two",
			"give a state that has the subnets and their routes, or write the file without --from-terraform, and name them in network.existing", nil)
	}
	cloud := config.AWS
	if found.Existing.NodeSubnet != "" {
		cloud = config.Azure
	}
	if o.Provider = cmp.Or(o.Provider, cloud); o.Provider != cloud {
		return fault.NewUsage(fmt.Sprintf("--cloud is %s, and the state has a network of %s", o.Provider, cloud), "leave --cloud out, or give another state")
	}
	if o.Region = cmp.Or(o.Region, found.Region); found.Region != "" && o.Region != found.Region {
		return fault.NewUsage(fmt.Sprintf("--region is %s, and the network is in %s", o.Region, found.Region), "leave --region out, or give another state")
	}
	if o.Account = cmp.Or(o.Account, found.Account); cloud == config.AWS && o.Account != found.Account {
		found.Existing.Account = found.Account // which shares the subnets
	}
	o.Cluster.Network, o.Outbound = &found.Existing, found.Outbound
	o.NetworkFrom = config.Source{State: filepath.Base(o.FromTerraform)}.StateName()
	if strings.Contains(o.FromTerraform, "://") {
		o.NetworkFrom = config.Source{State: o.FromTerraform}.StateName()
	}
	return nil
}
