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

// Accounts remembers what accounts have said: however many clusters are in an
// account and region, it is asked once. The zero value remembers nothing yet.
type Accounts struct {
	mu   sync.Mutex
	each map[account]func() Facts
}

// Facts asks about the cluster's account and region, or remembers what was said.
func (a *Accounts) Facts(c *config.Cluster, ask func() Facts) Facts {
	a.mu.Lock()
	if a.each == nil {
		a.each = map[account]func() Facts{}
	}
	look, ok := a.each[accountOf(c)]
	if !ok {
		look = sync.OnceValue(ask)
		a.each[accountOf(c)] = look
	}
	a.mu.Unlock()
	return look()
}
