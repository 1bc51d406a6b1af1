package strict

import (
	"fmt"
	"regexp"
	"strings"

	"tombolo/internal/wording"
)

// Path leads to a value in a file, such as
// kubernetes.nodeGroups[1].labels["example.com/team"]. The empty path is the
// whole file's.
type Path string

// longestKey is the longest key that a path has as it is, in bytes: each value below it
// has the path again.
const longestKey = 160

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Field leads to a key that the format has.
func (p Path) Field(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "." + Path(name)
}

// Index leads to an item of a list, from 0.
func (p Path) Index(i int) Path { return p + Path(fmt.Sprintf("[%d]", i)) }

// Key leads to a key that the user chose, which may hold dots and slashes.
func (p Path) Key(name string) Path {
	if len(name) <= longestKey && plainKey.MatchString(name) {
		return p.Field(name)
	}
	return p + Path(fmt.Sprintf("[%s]", wording.Quote(name)))
}

// parent is the path of what holds p, and "" for the root.
func (p Path) parent() Path {
	s := string(p)
	if strings.HasSuffix(s, `"]`) {
		if i := strings.LastIndex(s, `["`); i >= 0 {
			return Path(s[:i])
		}
	}
	return Path(s[:max(strings.LastIndexAny(s, ".["), 0)])
}
