package preflight

import (
	"sync"

	"tombolo/config"
)

// account is what the credentials of a cluster file lead to.
type account struct{ account, region, profile string }

func accountOf(c *config.Cluster) account {
	return account{c.Cloud.Account, c.Cloud.Region, c.Cloud.Profile}
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
