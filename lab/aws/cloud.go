// Package aws is the lab's stand-in for AWS: a Pulumi provider that keeps an
// account's resources on disk and refuses what AWS refuses, with AWS's own
// error codes.
//
// A stand-in that accepts everything proves nothing. The provider derives each
// type's properties from the Go SDK of the real provider, checks references
// between resources, and answers a request that AWS would refuse with the text
// that a user would see from AWS. EKS clusters are real control planes, run by
// an implementation of Clusters; the rest is bookkeeping.
package aws

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// Clusters runs the control planes that EKS clusters stand for. Its methods
// are safe for concurrent use.
type Clusters interface {
	// Start runs a control plane until it serves, or finds it running already.
	Start(ctx context.Context, spec ClusterSpec) (ClusterInfo, error)
	// Stop ends a control plane and deletes its data. Stopping one that does
	// not exist is no error.
	Stop(ctx context.Context, name string) error
	// SetNodes makes the nodes of a node group exactly these.
	SetNodes(ctx context.Context, cluster, group string, nodes []Node) error
	// TokenKey is the public key for the tokens of a cluster's service accounts.
	TokenKey(cluster string) (crypto.PublicKey, error)
}

// ClusterSpec describes a control plane.
type ClusterSpec struct {
	// Name and ARN of the EKS cluster.
	Name, ARN string
	// Version of Kubernetes, major.minor.
	Version string
	// Region of the cluster, such as eu-central-1.
	Region string
	// ServiceCIDR is the block of the cluster's services, such as 172.20.0.0/16.
	ServiceCIDR string
	// Issuer of the cluster's service account tokens, an https URL.
	Issuer string
}

// ClusterInfo says how a running control plane is reached.
type ClusterInfo struct {
	// Endpoint is the URL of the Kubernetes API.
	Endpoint string
	// CA is the certificate authority of the API, in PEM.
	CA []byte
}

// Node is a Kubernetes node of a node group.
type Node struct {
	// Name of the node: the private DNS name of its instance.
	Name string `json:"name"`
	// Labels as EKS and the kubelet set them, and the group's own.
	Labels map[string]string `json:"labels"`
	// Taints of the group.
	Taints []Taint `json:"taints,omitempty"`
	// InstanceType, such as m7i.large.
	InstanceType string `json:"instanceType"`
	// Zone is the availability zone.
	Zone string `json:"zone"`
	// ProviderID is aws:///<zone>/<instance id>.
	ProviderID string `json:"providerId"`
}

// Taint of a node. Effect is spelled as Kubernetes does: NoSchedule,
// PreferNoSchedule or NoExecute.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// Options of a Cloud.
type Options struct {
	// Clusters runs the control planes. Required.
	Clusters Clusters
	// Account is the id of the account, 12 digits. Default 111122223333.
	Account string
	// Region is used by providers that are given none, as AWS_REGION is.
	// Default eu-central-1.
	Region string
	// LatencyScale is the share of AWS's typical durations that operations
	// take: 1 is as slow as AWS, 0 (the default) does not wait at all.
	LatencyScale float64
}

// Cloud is the stand-in: one AWS account, with its state on disk. It is safe
// for concurrent use.
type Cloud struct {
	options Options
	secret  []byte
	now     func() time.Time
	types   map[string]*resourceType
	invokes map[string]*function

	// mu guards store: an operation checks and changes the account in one go,
	// and is done before anybody can vanish.
	mu    sync.Mutex
	store *store

	// issuance is closed, and made anew, when certificates may have been issued.
	// mu guards it.
	issuance chan struct{}
	// patience is the least time that a certificate is waited for.
	patience time.Duration

	// faults make requests go wrong.
	faults faults

	// busy makes operations on one resource wait for each other.
	busy keyedMutex
	// work counts operations that go on after their caller has gone.
	work    sync.WaitGroup
	closing chan struct{}

	// sessions are the configured providers, by connection.
	sessions sync.Map
}

// Item is a resource that exists in the account.
type Item struct {
	// Type is Pulumi's type token, such as aws:ec2/vpc:Vpc.
	Type string `json:"type"`
	// ID of the resource, as Pulumi has it.
	ID string `json:"id"`
	// Name is the resource's own name, or its Name tag, or empty.
	Name string `json:"name,omitempty"`
	// Region of the resource; "global" for IAM and Route 53.
	Region string `json:"region"`
	// Created is when the resource was made.
	Created time.Time `json:"created"`
}

// Open loads the account that is kept in dir, or makes an empty one there. The
// account owns one thing that no stack makes: the public hosted zone LabZoneID
// of the domain LabZoneName.
func Open(dir string, o Options) (*Cloud, error) {
	if o.Clusters == nil {
		return nil, errors.New("open the AWS stand-in: Options.Clusters is missing")
	}
	o.Account = cmp.Or(o.Account, "111122223333")
	o.Region = cmp.Or(o.Region, "eu-central-1")
	if _, known := regions[o.Region]; !known {
		return nil, fmt.Errorf("open the AWS stand-in: invalid AWS Region: %s", o.Region)
	}
	s, err := openStore(filepath.Join(dir, "resources"))
	if err != nil {
		return nil, fmt.Errorf("open the AWS stand-in: %w", err)
	}
	secret, err := loadSecret(filepath.Join(dir, "token.key"))
	if err != nil {
		return nil, fmt.Errorf("open the AWS stand-in: %w", err)
	}
	c := &Cloud{
		options: o, store: s, secret: secret, now: time.Now, closing: make(chan struct{}),
		issuance: make(chan struct{}), patience: validationPatience,
	}
	if c.types, c.invokes, err = catalogue(); err != nil {
		return nil, fmt.Errorf("open the AWS stand-in: %w", err)
	}
	if err := c.ownZone(); err != nil {
		return nil, fmt.Errorf("open the AWS stand-in: %w", err)
	}
	return c, nil
}

// Provider serves the account as the Pulumi provider "aws". Every connection
// has a configuration of its own.
func (c *Cloud) Provider() pulumirpc.ResourceProviderServer {
	return &provider{cloud: c}
}

// Inventory lists what exists in the account, ordered by type and id. Left out
// is what AWS makes and removes by itself, and keys that wait for deletion.
func (c *Cloud) Inventory() []Item {
	c.mu.Lock()
	defer c.mu.Unlock()
	var items []Item
	for _, r := range c.store.all() {
		if r.Implied || r.gone() {
			continue
		}
		items = append(items, r.item())
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
	})
	return items
}

// Close waits for operations that are under way. Waits that only imitate AWS's
// latency are cut short; Resume finishes such operations later. A Cloud must be
// closed once.
func (c *Cloud) Close() {
	close(c.closing)
	c.work.Wait()
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
