package standin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"tombolo/internal/file"
)

// Global is the region of resources that belong to no region.
const Global = "global"

// Record is one resource of the account, as it is on disk.
type Record struct {
	Type    string    `json:"type"`
	ID      string    `json:"id"`
	Region  string    `json:"region"`
	Created time.Time `json:"created"`
	// Status of resources that take time: CREATING, ACTIVE, DELETING, …
	Status string `json:"status,omitempty"`
	// Implied resources were made by the cloud itself, not by a caller.
	Implied bool  `json:"implied,omitempty"`
	Inputs  Props `json:"inputs"`
	Outputs Props `json:"outputs"`
	// Nodes of a node group.
	Nodes []Node `json:"nodes,omitempty"`
	// Control is how a cluster's control plane is reached, where no output tells.
	Control *ClusterInfo `json:"control,omitempty"`
	// UpgradedFrom is the version, major.minor, that a cluster had before its last
	// upgrade; empty when it had none, or has been rolled back since. UpgradedAt is
	// when that upgrade was done; zero while it is under way. No API shows them.
	UpgradedFrom string    `json:"upgradedFrom,omitempty"`
	UpgradedAt   time.Time `json:"upgradedAt,omitzero"`
}

// Gone resources are kept by the cloud, but no request finds them.
func (r *Record) Gone() bool { return r.Status == StatusPendingDeletion }

// Key tells a record from all others of the account.
func (r *Record) Key() string { return r.Type + "|" + r.Region + "|" + r.ID }

// Clone copies a record with its properties.
func (r *Record) Clone() *Record {
	c := *r
	c.Inputs, c.Outputs = r.Inputs.Clone(), r.Outputs.Clone()
	c.Nodes = slices.Clone(r.Nodes)
	return &c
}

// store keeps records in memory and, one file each, on disk. Its caller holds
// the cloud's lock. Records that it hands out must not be changed: clone, change
// and put.
type store struct {
	dir     string
	records map[string]*Record
}

func openStore(dir string) (*store, error) {
	s := &store{dir: dir, records: map[string]*Record{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !strings.HasSuffix(path, ".json") {
			return os.Remove(path) // an interrupted write
		}
		return s.load(path)
	})
	if err != nil {
		return nil, fmt.Errorf("load the state: %w", err)
	}
	return s, nil
}

func (s *store) load(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	r := &Record{}
	if err := json.Unmarshal(data, r); err != nil {
		return fmt.Errorf("%s is damaged: %w; remove it to forget that resource", path, err)
	}
	s.records[r.Key()] = r
	return nil
}

// all lists the records in the order of their creation.
func (s *store) all() []*Record {
	list := make([]*Record, 0, len(s.records))
	for _, r := range s.records {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *Record) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.Key(), b.Key())
	})
	return list
}

// get returns a record, or nil. In any region, a global record is found.
func (s *store) get(typ, region, id string) *Record {
	if r := s.records[typ+"|"+region+"|"+id]; r != nil {
		return r
	}
	return s.records[typ+"|"+Global+"|"+id]
}

func (s *store) put(r *Record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", r.Type, r.ID, err)
	}
	if err := writeFile(s.path(r), append(data, '\n')); err != nil {
		return fmt.Errorf("record %s %s: %w", r.Type, r.ID, explainDisk(err))
	}
	s.records[r.Key()] = r
	return nil
}

func (s *store) remove(r *Record) error {
	path := s.path(r)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget %s %s: %w", r.Type, r.ID, explainDisk(err))
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("forget %s %s: %w", r.Type, r.ID, explainDisk(err))
	}
	delete(s.records, r.Key())
	return nil
}

// path is the file of a record: readable at its start, unique by its end.
func (s *store) path(r *Record) string {
	sum := sha256.Sum256([]byte(r.Key()))
	name := strings.Map(func(c rune) rune {
		if strings.ContainsRune("/\\:#,|", c) {
			return '_'
		}
		return c
	}, r.ID)
	if len(name) > 100 {
		name = name[:100]
	}
	_, within, _ := strings.Cut(r.Type, ":")
	service := within[:max(strings.IndexAny(within, "/:"), 0)]
	kind := r.Type[strings.LastIndex(r.Type, ":")+1:]
	return filepath.Join(s.dir, service, kind+"-"+name+"-"+hex.EncodeToString(sum[:4])+".json")
}

// writeFile replaces a file in one step, and makes its directory.
func writeFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := file.Replace(path, data, 0o600); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func explainDisk(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the disk is full: %w; free some space and run again", err)
	}
	return err
}

// The states of a record that has states.
const (
	StatusCreating        = "CREATING"
	StatusActive          = "ACTIVE"
	statusUpdating        = "UPDATING"
	StatusDeleting        = "DELETING"
	StatusPendingDeletion = "PendingDeletion"
)

// loadSecret reads the key that signs tokens, or makes one.
func loadSecret(path string) ([]byte, error) {
	secret, err := os.ReadFile(path)
	if err == nil && len(secret) == sha256.Size {
		return secret, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the token key: %w", err)
	}
	secret = make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	if err := writeFile(path, secret); err != nil {
		return nil, fmt.Errorf("write the token key: %w", explainDisk(err))
	}
	return secret, nil
}

// Sign is the account's signature on something that it gave out.
func (c *Cloud) Sign(purpose string, data []byte) []byte {
	h := hmac.New(sha256.New, c.secret)
	h.Write([]byte(purpose + "\n"))
	h.Write(data)
	return h.Sum(nil)
}
