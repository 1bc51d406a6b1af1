package process

import (
	"path/filepath"
	"slices"
	"strings"
)

// FixedPath is a PATH without the directories that depend on the current one, such as
// "." and the empty one: what is found there may be anybody's.
func FixedPath(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}
