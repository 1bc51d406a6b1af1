package clusters

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/config/strict"
)

// Load reads cluster files. The error, if any, is strict.Problems with
// everything that is wrong in any of them. The clusters come in the order in
// which a fleet operation reaches them: by wave, a hub before its spokes, then
// by name.
func Load(files []string) ([]*config.Cluster, error) {
	var (
		loaded   []*config.Cluster
		problems strict.Problems
	)
	var loader config.Loader
	told := map[strict.Problem]bool{} // what is wrong with a hub is found with each of its spokes
	for _, file := range files {
		c, err := loader.Load(file)
		var found strict.Problems
		switch {
		case errors.As(err, &found):
			for _, p := range found {
				if p.File = Short(p.File); !told[p] {
					problems = append(problems, p)
				}
				told[p] = true
			}
		case err != nil:
			return nil, err
		default:
			loaded = append(loaded, c)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	sorted, err := config.InOrder(loaded)
	if err != nil {
		return nil, fault.NewUsage(strings.ReplaceAll(err.Error(), "\n", "; "), "")
	}
	return sorted, unique(sorted)
}

// unique refuses two files for one name: they would share their stacks.
func unique(loaded []*config.Cluster) error {
	files := map[string]string{}
	for _, c := range loaded {
		if other, taken := files[c.Name]; taken {
			return fault.NewUsage(fmt.Sprintf("%s and %s both describe cluster %s", Short(other), Short(c.File), c.Name),
				"give one of them another name")
		}
		files[c.Name] = c.File
	}
	return nil
}

// Short is a path for people: relative to the working directory
// where it is below that.
func Short(path string) string {
	dir, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if relative, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return path
}
