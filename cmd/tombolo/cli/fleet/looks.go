package fleet

import (
	"tombolo/automation/drift"
	"tombolo/cmd/tombolo/render"
)

// Looks is where the last look for drift of each cluster is kept; nil for nowhere. A record that
// cannot be changed is told, and fails nothing: what was to be done is done.
type Looks func() (drift.Store, error)

// PutBack records that an up has put back what was missing or changed on a cluster.
func (l Looks) PutBack(status render.Status, cluster string) {
	l.change(status, func(s drift.Store) error { return s.PutBack(cluster) })
}

// Forget records that a cluster is gone, and what was found of it.
func (l Looks) Forget(status render.Status, cluster string) {
	l.change(status, func(s drift.Store) error { return s.Forget(cluster) })
}

func (l Looks) change(status render.Status, change func(drift.Store) error) {
	if l == nil {
		return
	}
	store, err := l()
	if err == nil {
		err = change(store)
	}
	if err != nil {
		status.Failed("%v; `tombolo drift` records it anew", err)
	}
}
