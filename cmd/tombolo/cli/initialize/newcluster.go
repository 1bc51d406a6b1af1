package initialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/file"
	"tombolo/internal/wording"
	"tombolo/platform/project"
	"tombolo/platform/scaffold"
)

// newClusterRun writes the file of a cluster that does not exist yet, and its part of the tree.
func newClusterRun(ctx context.Context, o *ClusterOptions) error {
	if o.Name == "" && o.asks() {
		if err := o.ask(ctx, question{key: "name", value: &o.Name, text: "Name of the cluster"}); err != nil {
			return err
		}
	}
	if o.Name == "" {
		return fault.NewUsage("the cluster is not named", "give a name: tombolo init cluster <name>; or with --from-aws or --from-azure the cluster that exists")
	}
	if err := o.checkName(); err != nil {
		return err
	}
	root, err := o.Root()
	if err != nil {
		return err
	}
	before, err := clusterFiles(root)
	if err != nil {
		return err
	}
	text, err := o.newFile(ctx, root, before)
	if err != nil {
		return err
	}
	path := filepath.Join(root, "clusters", o.Name+".yaml")
	if err := absent(path, "give another name, or edit that file"); err != nil {
		return err
	}
	if err := write(path, text); err != nil {
		return err
	}
	c, err := config.Load(path) // beside its hub, which only now has it
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	dir, tree, err := addToTree(root, before, c)
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, document{Type: "cluster", Directory: root, Files: append([]scaffold.File{{Path: "clusters/" + o.Name + ".yaml", Change: scaffold.Written}}, tree...)})
	}
	s := o.Status()
	if dir != "" {
		reportFiles(s, dir, tree)
	}
	s.Done("%s: cluster %s, Kubernetes %s", clusters.Short(path), c.Name, c.Kubernetes.Version)
	if dir == "" {
		s.Plain("  its tree is not here: in a clone of it, run `tombolo init platform <dir> %s`", c.Name)
		return nil
	}
	s.Plain("  next: tombolo check, then commit and push")
	return nil
}

// newFile is the text of the file: that of another cluster, or by the answers.
func (o *ClusterOptions) newFile(ctx context.Context, root string, existing []*config.Cluster) (string, error) {
	if err := o.takeNetwork(ctx); err != nil {
		return "", err
	}
	o.CIDR = project.FreeBlock(existing)
	if o.CIDR == "" && o.Cluster.Network == nil {
		return "", fault.NewUsage("no block from 10.20.0.0/16 to 10.239.0.0/16 is free", "write the file by hand, with a network of another size")
	}
	if o.Like != "" {
		return o.likeFile(root)
	}
	like := clusterOf(existing, o.Provider)
	o.sayDefaults(existing)
	o.setBranches(ctx, root, like)
	all := append(o.questions(existing, cmp.Or(like.URL, origin(ctx, root))),
		question{flag: "name", key: "name", value: &o.Name},
		question{flag: "environment", key: "environment", value: &o.Environment, def: cmp.Or(like.Environment, "dev"), text: "Environment"})
	if err := o.answer(ctx, all); err != nil {
		return "", err
	}
	if err := o.refuseSecondEngine(root, existing); err != nil {
		return "", err
	}
	text, err := o.File()
	if err != nil || o.Engine != like.Engine || o.Provider != like.Provider {
		return text, err // what clusters of another kind share may not be meant for it
	}
	return o.leaveOut(root, text)
}

// leaveOut leaves out of a new file what the files of shared settings beside it say.
func (o *ClusterOptions) leaveOut(root, text string) (string, error) {
	beside := config.Cluster{File: filepath.Join(root, "clusters", o.Name+".yaml"), Environment: o.Environment}
	var shared [][]byte
	var names []string
	for _, path := range beside.SharedFiles() {
		content, err := file.ReadInside(path, file.MostOfSettings)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("read the settings that clusters share: %w", err)
		}
		shared, names = append(shared, content), append(names, clusters.Short(path))
	}
	if len(shared) == 0 {
		return text, nil
	}
	o.Status().Plain("  left out: what %s says", wording.Or(names))
	return project.LeaveOut(text, shared)
}

// likeFile is the file of the cluster that the new one is like.
func (o *ClusterOptions) likeFile(root string) (string, error) {
	for _, flag := range []string{"from-terraform", "cloud", "region", "account", "tenant", "admin-group", "engine", "environment", "repository", "branch", "tree", "allowed-cidr", "private"} {
		if o.Given(flag) {
			return "", fault.NewUsage("--"+flag+" does not go with --like, whose file says it", "leave it out, and edit the new file")
		}
	}
	found, err := clusters.Files(func() (string, error) { return root, nil }, []string{o.Like})
	if err != nil {
		return "", err
	}
	text, err := file.ReadInside(found[0], file.MostOfSettings)
	if err != nil {
		return "", err
	}
	return project.Like(found[0], string(text), o.Name, o.CIDR)
}

// addToTree writes the part of a cluster into the tree that the others of its engine follow; dir is ""
// when that is not in the project.
func addToTree(root string, others []*config.Cluster, c *config.Cluster) (dir string, done []scaffold.File, err error) {
	for _, other := range others {
		if other.GitOps.Engine != c.GitOps.Engine || other.HasExternalHub() {
			continue
		}
		hub, err := config.LoadHub(other)
		if err != nil {
			return "", nil, err
		}
		if dir, ok := clusters.Tree(root, hub.GitOps); ok {
			done, err = writeTree(dir, c)
			return dir, done, err
		}
	}
	return "", nil, nil
}
