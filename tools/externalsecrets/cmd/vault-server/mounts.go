package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-uuid"
	kubeauth "github.com/hashicorp/vault-plugin-auth-kubernetes"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/sdk/logical"
)

// The times of leases without others: https://developer.hashicorp.com/vault/docs/configuration#default_lease_ttl
const (
	defaultLease = 768 * time.Hour
	longestLease = 768 * time.Hour
)

// authPrefix begins the paths of auth methods.
const authPrefix = "auth/"

// core is what is mounted, and who may use it.
type core struct {
	storage logical.Storage
	log     hclog.Logger
	root    string // token

	mu       sync.RWMutex
	mounts   map[string]*mount // by path with its slash, auth/ before that of auth methods
	policies map[string]string
	tokens   map[string]*token
}

// mount is an auth method or a secrets engine at its path.
type mount struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Options     map[string]string `json:"options"`
	UUID        string            `json:"uuid"`
	Accessor    string            `json:"accessor"`

	backend logical.Backend
	storage logical.Storage
}

// The entries of the storage.
const (
	mountsEntry   = "core/mounts"
	policiesEntry = "core/policies"
)

// open reads what is kept.
func open(ctx context.Context, storage logical.Storage, root string, log hclog.Logger) (*core, error) {
	c := &core{storage: storage, log: log, root: root, mounts: map[string]*mount{}, policies: map[string]string{}, tokens: map[string]*token{}}
	for name, into := range map[string]any{mountsEntry: &c.mounts, policiesEntry: &c.policies} {
		entry, err := storage.Get(ctx, name)
		if err == nil && entry != nil {
			err = entry.DecodeJSON(into)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	for path, m := range c.mounts {
		if err := c.start(ctx, m); err != nil {
			return nil, fmt.Errorf("mount %s: %w", path, err)
		}
	}
	return c, nil
}

// keep writes an entry of the storage.
func (c *core) keep(ctx context.Context, name string, value any) error {
	entry, err := logical.StorageEntryJSON(name, value)
	if err != nil {
		return err
	}
	return c.storage.Put(ctx, entry)
}

// factories of what can be mounted, by its type.
func factory(path, kind string) (logical.Factory, bool) {
	switch {
	case strings.HasPrefix(path, authPrefix) && kind == "kubernetes":
		return kubeauth.Factory, true
	case !strings.HasPrefix(path, authPrefix) && kind == "kv":
		return kv.Factory, true
	}
	return nil, false
}

// start makes the backend of a mount.
func (c *core) start(ctx context.Context, m *mount) error {
	path := ""
	if m.Type == "kubernetes" {
		path = authPrefix
	}
	make, known := factory(path, m.Type)
	if !known {
		return fmt.Errorf("plugin not found in the catalog: %s", m.Type)
	}
	m.storage = logical.NewStorageView(c.storage, "logical/"+m.UUID+"/")
	var err error
	m.backend, err = make(context.WithoutCancel(ctx), &logical.BackendConfig{
		StorageView: m.storage, Logger: c.log.Named(m.Type), Config: m.Options, BackendUUID: m.UUID,
		System: logical.StaticSystemView{DefaultLeaseTTLVal: defaultLease, MaxLeaseTTLVal: longestLease},
	})
	if err != nil {
		return err
	}
	return m.backend.Initialize(ctx, &logical.InitializationRequest{Storage: m.storage})
}

// enable mounts something.
func (c *core) enable(ctx context.Context, path, kind, description string, options map[string]string) error {
	if kind == "kv-v2" {
		kind, options = "kv", map[string]string{"version": "2"}
	}
	if _, known := factory(path, kind); !known {
		return invalid("plugin not found in the catalog: %s", kind)
	}
	if kind == "kv" && options["version"] != "2" {
		return invalid("this server has the engine kv in version 2 only; give options.version")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for there := range c.mounts {
		if strings.HasPrefix(there, path) || strings.HasPrefix(path, there) {
			return invalid("path is already in use at %s", there)
		}
	}
	id, err := uuid.GenerateUUID()
	if err != nil {
		return err
	}
	m := &mount{Type: kind, Description: description, Options: options, UUID: id, Accessor: strings.ReplaceAll(strings.Trim(path, "/"), "/", "_") + "_" + id[:8]}
	if err := c.start(ctx, m); err != nil {
		return err
	}
	c.mounts[path] = m
	return c.keep(ctx, mountsEntry, c.mounts)
}

// disable takes a mount away, with all that it keeps. That there was none is no error.
func (c *core) disable(ctx context.Context, path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.mounts[path]
	if m == nil {
		return nil
	}
	m.backend.Cleanup(ctx)
	delete(c.mounts, path)
	if err := logical.ClearView(ctx, m.storage.(*logical.StorageView)); err != nil {
		return err
	}
	return c.keep(ctx, mountsEntry, c.mounts)
}

// at is the mount of a path, and the rest of the path below it.
func (c *core) at(path string) (where, rest string, _ *mount) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for where, m := range c.mounts {
		if rest, below := strings.CutPrefix(path, where); below {
			return where, rest, m
		}
	}
	return "", "", nil
}

// listed are the mounts of one kind, as the API answers them.
func (c *core) listed(auth bool) map[string]any {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(c.mounts)) {
		m := c.mounts[path]
		if name, is := strings.CutPrefix(path, authPrefix); is == auth {
			out[name] = map[string]any{"type": m.Type, "description": m.Description, "options": m.Options, "uuid": m.UUID, "accessor": m.Accessor}
		}
	}
	return out
}

func (c *core) close(ctx context.Context) error {
	for _, m := range c.mounts {
		m.backend.Cleanup(ctx)
	}
	return nil
}
