package tree

import (
	"path"
	"slices"
)

// Copy is a file of a tree that is composed of others.
type Copy struct {
	// From is the tree that it is copied from, and Name what it is called there.
	From *Files
	Name string
	// Text is its content where it is not that of the file that it is copied from.
	Text []byte
	// Parts are the files that such a content was made of.
	Parts []Copy
}

// Read returns the content of the copy.
func (c Copy) Read() ([]byte, error) {
	if c.Text != nil {
		return c.Text, nil
	}
	return c.From.Read(c.Name)
}

// Composed is a tree of copies, by the names that they have in it. What is found in it is placed in the files that they are
// copied from.
func Composed(copies map[string]Copy) *Files {
	var names, dirs []string
	for name := range copies {
		names = append(names, name)
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	f := Listed(names, dirs, func(name string) ([]byte, error) { return copies[name].Read() })
	f.copies = copies
	return f
}

// inParts are the places of the platform tree where the files that one was made of use something.
func (f *Files) inParts(name string, find Finder) []Place {
	var out []Place
	for _, part := range f.copies[name].Parts {
		out = append(out, part.From.Occurrences([]string{part.Name}, find)...)
	}
	return out
}

// Origin is the place of the platform tree that a place of this one was copied from.
func (f *Files) Origin(at Place) Place {
	c, ok := f.copies[at.File]
	if !ok {
		return at
	}
	at.File = c.Name
	if c.Text != nil { // its lines are others
		at.Line, at.Column = 0, 0
	}
	return c.From.Origin(at)
}

func (f *Files) origins(all []Place) []Place {
	if f.copies == nil {
		return all
	}
	out := make([]Place, len(all))
	for i, at := range all {
		out[i] = f.Origin(at)
	}
	slices.SortFunc(out, byPlace)
	return slices.Compact(out)
}
