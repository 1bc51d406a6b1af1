package standin

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"tombolo/lab/control"
)

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
