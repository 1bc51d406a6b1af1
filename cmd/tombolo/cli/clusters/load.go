package clusters

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/config/strict"
)

// Load reads cluster files. The error, if any, is strict.Problems with
// everything that is wrong in any of them. The clusters come in the order in
// which a fleet operation reaches them: by wave, a hub before its spokes, then
// by name.
func Load(files []string) ([]*config.Cluster, error) { return load(files, "") }

// LoadAll is Load for all cluster files of a project: then a file of shared settings that none of
// them has is a problem, too.
func LoadAll(root func() (string, error)) ([]*config.Cluster, error) {
	files, err := FilesOrAll(root, nil)
	if err != nil {
		return nil, err
	}
	return load(files, filepath.Dir(files[0]))
}

// load reads cluster files, all of a directory unless it is "".
func load(files []string, of string) ([]*config.Cluster, error) {
	var (
		loaded   []*config.Cluster
		problems strict.Problems
	)
	var loader config.Loader
	for _, file := range files {
		c, err := loader.Load(file)
		var found strict.Problems
		switch {
		case errors.As(err, &found):
			problems = append(problems, found...)
		case err != nil:
			return nil, err
		default:
			loaded = append(loaded, c)
		}
	}
	if len(problems) == 0 && of != "" {
		var err error
		if problems, err = loader.Unread(of); err != nil {
			return nil, err
		}
	}
	// What is wrong with a hub is found with each of its spokes.
	if err := problems.Once().Err(); err != nil {
		return nil, Shortened(err)
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

// Shortened shortens the paths of the problems' files.
func Shortened(err error) error {
	var problems strict.Problems
	if !errors.As(err, &problems) {
		return err
	}
	return short(problems)
}

func short(problems strict.Problems) strict.Problems {
	out := slices.Clone(problems)
	for i := range out {
		out[i].File = Short(out[i].File)
	}
	return out
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
