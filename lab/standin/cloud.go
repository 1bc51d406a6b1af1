// Package standin is the engine of a stand-in for a cloud: a Pulumi provider
// that keeps an account's resources on disk and refuses what the cloud refuses,
// with the cloud's own errors.
//
// A stand-in that accepts everything proves nothing. The engine derives each
// type's properties from the Go SDK of the real provider, checks references
// between resources, and answers a request that the cloud would refuse with the
// text that a user would see. What there is in a cloud is in its Catalogue.
// Managed clusters are real control planes, run by an implementation of
// Clusters; the rest is bookkeeping.
package standin

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"
)

// Options of a Cloud.
type Options struct {
	// Clusters runs the control planes. Required.
	Clusters Clusters
	// Account is the id of the account.
	Account string
	// Caller is who asks, where that is nobody of the account's own: of another account,
	// whose users have to assume a role here. Default: the account's user.
	Caller string
	// Region is used by providers that are given none.
	Region string
	// RoleBoundary is the only permissions boundary with which the account lets roles be
	// made and given rights, as a policy of its organisation can have it. Default: none.
	RoleBoundary string
	// LatencyScale is the share of the cloud's typical durations that operations
	// take: 1 is as slow as the cloud, 0 (the default) does not wait at all.
	LatencyScale float64
	// LeastWait is the least time that an operation waits for another change of
	// the account, however small LatencyScale is. Default 5s.
	LeastWait time.Duration
	// Now is the account's clock. Default time.Now.
	Now func() time.Time
	// Tags is the policy of the account's organisation for tags. Default: none.
	Tags TagPolicy
	// Faults make requests go wrong; clouds that share them have one list. Default: a list
	// of its own.
	Faults *Faults
}

// Cloud is the stand-in: one account, with its state on disk. It is safe for
// concurrent use.
type Cloud struct {
	Options
	catalogue *Catalogue
	secret    []byte
	// faults are Options.Faults.
	faults *Faults

	// mu guards store: an operation checks and changes the account in one go,
	// and is done before anybody can vanish.
	mu    sync.Mutex
	store *store
	// changed is closed, and made anew, when a record changes. mu guards it.
	changed chan struct{}

	// busy makes operations on one resource wait for each other.
	busy keyedMutex
	// Work counts operations that go on after their caller has gone.
	Work    sync.WaitGroup
	closing chan struct{}
}

// Lock gives its caller the account for itself until unlock. Functions of types
// have it already.
func (c *Cloud) Lock() (unlock func()) {
	c.mu.Lock()
	return c.mu.Unlock
}

// Changed is closed at the next change of a record. The account is locked.
func (c *Cloud) Changed() <-chan struct{} { return c.changed }

// Closing is closed when the stand-in ends.
func (c *Cloud) Closing() <-chan struct{} { return c.closing }

// Close waits for operations that are under way. Waits that only imitate the
// cloud's latency are cut short; Resume finishes such operations later. A Cloud
// must be closed once.
func (c *Cloud) Close() {
	close(c.closing)
	c.Work.Wait()
}

// keyedMutex is a mutex for each key.
type keyedMutex struct{ locks sync.Map }

func (k *keyedMutex) lock(key string) (unlock func()) {
	mutex := k.of(key)
	mutex.Lock()
	return mutex.Unlock
}

// tryLock does not wait: it does without the lock where somebody has it.
func (k *keyedMutex) tryLock(key string) (unlock func()) {
	mutex := k.of(key)
	if !mutex.TryLock() {
		return func() {}
	}
	return mutex.Unlock
}

func (k *keyedMutex) of(key string) *sync.Mutex {
	m, _ := k.locks.LoadOrStore(key, &sync.Mutex{})
	return m.(*sync.Mutex)
}

// ErrClosing ends what is waited for when the stand-in ends.
var ErrClosing = errors.New("the stand-in is closing")

// delay waits for a share of the cloud's typical duration.
func (c *Cloud) delay(typical time.Duration) error {
	share := time.Duration(float64(typical) * c.LatencyScale)
	if share <= 0 {
		return nil
	}
	return c.wait(context.Background(), share)
}

// wait waits until the time is over, ctx ends or the stand-in closes.
func (c *Cloud) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.closing:
		return ErrClosing
	}
}

// Open loads the account that is kept in dir, or makes an empty one there.
func Open(dir string, k *Catalogue, o Options) (*Cloud, error) {
	if o.Clusters == nil {
		return nil, errors.New("Options.Clusters is missing")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.LeastWait = cmp.Or(o.LeastWait, 5*time.Second)
	o.Faults = cmp.Or(o.Faults, &Faults{})
	s, err := openStore(filepath.Join(dir, "resources"))
	if err != nil {
		return nil, err
	}
	secret, err := loadSecret(filepath.Join(dir, "token.key"))
	if err != nil {
		return nil, err
	}
	if err := k.prepare(); err != nil {
		return nil, err
	}
	return &Cloud{
		Options: o, catalogue: k, store: s, secret: secret, faults: o.Faults, closing: make(chan struct{}), changed: make(chan struct{}),
	}, nil
}
