package flux

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"

	"tombolo/check/tree"
	"tombolo/check/walk"
)

// Trees are those that source-controller and source-watcher make of a repository, for the walks of several clusters.
type Trees struct {
	// repository is as Git has it.
	repository *tree.Files
	made       map[string]*walk.Source
}

// NewTrees has none yet.
func NewTrees(repository *tree.Files) *Trees {
	return &Trees{repository, map[string]*walk.Source{}}
}

// once makes a tree if it was not made before.
func (t *Trees) once(key string, compose func() (*tree.Files, error)) (*walk.Source, error) {
	if known := t.made[key]; known != nil {
		return known, nil
	}
	files, err := compose()
	if err != nil {
		return nil, err
	}
	t.made[key] = walk.NewSource(files)
	return t.made[key], nil
}

// Platform is the repository as bootstrap has source-controller fetch it.
func (t *Trees) Platform() *walk.Source {
	out, _ := t.artifact(fetching{}, nil) // nothing is asked for that could be missing
	return out
}

// fetching is what a GitRepository says of the files that it gives.
type fetching struct {
	Ignore         *string   `json:"ignore"`
	SparseCheckout []string  `json:"sparseCheckout"`
	Include        []include `json:"include"`
}

// include is what another GitRepository has, in a directory of this one.
type include struct {
	Repository struct {
		Name string `json:"name"`
	} `json:"repository"`
	FromPath string `json:"fromPath"`
	ToPath   string `json:"toPath"`
}

// asks says whether the files are others than without it.
func (f fetching) asks() bool {
	return f.Ignore != nil || len(f.SparseCheckout)+len(f.Include) > 0
}

// artifact is the repository as source-controller gives it to the other controllers: of what is checked out, with
// what is included, all but what is ignored. included are the trees of the includes.
func (t *Trees) artifact(f fetching, included []*walk.Source) (*walk.Source, error) {
	key := fmt.Sprintf("%q", f.SparseCheckout)
	for i, of := range included {
		key += fmt.Sprintf(" %q %p", f.Include[i], of.Files)
	}
	if f.Ignore != nil {
		key += fmt.Sprintf(" %q", *f.Ignore)
	}
	return t.once(key, func() (*tree.Files, error) {
		files, err := checkedOut(t.repository, f.SparseCheckout)
		if err == nil {
			files, err = including(files, f.Include, included)
		}
		if err != nil {
			return nil, err
		}
		return withoutIgnored(files, f.Ignore), nil
	})
}

// checkedOut are the files whose names begin with one of the directories. Sources: gitCheckout and
// validateSparseCheckoutPaths of source-controller, SkipUnless of go-git.
func checkedOut(files *tree.Files, dirs []string) (*tree.Files, error) {
	if len(dirs) == 0 {
		return files, nil
	}
	for i, dir := range dirs {
		if at := tree.Relative(dir); !files.IsDir(at) && !files.IsFile(at) {
			return nil, &missing{[]string{"spec", "sparseCheckout", "[]"}, dir, fmt.Sprintf("sparseCheckout names %q, which the repository does not have", dir)}
		}
		dirs = slices.Clone(dirs)
		dirs[i] = strings.TrimPrefix(dir, "./")
	}
	return files.Without(func(name string) bool {
		return !slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name, dir) })
	}), nil
}

// missing is why source-controller makes no artifact.
type missing struct {
	path           []string
	value, message string
}

// Error is the message.
func (m *missing) Error() string { return m.message }

// including are files with those of other trees in directories. Source: reconcileInclude of source-controller.
func including(files *tree.Files, all []include, trees []*walk.Source) (*tree.Files, error) {
	if len(all) == 0 {
		return files, nil
	}
	copies := map[string]tree.Copy{}
	for _, name := range files.Names() {
		copies[name] = tree.Copy{From: files, Name: name}
	}
	for i, in := range all {
		from, to := tree.Relative(in.FromPath), in.ToPath
		if to == "" {
			to = in.Repository.Name
		}
		if !trees[i].Files.IsDir(from) {
			return nil, &missing{[]string{"spec", "include", "[]", "fromPath"}, in.FromPath, fmt.Sprintf("include names %q, which GitRepository %s does not have", in.FromPath, in.Repository.Name)}
		}
		for _, name := range trees[i].Files.Names() {
			if below, ok := strings.CutPrefix(name, from+"/"); ok || from == "." {
				copies[path.Join(tree.Relative(to), below)] = tree.Copy{From: trees[i].Files, Name: name}
			}
		}
	}
	return tree.Composed(copies), nil
}

// withoutIgnored are files without what every .sourceignore names, and then spec.ignore; without any pattern, without
// what is left out by default, such as .sops.yaml and .github/.
// Sources: reconcileArtifact of source-controller, SourceIgnoreFilter in artifact/storage/archive.go of fluxcd/pkg.
func withoutIgnored(files *tree.Files, ignore *string) *tree.Files {
	patterns := patternsOf(files)
	if ignore != nil {
		patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(*ignore), nil)...)
	}
	matcher := sourceignore.NewDefaultMatcher(nil, nil)
	if len(patterns) > 0 {
		matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(nil), patterns...))
	}
	return files.Without(func(name string) bool { return matcher.Match(strings.Split(name, "/"), false) })
}

// patternsOf are those of all .sourceignore files, a directory's before those below it.
func patternsOf(files *tree.Files) []gitignore.Pattern {
	var domains [][]string
	for _, name := range files.Names() {
		if path.Base(name) == sourceignore.IgnoreFile {
			parts := strings.Split(name, "/")
			domains = append(domains, parts[:len(parts)-1])
		}
	}
	slices.SortFunc(domains, slices.Compare)
	var out []gitignore.Pattern
	for _, domain := range domains {
		text, err := files.Read(path.Join(append(slices.Clone(domain), sourceignore.IgnoreFile)...))
		if err == nil {
			out = append(out, sourceignore.ReadPatterns(bytes.NewReader(text), domain)...)
		}
	}
	return out
}
