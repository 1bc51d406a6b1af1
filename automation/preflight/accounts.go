package preflight

import (
	"strings"
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

// question is what an account is asked about: clusters that name the same ask the same.
type question struct {
	account
	named string
}

// Accounts remembers what accounts have said: however many clusters want the same of an
// account and region, it is asked once. The zero value remembers nothing yet.
type Accounts struct {
	mu   sync.Mutex
	each map[question]func() Facts
}

// Facts asks about the cluster's account and region and what its file names there, or remembers what was said.
func (a *Accounts) Facts(c *config.Cluster, named []string, ask func() Facts) Facts {
	q := question{accountOf(c), strings.Join(named, "\n")}
	a.mu.Lock()
	if a.each == nil {
		a.each = map[question]func() Facts{}
	}
	look, ok := a.each[q]
	if !ok {
		look = sync.OnceValue(ask)
		a.each[q] = look
	}
	a.mu.Unlock()
	return look()
}
