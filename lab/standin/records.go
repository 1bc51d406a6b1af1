package standin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"tombolo/lab/control"
)

// All lists the records in the order of their creation.
func (c *Cloud) All() []*Record { return c.store.all() }

// Get returns a record by its id, or nil. In any region, a global one is found.
func (c *Cloud) Get(typ, region, id string) *Record { return c.store.get(typ, region, id) }

// Put records a resource, new or changed.
func (c *Cloud) Put(r *Record) error {
	if err := c.store.put(r); err != nil {
		return err
	}
	c.announce()
	return nil
}

// Forget drops a record.
func (c *Cloud) Forget(r *Record) error {
	if err := c.store.remove(r); err != nil {
		return err
	}
	c.announce()
	return nil
}

// announce wakes all that wait for a change.
func (c *Cloud) announce() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Find returns the resource of a type that an id or another reference means, or
// nil.
func (c *Cloud) Find(typ, region, value string) *Record {
	if r := c.store.get(typ, region, value); r != nil {
		if r.Gone() {
			return nil
		}
		return r
	}
	for r := range c.Each(typ, region) {
		if c.Means(r, value) {
			return r
		}
	}
	return nil
}

// Means reports whether a value refers to the record.
func (c *Cloud) Means(r *Record, value string) bool {
	return value != "" && (c.catalogue.Native.sameID(value, r.ID) || value == r.Outputs.Str(c.catalogue.Reference))
}

// Each yields a type's resources in a region, in the order of creation.
func (c *Cloud) Each(typ, region string) func(func(*Record) bool) {
	return func(yield func(*Record) bool) {
		for _, r := range c.store.all() {
			if r.Type == typ && (r.Region == region || r.Region == Global) && !r.Gone() && !yield(r) {
				return
			}
		}
	}
}

// TypeOf is the type with a token, or nil.
func (c *Cloud) TypeOf(token string) *Type { return c.catalogue.Types[token] }

func (c *Cloud) typeOf(name string) (*Type, error) {
	token, err := c.resolved(name, SortedKeys(c.catalogue.Types), "resource type")
	return c.catalogue.Types[token], err
}

// Knows says that there is a type with a token, or the only one with such an end.
func (c *Cloud) Knows(name string) bool {
	_, err := c.typeOf(name)
	return err == nil
}

// resolved finds a token by itself, or by its end, such as Vpc, where no other
// has the same.
func (c *Cloud) resolved(name string, tokens []string, what string) (string, error) {
	if slices.Contains(tokens, name) {
		return name, nil
	}
	var found []string
	for _, token := range tokens {
		if strings.HasSuffix(token, ":"+name) || c.catalogue.Native.plain(token) == name {
			found = append(found, token)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("the %s stand-in does not know the %s %s; did you mean %s?", c.catalogue.Cloud, what, name, nearest(name, tokens))
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s is the end of several %ss, use one of %s", name, what, strings.Join(found, ", "))
}

// nearest is the token that is spelled most like a name.
func nearest(name string, tokens []string) string {
	return slices.MinFunc(tokens, func(a, b string) int {
		return levenshtein.Distance(name, shortened(a, name), nil) - levenshtein.Distance(name, shortened(b, name), nil)
	})
}

// shortened is a token, or only its end for a name that has no more than that.
func shortened(token, name string) string {
	if strings.Contains(name, ":") {
		return token
	}
	return token[strings.LastIndexByte(token, ':')+1:]
}

// Item is what exists in an account, as people are shown it.
type Item = control.Item

// Inventory lists what exists in the account, ordered by type and id. Left out
// is what the cloud makes and removes by itself, and what waits for its
// deletion.
func (c *Cloud) Inventory() []Item {
	defer c.Lock()()
	return c.store.inventory(c.catalogue.Names)
}

func (s *store) inventory(names []string) []Item {
	items := []Item{}
	for _, r := range s.all() {
		if r.Implied || r.Gone() {
			continue
		}
		items = append(items, r.item(names))
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
	})
	return items
}

func (r *Record) item(names []string) Item {
	region := r.Region
	if region == Global {
		region = cmp.Or(r.Outputs.Str("location"), Global)
	}
	return Item{Type: r.Type, ID: r.ID, Name: r.displayName(names), Region: region, Created: r.Created}
}

// displayName is the resource's own name, which is one of the named outputs, or
// its Name tag.
func (r *Record) displayName(names []string) string {
	for _, key := range names {
		if s := r.Outputs.Str(key); s != "" {
			return s
		}
	}
	return r.Outputs.Sub("tags").Str("Name")
}

// Stored lists what a Cloud has left in dir and would find there again, in the
// order of Inventory. It changes nothing; a directory that does not exist holds
// nothing. names are the Catalogue's.
func Stored(dir string, names []string) ([]Item, error) {
	s := &store{dir: filepath.Join(dir, "resources"), records: map[string]*Record{}}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		return s.load(path)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s.inventory(names), nil
}
