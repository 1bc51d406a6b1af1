package inputs

import (
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/stacks"
)

// clustersDir holds the cluster files and the settings of their stacks, below
// the project's directory.
const clustersDir = "clusters"

// ofCluster gathers the reasons of one cluster; all are those that are compared
// with it.
func (s *search) ofCluster(c *config.Cluster, all []*config.Cluster) ([]Reason, error) {
	reasons, err := s.clusterFile(ClusterFile, c.File)
	if err != nil {
		return nil, err
	}
	hub, err := config.LoadHub(c)
	if err != nil {
		return nil, err
	}
	shared := s.sharedOf(c)
	if c.HasHubFile() {
		shared = append(shared, s.sharedOf(hub)...)
		ofHub, err := s.clusterFile(HubFile, hub.File)
		if err != nil {
			return nil, err
		}
		reasons = append(reasons, ofHub...)
	}
	reasons = append(reasons, s.files(SharedFile, shared...)...)
	reasons = append(reasons, s.files(NamedFile, s.named(c)...)...)
	reasons = append(reasons, s.stacksRead(c)...)
	reasons = append(reasons, s.files(Settings, s.settings(c)...)...)
	reasons = append(reasons, s.ownStacks(c)...)
	reasons = append(reasons, s.shared...)
	return append(reasons, s.treeOf(hub, all)...), nil
}

// clusterFile is a reason where the file has changed, or Git cannot tell.
func (s *search) clusterFile(input Input, file string) ([]Reason, error) {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return nil, unreadable("look for "+file, err)
	}
	inRepo, err := s.repo.path(absolute)
	if outside := new(fault.Error); errors.As(err, &outside) || err == nil && !s.repo.known[inRepo] {
		return reason(input, []Change{{Name: file, How: "is not known to Git"}}), nil
	}
	if err != nil {
		return nil, err
	}
	return s.files(input, inRepo), nil
}

// named are the files that the cluster file names and Git knows. Others, such
// as a secret's, cannot be compared.
func (s *search) named(c *config.Cluster) []string {
	files := []string{c.GitOps.Distribution.Path}
	var refs []*config.SecretRef
	if auth := c.GitOps.Auth; auth != nil {
		refs = append(refs, auth.Password, auth.PrivateKey)
	}
	if s := c.GitOps.SealedSecrets; s != nil {
		refs = append(refs, s.Key, s.Certificate)
	}
	if channel := c.GitOps.Channel; channel != nil {
		refs = append(refs, channel.Address)
	}
	if w := c.GitOps.Webhook; w != nil {
		refs = append(refs, w.Secret)
	}
	for _, ref := range refs {
		if ref != nil {
			files = append(files, ref.File)
		}
	}
	var out []string
	for _, f := range files {
		if f == "" {
			continue
		}
		absolute, err := filepath.Abs(abs(c.File, f))
		if err != nil {
			continue
		}
		if inRepo, err := s.repo.path(absolute); err == nil {
			out = append(out, inRepo)
		}
	}
	return out
}

// ownStacks is a reason where something has changed in the directory of the program of an own stack that
// the cluster has, but for the settings of other stacks. What a program reads elsewhere is not looked at.
func (s *search) ownStacks(c *config.Cluster) []Reason {
	var files []string
	for _, o := range s.own {
		if !o.Has(c.RegistrationLabels()) {
			continue
		}
		dir := s.repo.below(path.Clean(filepath.ToSlash(o.Program)))
		for file := range s.diff {
			name := path.Base(file)
			others := strings.HasPrefix(name, "Pulumi.") && name != "Pulumi.yaml" && name != "Pulumi."+o.Stack(c.Name)+".yaml"
			if _, in := within(dir, file); in && !others {
				files = append(files, file)
			}
		}
	}
	return s.files(OwnStack, files...)
}

func (s *search) settings(c *config.Cluster) []string {
	var out []string
	for _, k := range stacks.Kinds() {
		out = append(out, s.repo.below(path.Join(clustersDir, "Pulumi."+stacks.Name(c.Name, k)+".yaml")))
	}
	return out
}

func isClusterFile(dir, file string) bool {
	name := path.Base(file)
	return path.Dir(file) == dir && path.Ext(name) == ".yaml" && !strings.HasPrefix(name, "Pulumi.") && !config.IsShared(name)
}

// treePath is where the platform tree is in the repository.
func (s *search) treePath(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", unreadable("look for the tree "+dir, err)
	}
	return s.repo.path(absolute)
}

// treeOf is a reason where something has changed in the platform tree that the
// cluster may follow, a spoke that of its hub: all but what is below the
// gitops.path of other clusters alone.
func (s *search) treeOf(c *config.Cluster, all []*config.Cluster) []Reason {
	if s.tree == "" || c.HasExternalHub() { // whose tree is not ours
		return nil
	}
	own := path.Clean(c.GitOps.Path)
	var others []string
	for _, o := range all {
		if p := path.Clean(o.GitOps.Path); !o.IsSpoke() && p != own {
			others = append(others, p)
		}
	}
	var files []string
	for file := range s.diff {
		rel, ok := within(s.tree, file)
		if !ok {
			continue
		}
		_, ours := within(own, rel)
		foreign := slices.ContainsFunc(others, func(p string) bool { _, in := within(p, rel); return in })
		if ours || !foreign {
			files = append(files, file)
		}
	}
	return s.files(Tree, files...)
}

// removedClusters are the cluster files of the project that are gone.
func (s *search) removedClusters() []string {
	dir := s.repo.below(clustersDir)
	var out []string
	for _, path := range slices.Sorted(maps.Keys(s.diff)) {
		if s.diff[path] == removed && isClusterFile(dir, path) {
			out = append(out, s.repo.display(path))
		}
	}
	return out
}
