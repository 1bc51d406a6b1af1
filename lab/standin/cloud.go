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
	// Region is used by providers that are given none.
	Region string
	// LatencyScale is the share of the cloud's typical durations that operations
	// take: 1 is as slow as the cloud, 0 (the default) does not wait at all.
	LatencyScale float64
	// LeastWait is the least time that an operation waits for another change of
	// the account, however small LatencyScale is. Default 5s.
	LeastWait time.Duration
	// Now is the account's clock. Default time.Now.
	Now func() time.Time
}

// Cloud is the stand-in: one account, with its state on disk. It is safe for
// concurrent use.
type Cloud struct {
	Options
	catalogue *Catalogue
	secret    []byte

	// mu guards store: an operation checks and changes the account in one go,
	// and is done before anybody can vanish.
	mu    sync.Mutex
	store *store
	// changed is closed, and made anew, when a record changes. mu guards it.
	changed chan struct{}

	// faults make requests go wrong.
	faults faults

	// busy makes operations on one resource wait for each other.
	busy keyedMutex
	// Work counts operations that go on after their caller has gone.
	Work    sync.WaitGroup
	closing chan struct{}

	// sessions are the configured providers, by connection.
	sessions sync.Map
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
		Options: o, catalogue: k, store: s, secret: secret, closing: make(chan struct{}), changed: make(chan struct{}),
	}, nil
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
