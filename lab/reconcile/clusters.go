package reconcile

import (
	"maps"
	"slices"
	"sync"
)

// Clusters are what works in the background for clusters: one W for each. The
// zero value has none. It is safe for concurrent use.
type Clusters[W any] struct {
	mu  sync.Mutex
	all map[string]W
}

// Open returns what works for a cluster, and starts it where nothing does yet.
func (c *Clusters[W]) Open(cluster string, start func() (W, error)) (w W, started bool, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, found := c.all[cluster]; found {
		return w, false, nil
	}
	w, err := start()
	if err != nil {
		return w, false, err
	}
	if c.all == nil {
		c.all = map[string]W{}
	}
	c.all[cluster] = w
	return w, true, nil
}

// Take forgets a cluster, and returns what worked for it, if anything did.
func (c *Clusters[W]) Take(cluster string) (w W, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, found = c.all[cluster]
	delete(c.all, cluster)
	return w, found
}

// TakeAll forgets all clusters, and returns what worked for them.
func (c *Clusters[W]) TakeAll() []W {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Collect(maps.Values(c.all))
	c.all = nil
	return all
}

// All is what works for each cluster.
func (c *Clusters[W]) All() []W {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.all))
}
