package tree

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// mostLinks is how many links a name may go through, as on Linux.
const mostLinks = 40

// Links are the symbolic links of the tree, with what they lead to as they have it.
func (f *Files) Links() map[string]string { return f.links }

// WithLinks is the tree with links, which names go through if it follows them. As with a directory of the disk, who
// lists the tree's names does not get those behind a link.
func (f *Files) WithLinks(links map[string]string, follows bool) *Files {
	out := *f
	out.links, out.follows = links, follows
	out.content, out.parsed = map[string][]byte{}, map[string][]Document{}
	return &out
}

// Real is the name of what a name leads to, in a tree that follows links.
func (f *Files) Real(name string) string {
	if !f.follows || len(f.links) == 0 {
		return name
	}
	for range mostLinks {
		link := f.LinkOn(name)
		if link == "" {
			return name
		}
		name = path.Join(path.Dir(link), f.links[link], strings.TrimPrefix(name, link))
	}
	return name
}

// LinkOn is the first link on the way to a name; "" if there is none.
func (f *Files) LinkOn(name string) string {
	for at, c := range name + "/" {
		if _, is := f.links[name[:at]]; c == '/' && is {
			return name[:at]
		}
	}
	return ""
}

// LinkedIn are the links below a directory that lead to a file or directory of the tree, sorted.
func (f *Files) LinkedIn(dir string) []string {
	if !f.follows {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.links)), func(link string) bool {
		within := dir == "." || strings.HasPrefix(link, dir+"/")
		return !within || !f.IsFile(link) && !f.IsDir(link)
	})
}

// Below are the names of the files below a directory, from there, with those behind links.
func (f *Files) Below(dir string) []string {
	dir = f.Real(dir)
	var out []string
	within := func(dir, as string) {
		for name := range f.regular {
			if below, ok := strings.CutPrefix(name, strings.TrimPrefix(dir+"/", "./")); ok {
				out = append(out, path.Join(as, below))
			}
		}
	}
	within(dir, "")
	for _, link := range f.LinkedIn(dir) {
		as := strings.TrimPrefix(link, strings.TrimPrefix(dir+"/", "./"))
		if f.IsFile(link) {
			out = append(out, as)
			continue
		}
		within(f.Real(link), as)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// LeavesTree says whether a link of the tree leads out of it. Argo CD refuses a repository with such a link, also with one
// that comes back. Source: CheckOutOfBoundsSymlinks in util/app/path/path.go of argoproj/argo-cd v3.5.
func (f *Files) LeavesTree(link string) bool {
	target := f.links[link]
	if path.IsAbs(target) {
		return true
	}
	at := path.Dir(link)
	for part := range strings.SplitSeq(target, "/") {
		if at = path.Join(at, part); Leaves(".", at) {
			return true
		}
	}
	return false
}
