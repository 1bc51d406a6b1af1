// Package standintest tries stand-ins of clouds in tests, as an engine would use them.
package standintest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/standin"
)

// Clusters remembers which control planes run and which nodes they have.
type Clusters struct {
	mu sync.Mutex
	// Running are the control planes, by their names, and Nodes those of each group, by
	// cluster/group.
	Running map[string]standin.ClusterSpec
	Nodes   map[string][]standin.Node
	// Block, when set, is waited for before a control plane starts.
	Block chan struct{}
	// Fail, when set, is how each start ends.
	Fail error
	// Key signs the tokens of the service accounts.
	Key *ecdsa.PrivateKey
}

// NewClusters returns none.
func NewClusters(t *testing.T) *Clusters {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	return &Clusters{Running: map[string]standin.ClusterSpec{}, Nodes: map[string][]standin.Node{}, Key: key}
}

// Start remembers a control plane.
func (c *Clusters) Start(_ context.Context, spec standin.ClusterSpec) (standin.ClusterInfo, error) {
	if c.Block != nil {
		<-c.Block
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Fail != nil {
		return standin.ClusterInfo{}, c.Fail
	}
	c.Running[spec.Name] = spec
	return standin.ClusterInfo{Endpoint: "https://127.0.0.1:6443/" + spec.Name, CA: []byte("PEM")}, nil
}

// Stop forgets a control plane.
func (c *Clusters) Stop(_ context.Context, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.Running, name)
	return nil
}

// SetNodes remembers the nodes of a group.
func (c *Clusters) SetNodes(_ context.Context, cluster, group string, nodes []standin.Node) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Nodes[cluster+"/"+group] = slices.Clone(nodes)
	return nil
}

// TokenKey is the public key for the tokens of a cluster that runs.
func (c *Clusters) TokenKey(cluster string) (crypto.PublicKey, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, runs := c.Running[cluster]; !runs {
		return nil, errors.New("no such cluster")
	}
	return c.Key.Public(), nil
}
