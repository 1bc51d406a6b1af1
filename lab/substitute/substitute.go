// Package substitute says what the lab takes of a project whose cluster files are those of a real
// cloud: the repository that its clusters follow, and the install manifests of their engines. It
// starts nothing: commands ask before they start a lab.
package substitute

import (
	"bytes"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/config"
	"tombolo/config/tree"
	"tombolo/internal/wording"
	"tombolo/lab/tools"
)

// Host is that of the lab's own repositories, which follow the trees of a checkout.
const Host = "git.lab.test"

// Token is the environment variable in which commands have the lab's Git token.
const Token = "TOMBOLO_GIT_TOKEN"

// Repository is one of the outside that the lab serves in its clusters in its place.
type Repository struct {
	URL *url.URL
	// Dir of the project has its content.
	Dir string
	// Branches that the clusters follow.
	Branches []string
	// User that the cluster files name; "" where anybody may read.
	User string
	// Identity says that clusters read it by identities of Entra.
	Identity bool
	// Token says that the password is the lab's: the one in the variable Token. Others are not
	// known here.
	Token bool
}

// Name of the repository's directory in the lab, and in its Git server's URLs.
func (r Repository) Name() string {
	name := strings.ToLower(r.URL.Host) + strings.TrimSuffix(path.Clean("/"+r.URL.Path), ".git")
	return strings.NewReplacer("/", "_", ":", "_").Replace(name) + ".git"
}

// Below is what follows the repository's address in a path of its host, and whether the path is below it.
// Git asks with and without .git at the end of the address.
func (r Repository) Below(at string) (rest string, ok bool) {
	own := strings.TrimSuffix(path.Clean("/"+r.URL.Path), ".git")
	rest, ok = strings.CutPrefix(strings.ToLower(at), strings.ToLower(own))
	if !ok {
		return "", false
	}
	rest = strings.TrimPrefix(at[len(at)-len(rest):], ".git")
	return rest, rest == "" || rest[0] == '/'
}

// RepositoryOf is what the lab serves for a cluster; nil for its own repositories, for those that another server of this
// machine has, and for a cluster without one.
func RepositoryOf(root string, c *config.Cluster) (*Repository, error) {
	g := c.GitOps
	u, err := url.Parse(g.URL)
	if g.URL == "" || err == nil && (strings.EqualFold(u.Hostname(), Host) || IsLoopback(u.Hostname())) {
		return nil, nil
	}
	if err != nil || u.Scheme != "https" || u.Port() != "" {
		return nil, fmt.Errorf("it serves Git by https alone, and gitops.url is another: give the cluster file an address with https:// to try it there")
	}
	dir, ok := tree.Of(root, g)
	if !ok {
		own, err := filepath.Rel(root, tree.All(root, g.Engine)[0])
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("it serves %s from the project, and gitops.path, %s, is neither in %s nor in the project's root; write the tree with `tombolo init platform`, or put a copy of the repository there",
			g.URL, g.Path, filepath.ToSlash(own))
	}
	r := &Repository{URL: u, Dir: dir, Branches: []string{g.Branch}}
	r.Identity = g.ByIdentity()
	if a := g.Auth; a != nil {
		r.User, r.Token = a.Username, a.Password != nil && a.Password.Env == Token
	}
	return r, nil
}

// IsLoopback says that a host is an address of this machine alone.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// ManifestOf is the file that the lab has in place of the engine's release that a cluster file names;
// "" for a file that names one of its own, or a chart.
func ManifestOf(built tools.Built, c *config.Cluster) (string, error) {
	g := c.GitOps
	if !g.IsReleased() {
		return "", nil
	}
	mark, names := "app.kubernetes.io/version: "+g.Distribution.Version+"\n", []string{"flux-install.yaml", "flux-install-before.yaml"}
	if g.Engine == config.ArgoCD {
		mark, names = "/argocd:"+g.Distribution.Version+"\n", []string{"argocd-install.yaml", "argocd-install-before.yaml"}
		if g.ArgoCD.HighAvailability {
			names = []string{"argocd-install-ha.yaml"}
		}
	}
	for _, name := range names {
		file := filepath.Join(built.Share(), name)
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			return "", fmt.Errorf("read the lab's manifests: %w", err)
		}
		if bytes.Contains(text, []byte(mark)) {
			return file, nil
		}
	}
	return "", fmt.Errorf("it downloads nothing, and %s of its tools are not %s, which gitops.distribution.version names; keep a manifest of that release in the project, and name it by gitops.distribution.path",
		wording.And(names), g.Distribution.Version)
}

// Clusters are those of a project's cluster files that can be read: what is wrong with another is
// said by what uses it.
func Clusters(root string) []*config.Cluster {
	files, err := filepath.Glob(filepath.Join(root, "clusters", "*.yaml"))
	if err != nil {
		return nil
	}
	var all []*config.Cluster
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "Pulumi.") {
			continue
		}
		if c, err := config.Load(file); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// Repositories are those of all clusters of a project that the lab can serve, each once.
func Repositories(root string) []*Repository {
	var all []*Repository
	for _, c := range Clusters(root) {
		r, err := RepositoryOf(root, c)
		if err != nil || r == nil {
			continue
		}
		i := slices.IndexFunc(all, func(other *Repository) bool { return other.Name() == r.Name() })
		if i < 0 {
			all = append(all, r)
			continue
		}
		known := all[i]
		known.Identity = known.Identity || r.Identity
		if !slices.Contains(known.Branches, r.Branches[0]) {
			known.Branches = append(known.Branches, r.Branches...)
		}
	}
	return all
}
