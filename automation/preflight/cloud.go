package preflight

import (
	"context"
	"time"

	"tombolo/config"
)

// Cloud is what a preflight asks of a provider of clouds.
type Cloud interface {
	// Programs are what is started for a cluster on this cloud, and Plugins the
	// providers that are used, besides those of every cluster.
	Programs() []Program
	Plugins() []Plugin
	// Credentials judges, without a call, what a cluster would be made with. env
	// reads a variable as the Pulumi CLI will see it.
	Credentials(c *config.Cluster, env func(string) string, now time.Time) Finding
	// Named are the values of the cluster file that Facts asks about.
	Named(c *config.Cluster) []string
	// AsksAgain says whether the value of a key is asked about again when it changes on a
	// cluster that lives.
	AsksAgain(key string) bool
	// ClusterType is the type of the managed cluster.
	ClusterType() string
	// Facts asks the account and the region that the cluster is to be in.
	Facts(ctx context.Context, c *config.Cluster) Facts
	// Judge compares the facts with what is wanted.
	Judge(f Facts, w Wanted) []Finding
	// Demand is what the cluster will take of its account's quotas: what its core
	// does not have yet.
	Demand(c *config.Cluster, core Core) Demand
}

// Program that has to be in PATH.
type Program struct {
	Name, Remedy string
	// Oldest version that will do; "" for any.
	Oldest string
	// Asks is the option by which the program prints its version among other text; one that
	// somebody has built may print none, and will do. Default: it is to print its version as
	// `kubectl version --client=true --output=json` does.
	Asks string
}

// Plugin is a provider of the engine, and the module of its SDK, whose version is
// the plugin's.
type Plugin struct{ Name, Module string }

// Facts are what an account says of itself and of one region.
type Facts struct {
	// Account of the caller, and its Identity there.
	Account, Identity string
	// Tenant of the caller, on a cloud that has tenants.
	Tenant string
	// Region that was asked, and whether it is enabled for the account.
	Region  string
	Enabled bool
	// Quotas of the region.
	Quotas map[Kind]Quota
	// Err says why the caller could not be told; empty when it could.
	Err string
	// AccountErr says why the account that the cluster file names cannot be used, though the
	// caller is known.
	AccountErr string
	// RegionErr says why the regions could not be told.
	RegionErr string

	// Versions of Kubernetes that the cloud offers in the region, major.minor, and
	// ExtendedVersions, those that it offers with its extended support.
	Versions, ExtendedVersions []string
	// VersionsErr says why these could not be told.
	VersionsErr string

	// Keys by their ids or ARNs, as the cluster file has them.
	Keys map[string]Key

	// What follows is of clouds that have it: AWS.

	// Zones of the region, by their names, and Subnets of others, by their ids, as the cluster
	// file has them.
	Zones   map[string]Zone
	Subnets map[string]Subnet
	// Offered are the zones that have an instance type of the cluster file.
	Offered map[string][]string
	// ZonesErr and OfferedErr say why these could not be told.
	ZonesErr, OfferedErr string

	// What follows is of clouds that have it: Azure.

	// Unregistered are the cloud's services that the account has not turned on.
	Unregistered []string
	// Elsewhere are those that accounts of others have not turned on, by the account, and
	// ElsewhereErr is why that is not known.
	Elsewhere    map[string][]string
	ElsewhereErr string
	// MissingRights are actions that the caller may not do in the account.
	MissingRights []string
	// OnOthers are actions that the caller may not do on resources of others that the
	// cluster file names.
	OnOthers []RightsOn
	// Sizes of virtual machines in the region, by their names in lower case.
	Sizes map[string]Size
	// ProvidersErr, RightsErr, SizesErr and QuotasErr say why these, and the Quotas, could not be
	// told.
	ProvidersErr, RightsErr, SizesErr, QuotasErr string
}

// Zone of a region.
type Zone struct {
	// ID that it has in all accounts; empty when it is not Open.
	ID string
	// Open says that it is available, and neither a Local nor a Wavelength Zone.
	Open bool
}

// Subnet of others.
type Subnet struct {
	// Zone that it is in, and the id of that in all accounts.
	Zone, ZoneID string
	// Err says why it could not be told, and Missing that there is none.
	Err     string
	Missing bool
}

// Key that encrypts.
type Key struct {
	// State of the key, its Spec and its Usage, as the cloud calls them.
	State, Spec, Usage string
	// Unfit says what of it, and of what it is in, the managed cluster does not take.
	Unfit []string
	// Err says why they could not be told, and Missing that there is no such key.
	Err     string
	Missing bool
}

// RightsOn says what the caller may not do on a resource.
type RightsOn struct {
	// ID of the resource.
	ID string
	// Missing actions.
	Missing []string
	// Err says why they could not be told; empty when they could.
	Err string
}

// Size of virtual machines.
type Size struct {
	// Family that it counts against.
	Family string
	// CPUs of one machine.
	CPUs int
	// Zones of the region that the account may have it in.
	Zones []string
	// Closed says that the account may not have it.
	Closed bool
}

// Kind of things with a quota.
type Kind string

// Quota of a region.
type Quota struct {
	// Limit and how much of it is used.
	Limit, Used int
	// Err says why they could not be told; empty when they could.
	Err string
}

// Demand is how many of each kind are to be made.
type Demand map[Kind]int

// Plus adds another demand.
func (d Demand) Plus(other Demand) Demand {
	out := Demand{}
	for k, n := range d {
		out[k] += n
	}
	for k, n := range other {
		out[k] += n
	}
	return out
}

// Wanted is what a cluster file says of the cloud.
type Wanted struct {
	// Cluster is the whole file.
	Cluster *config.Cluster
	// Account and Region that the cluster is to be in, and Tenant on a cloud that has them.
	Account, Region, Tenant string
	// Version of Kubernetes that it is to have, major.minor.
	Version string
	// Extended says that the cluster is to have the cloud's extended support.
	Extended bool
	// New says that core is still to make the managed cluster, or to make it anew.
	New bool
	// Demand of the cluster alone, and All of the clusters that are checked
	// together in this account and region.
	Demand, All Demand
}

// Core is what the state of a cluster's core has; nothing when there is none.
type Core struct {
	// Resources that it manages, counted by type.
	Resources map[string]int
	// HandsOff says that it has outputs.
	HandsOff bool
}

// Awaits says that core is still to make the managed cluster, which is of this type.
func (k Core) Awaits(c *config.Cluster, clusterType string) bool {
	return k.Resources[clusterType] == 0 && !c.IsExisting()
}
