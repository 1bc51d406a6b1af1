package preflight

import (
	"sync"

	"tombolo/config"
)

// account is what the credentials of a cluster file lead to.
type account struct{ account, region, tenant, profile, role, externalID string }

func accountOf(c *config.Cluster) account {
	out := account{account: c.Cloud.Account, region: c.Cloud.Region, tenant: c.Cloud.Tenant, profile: c.Cloud.Profile}
	if role := c.Cloud.AssumeRole; role != nil {
		out.role, out.externalID = role.RoleARN, role.ExternalID
	}
	return out
}

// question is what an account is asked about: clusters that want the same of it ask the same.
type question struct {
	account
	// outbound, subnet and zone of the network that others own, and whether core grants rights
	// there.
	outbound, subnet, zone string
	grants                 bool
}

func questionOf(c *config.Cluster) question {
	q := question{account: accountOf(c), outbound: string(c.Network.Outbound), zone: c.Kubernetes.Endpoint.PrivateDNSZone}
	if existing := c.Network.Existing; existing != nil {
		q.subnet, q.grants = existing.NodeSubnet, existing.GrantAccess
	}
	return q
}

// Accounts remembers what accounts have said: however many clusters want the same of an
// account and region, it is asked once. The zero value remembers nothing yet.
type Accounts struct {
	mu   sync.Mutex
	each map[question]func() Facts
}

// Facts asks about the cluster's account and region, or remembers what was said.
func (a *Accounts) Facts(c *config.Cluster, ask func() Facts) Facts {
	a.mu.Lock()
	if a.each == nil {
		a.each = map[question]func() Facts{}
	}
	look, ok := a.each[questionOf(c)]
	if !ok {
		look = sync.OnceValue(ask)
		a.each[questionOf(c)] = look
	}
	a.mu.Unlock()
	return look()
}
