// Package inputs tells which clusters have other inputs than at a commit of
// the project's repository, and which inputs these are. What an up of a cluster
// depends on is its cluster file, a spoke's hub's, the files that these name,
// the settings of its stacks, and the program: any source of Go, and the modules
// that it is built with; and the directories of its own stacks' programs.
//
// Only what Git knows is compared: commits, the working tree, and files that
// are not added yet. Values of stacks of other projects and of Parameter Store are not
// in it: Report.Unseen names them. Secrets in environment variables or in files that Git
// ignores, and what others changed in the cloud, are not seen.
//
// The package knows nothing of the driver.
package inputs

import (
	"context"
	"path"
	"strings"

	"tombolo/config"
)

// Options of a comparison. Root and Ref are required.
type Options struct {
	// Root is the project's directory, with Pulumi.yaml and clusters/.
	Root string
	// Ref names the commit to compare with, as git does: a branch, a tag, a
	// hash, HEAD~3. It is compared as it is: where the branch has moved on since
	// the work at hand began, give `git merge-base HEAD <branch>`.
	Ref string
	// Tree is the directory of the platform tree, the root of what gitops.path
	// is relative to; it is in the repository of Root. Default: trees are not
	// compared, as no stack reads them.
	Tree string
}

// Report is what has changed.
type Report struct {
	// Clusters maps the name of each cluster with other inputs to the reasons.
	// A cluster that is not in it has the same inputs as at the commit.
	Clusters map[string][]Reason
	// Removed are the cluster files in clusters/ that are there no more, by
	// their paths below Root, sorted. Their stacks may still exist.
	Removed []string
	// Shared are the files of shared settings in clusters/ that have changed, by their names.
	Shared []Shared
	// Unseen is where clusters take values from that Git does not have.
	Unseen []Unseen
}

// Since compares the inputs of clusters with what they were at o.Ref. The error
// is a *fault.Error where Git, or the program's source, cannot be read.
func Since(ctx context.Context, o Options, clusters []*config.Cluster) (Report, error) {
	s, err := searchSince(ctx, o)
	if err != nil {
		return Report{}, err
	}
	report := Report{Clusters: map[string][]Reason{}, Removed: s.removedClusters()}
	for _, c := range clusters {
		reasons, err := s.ofCluster(c, clusters)
		if err != nil {
			return Report{}, err
		}
		if len(reasons) > 0 {
			report.Clusters[c.Name] = reasons
		}
	}
	report.Shared = s.sharedChanges(report.Clusters)
	report.Unseen = s.unseen
	return report, nil
}

// searchSince looks at what has changed, and at what of it every cluster depends on.
func searchSince(ctx context.Context, o Options) (*search, error) {
	repo, err := openRepository(ctx, o.Root, o.Ref)
	if err != nil {
		return nil, err
	}
	diff, err := repo.diff(ctx)
	if err != nil {
		return nil, err
	}
	s := &search{repo: repo, diff: diff, differing: map[string]bool{}, base: map[string]*config.Loader{}}
	s.show = func(file string) (string, error) { return repo.show(ctx, file) }
	if s.own, err = config.LoadStacks(repo.root); err != nil {
		return nil, err
	}
	if s.shared, err = s.ofAll(); err != nil {
		return nil, err
	}
	s.tree, err = s.treePath(o.Tree)
	return s, err
}

// ofAll gathers what every cluster depends on.
func (s *search) ofAll() ([]Reason, error) {
	project, err := s.repo.path("Pulumi.yaml")
	if err != nil {
		return nil, err
	}
	reasons := append(s.files(ProjectFile, project), s.files(OwnStack, s.repo.below(config.StacksFile))...)
	program, err := s.program()
	return append(reasons, program...), err
}

// FileAt is the content of a file of the project at o.Ref, by its path below
// o.Root, and whether it was there. The error is a *fault.Error where Git cannot be
// read.
func FileAt(ctx context.Context, o Options, file string) (content string, found bool, err error) {
	repo, err := openRepository(ctx, o.Root, o.Ref)
	if err != nil {
		return "", false, err
	}
	file = repo.below(file)
	listed, err := repo.listed(ctx, file)
	if err != nil || !listed {
		return "", false, err
	}
	content, err = repo.show(ctx, file)
	return content, err == nil, err
}

// SettingsAt are the project file and the settings of the stacks at o.Ref, by their
// paths below o.Root. The error is a *fault.Error where Git cannot be read.
func SettingsAt(ctx context.Context, o Options) (map[string]string, error) {
	repo, err := openRepository(ctx, o.Root, o.Ref)
	if err != nil {
		return nil, err
	}
	listed, err := repo.git(ctx, "ls-tree", "--full-tree", "--name-only", "-z", repo.commit, "--",
		repo.below("Pulumi.yaml"), repo.below(clustersDir)+"/")
	if err != nil {
		return nil, unreadable("list the settings of "+o.Ref, err)
	}
	out := map[string]string{}
	for file := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		if name := path.Base(file); !strings.HasPrefix(name, "Pulumi.") || path.Ext(name) != ".yaml" {
			continue
		}
		text, err := repo.git(ctx, "cat-file", "blob", repo.commit+":"+file)
		if err != nil {
			return nil, unreadable("read "+file+" of "+o.Ref, err)
		}
		out[repo.display(file)] = text
	}
	return out, nil
}
