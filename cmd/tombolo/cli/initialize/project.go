package initialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/file"
	"tombolo/internal/gitaddress"
	"tombolo/internal/scalar"
	"tombolo/platform"
	"tombolo/platform/pipelines"
	"tombolo/platform/project"
	"tombolo/platform/scaffold"
)

// ProjectOptions are the options of init project.
type ProjectOptions struct {
	Answers
	// Version of this program, as Go's build information has it.
	Version string
	// Release is the tag of the release that the project uses. Default: this program's.
	Release string

	// Dir is the project's directory.
	Dir string
	// Host of Git, Source of releases and pipelines, Checksums file of the release.
	Host, Source, Checksums string
	// Backend and SecretsProvider of the state.
	Backend, SecretsProvider string
}

// NewCmdProject returns the command init project.
func NewCmdProject(f *factory.Factory) *cobra.Command {
	opts := &ProjectOptions{Answers: Answers{Base: f.Base()}}
	if info, ok := debug.ReadBuildInfo(); ok {
		opts.Version = info.Main.Version
	}
	cmd := &cobra.Command{
		Use:   "project [<dir>]",
		Short: "Write the first files of a repository of your own",
		Long: strings.TrimSpace(`
Write the first files of a project into a directory, by default this one, which is
or becomes the root of a Git repository: Pulumi.yaml, the file of a first cluster,
the platform tree beside it, the policy, Renovate's configuration and a README.

On a terminal the command asks for what the flags leave out. Of a project that has
clusters already, the one with the lowest block of addresses gives the defaults: init
gives them in order. The state's URL is that of --backend or PULUMI_BACKEND_URL.
With --source, the pipelines and their Makefile are written, too.

Nothing is overwritten: what exists is kept, and listed where it differs. --root names
the directory, too.`),
		Example: strings.TrimSpace(`
  tombolo init project
  tombolo init project --yes --cloud aws --region eu-central-1 \
    --account 111122223333 --allowed-cidr 203.0.113.0/24 \
    --backend 's3://acme-state?region=eu-central-1'`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Globals.Root != "" {
				args = append(args, f.Globals.Root)
			}
			switch opts.Dir = f.Dir; {
			case len(args) > 1:
				return fault.NewUsage("the directory is named twice, by --root too", "leave --root out")
			case len(args) == 1 && filepath.IsAbs(args[0]):
				opts.Dir = args[0]
			case len(args) == 1:
				opts.Dir = filepath.Join(f.Dir, args[0])
			}
			variable, _ := f.Lookup("PULUMI_BACKEND_URL")
			opts.Backend, opts.SecretsProvider = cmp.Or(f.Globals.Backend, variable), f.Globals.SecretsProvider
			return projectRun(cmd.Context(), opts)
		},
	}
	flag := cmd.Flags()
	flag.StringVar(&opts.Name, "name", "", "`name` of the first cluster (default first)")
	flag.StringVar(&opts.Region, "region", "", "region of the cluster, such as eu-central-1 or germanywestcentral")
	flag.StringVar(&opts.Environment, "environment", "", "environment that the cluster belongs to (default dev)")
	host := flags.NewEnum(&opts.Host, pipelines.Hosts()...)
	flag.Var(host, "host", "host of Git, whose pipelines are written (default: by the repository's address)")
	flag.StringVar(&opts.Source, "source", "", "where tombolo's releases and pipelines are, as <host>/<owner>/<repository> (default: none, and no pipelines)")
	flag.StringVar(&opts.Release, "release", "", "`tag` of the release of tombolo that the project uses (default: this tombolo's)")
	flag.StringVar(&opts.Checksums, "checksums", "", "`file` SHA256SUMS of that release, for the pin tombolo.sha256")
	opts.addFlags(cmd)
	factory.CompleteFlag(cmd, "host", host.Values())
	return cmd
}

func projectRun(ctx context.Context, o *ProjectOptions) error {
	if err := o.ours(); err != nil {
		return err
	}
	if err := o.complete(ctx); err != nil {
		return err
	}
	if (o.Tree == "" || o.Source != "") && inside(ctx, o.Dir) {
		return fault.NewUsage(clusters.Short(o.Dir)+" is in a Git repository, and the platform tree and the pipelines have to be at a repository's root",
			"run the command at the root, make a repository of the directory with git init, or give --tree and no --source")
	}
	described, err := o.described()
	if err != nil {
		return err
	}
	all, err := described.Files()
	if err != nil {
		return err
	}
	more, err := pipelinesOf(described, o.Applied)
	if err != nil {
		return err
	}
	all = append(all, more...)
	if err := o.refuseObstacles(all); err != nil {
		return err
	}
	done, err := o.write(all)
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, document{Type: "project", Directory: o.Dir, Files: done})
	}
	o.report(ctx, described, all, done)
	return nil
}

// ours refuses a directory that is the project of something else.
func (o *ProjectOptions) ours() error {
	text, err := file.ReadInside(filepath.Join(o.Dir, "Pulumi.yaml"), file.MostOfSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Pulumi.yaml of the directory: %w", err)
	}
	if name, err := scalar.At(text, "name"); err != nil || name != "tombolo" {
		return fault.NewUsage(clusters.Short(o.Dir)+" is the project of another Pulumi program", "give a directory of its own: tombolo init project <dir>")
	}
	if url, err := scalar.At(text, "backend", "url"); err == nil {
		o.Backend = cmp.Or(o.Backend, url)
	}
	return nil
}

// complete has everything answered.
func (o *ProjectOptions) complete(ctx context.Context) error {
	existing, err := clusterFiles(o.Dir)
	if err != nil {
		return err
	}
	like := clusterOf(existing, o.Provider)
	o.sayDefaults(existing)
	o.CIDR = cmp.Or(like.CIDR, project.FreeBlock(nil))
	from := origin(ctx, o.Dir)
	if from != "" && like.URL != "" && !gitaddress.Same(from, like.URL) {
		o.Tree = cmp.Or(o.Tree, like.URL)
	}
	o.setBranches(ctx, o.Dir, like)
	all := append(o.questions(existing, cmp.Or(from, like.URL)),
		question{flag: "host", value: &o.Host, text: "Host of Git (" + strings.Join(pipelines.Hosts(), ", ") + ")", check: checkHost, off: o.hostIsKnown},
		question{flag: "name", key: "name", value: &o.Name, def: cmp.Or(like.Name, "first"), text: "Name of the first cluster"},
		question{flag: "environment", key: "environment", value: &o.Environment, def: cmp.Or(like.Environment, "dev"), text: "Environment"},
		question{flag: "backend", value: &o.Backend, text: "URL of the Pulumi state, such as s3://acme-state?region=eu-central-1", check: project.CheckBackend},
		question{flag: "secrets-provider", value: &o.SecretsProvider, text: "Key service for the state's secrets, such as awskms://alias/tombolo, or nothing", check: project.CheckSecretsProvider, optional: true},
		question{flag: "source", value: &o.Source, text: "Source of tombolo, <host>/<owner>/<repository>, or nothing", check: pipelines.CheckSource, optional: true},
	)
	if err := o.answer(ctx, all); err != nil {
		return err
	}
	if o.SecretsProvider == "passphrase" {
		o.SecretsProvider = "" // which is the same
	}
	return o.refuseSecondEngine(o.Dir, existing)
}

func checkHost(s string) error {
	if !slices.Contains(pipelines.Hosts(), s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(pipelines.Hosts(), ", "))
	}
	return nil
}

// hostIsKnown tells the host by the repository's address, which is asked for before.
func (o *ProjectOptions) hostIsKnown() bool {
	o.Host = cmp.Or(o.Host, project.HostOf(project.HTTPS(o.Repository)))
	return o.Host != ""
}

// pipelinesOf are the pipelines of the project's host, which call those of its release; none without one.
func pipelinesOf(o project.Options, branch string) ([]pipelines.File, error) {
	if o.Source == "" || o.Version == "" {
		return nil, nil
	}
	secrets := []string{"TOMBOLO_GIT_TOKEN"}
	if o.SecretsProvider == "" {
		secrets = append(secrets, pipelines.Passphrase)
	}
	return pipelines.Files(pipelines.Options{Host: o.Host, Source: o.Source, Version: o.Version, Branch: branch, Secrets: secrets})
}

// described is the project as package project takes it.
func (o *ProjectOptions) described() (project.Options, error) {
	out := project.Options{
		Cluster: o.Cluster, Host: o.Host, Tree: o.Tree, Backend: o.Backend, SecretsProvider: o.SecretsProvider,
		Source: o.Source, Version: project.Release(cmp.Or(o.Release, o.Version)),
	}
	if o.Release != "" && out.Version == "" {
		return out, fault.NewUsage(fmt.Sprintf("--release %s is no tag of a release", o.Release), "give one such as v1.2.3")
	}
	if o.Checksums == "" {
		return out, nil
	}
	if out.Version == "" {
		return out, fault.NewUsage("--checksums is given, and this tombolo is a build between releases", "name the release by --release, or leave the flag out")
	}
	var err error
	if out.Checksums, err = file.Read(o.Checksums, file.MostText); err != nil {
		return out, fault.NewUsage(fmt.Sprintf("--checksums cannot be read: %v", err), "give the release's SHA256SUMS")
	}
	return out, nil
}

// refuseObstacles refuses a file where a directory has to be, before the first one is written.
func (o *ProjectOptions) refuseObstacles(all []pipelines.File) error {
	var dirs []string
	if tree, err := fs.ReadDir(platform.Reference(o.Engine), "."); err == nil && o.Tree == "" {
		dirs = append(dirs, "clusters/base", "clusters/"+o.Name)
		for _, entry := range tree {
			if entry.IsDir() {
				dirs = append(dirs, entry.Name())
			}
		}
	}
	for _, f := range all {
		dirs = append(dirs, path.Dir(f.Path))
	}
	for _, dir := range dirs {
		info, err := os.Stat(filepath.Join(o.Dir, filepath.FromSlash(dir)))
		if !errors.Is(err, fs.ErrNotExist) && (err != nil || !info.IsDir()) {
			return fault.NewUsage(dir+" has to be a directory, and a file is in its place", "move the file away; nothing was written")
		}
	}
	return nil
}

// write writes the files, and the tree by the cluster file that is there then.
func (o *ProjectOptions) write(all []pipelines.File) ([]scaffold.File, error) {
	done, err := project.Write(o.Dir, all, false)
	if err != nil || o.Tree != "" {
		return done, err
	}
	c, err := config.Load(filepath.Join(o.Dir, "clusters", o.Name+".yaml"))
	if err != nil {
		return done, err
	}
	tree, err := writeTree(o.Dir, c)
	return append(done, tree...), err
}

// writeTree writes the part of a cluster, and of those of its hub, into a tree.
func writeTree(dir string, c *config.Cluster) ([]scaffold.File, error) {
	all, err := clusters.WithFleets([]*config.Cluster{c})
	if err != nil {
		return nil, err
	}
	done, err := scaffold.Write(dir, platform.Reference(c.GitOps.Engine), all, false)
	var out []scaffold.File
	for _, f := range done {
		// What this cluster does not use, others may; and the README of a project is its own.
		if f.Change != scaffold.Unused && (f.Path != "README.md" || f.Change == scaffold.Written) {
			out = append(out, f)
		}
	}
	return out, err
}

// report says what was written, and what comes next, in at most seven lines.
func (o *ProjectOptions) report(ctx context.Context, described project.Options, all []pipelines.File, done []scaffold.File) {
	status := o.Status()
	reportFiles(status, o.Dir, done, all...)
	if o.Source == "" {
		status.Plain("  no pipelines: --source <host>/<owner>/<repository> says where they are")
	}
	_, err := os.Lstat(filepath.Join(o.Dir, project.PinFile))
	switch {
	case err == nil:
	case described.Version == "":
		status.Plain("  no pin, no pipelines: this is no release of tombolo, --release names one")
	case described.Attached():
		status.Plain("  the pin:  gh release download %s -R %s -p SHA256SUMS", described.Version, described.Repo())
		status.Plain("            gh attestation verify SHA256SUMS -R %s", described.Repo())
		status.Plain(`            grep -E ' tombolo(-tools)?_' SHA256SUMS | grep gz > %s`, project.PinFile)
	default:
		status.Plain("  no %s: give the release's SHA256SUMS by --checksums", project.PinFile)
	}
	if o.Tree != "" {
		status.Plain("  next:     in a clone of the tree: tombolo init platform <dir> %s", o.Name)
		return
	}
	var first []string
	if dir := clusters.Short(o.Dir); dir != "." {
		first = append(first, "cd "+dir)
	}
	if !isRepository(ctx, o.Dir) {
		first = append(first, "git init -b "+o.Applied)
	}
	if len(first) > 0 {
		status.Plain("  first:    %s", strings.Join(first, " && "))
	}
	status.Plain("  next:     tombolo check, commit, push; README.md has the rest")
	status.Plain("            tombolo up %s --verify", o.Name)
}

// reportFiles lists what was kept or updated, and counts.
func reportFiles(status render.Status, dir string, done []scaffold.File, all ...pipelines.File) {
	count := map[scaffold.Change]int{}
	for _, f := range done {
		switch count[f.Change]++; f.Change {
		case scaffold.Kept:
			status.Plain("  kept     %s, which is not as it would be written", f.Path)
			if i := slices.IndexFunc(all, func(p pipelines.File) bool { return p.Path == f.Path }); i >= 0 {
				number, line := project.Differs(dir, all[i])
				status.Plain("           its line %d would be: %s", number, line)
			}
		case scaffold.Updated:
			status.Plain("  updated  %s", f.Path)
		}
	}
	status.Done("%s: %s", clusters.Short(dir), summary(count))
}
