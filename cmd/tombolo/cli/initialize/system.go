package initialize

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/platform"
	"tombolo/platform/scaffold"
	"tombolo/platform/system"
)

// SystemOptions are the options of init system.
type SystemOptions struct {
	factory.Base
	// Lookup reads an environment variable.
	Lookup func(string) (string, bool)
	// Clusters loads the named clusters.
	Clusters func([]string) ([]*config.Cluster, error)

	// Name of the system, and of its namespace; Names are the clusters that are to have it.
	Name  string
	Names []string
	// Tree is the platform tree's directory; "" is to find it.
	Tree   string
	Values system.Values
	// Told says that the type of the channel was given.
	Told bool
}

// NewCmdSystem returns the command init system.
func NewCmdSystem(f *factory.Factory) *cobra.Command {
	opts := &SystemOptions{Base: f.Base(), Lookup: f.Lookup, Clusters: f.ClustersOrAll}
	cmd := &cobra.Command{
		Use:   "system <name> [<cluster or file>...]",
		Short: "Add a team's system to the platform tree",
		Long: strings.TrimSpace(`
Write the file of a team's system into the platform tree, systems/<name>.yaml,
and add it to the lists of the named clusters, which must have the same engine.
With the first system, the command also adds the files that all systems have in
common. Without clusters, the tree that --tree names is one for Flux.

With Flux, --secret and --channel-secret name Secrets of the system's namespace. With Argo
CD both are in the namespace argocd: see docs/guide/systems.md. There --channel alone
says that the team has a channel.

The tree is found as tombolo check finds it; --tree names it. A file that exists is not
overwritten. Nothing is deployed: commit and push the tree, and the engine does the rest.`),
		Example: strings.TrimSpace(`
  tombolo init system shop teams --team sellers --group sellers --repository https://git.example.com/shop.git
  tombolo init system blog --tree ../platform --team editors --group editors --repository ssh://git@git.example.com/blog.git --secret git`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.NewUsage("the system is not named", "give a name, which is also that of its namespace: tombolo init system <name>")
			}
			opts.Name, opts.Names = args[0], args[1:]
			opts.Told = cmd.Flags().Changed("channel")
			return systemRun(opts)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return f.CompleteClusters(prefix), cobra.ShellCompDirectiveDefault
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.Tree, "tree", "", "root of the platform tree (default: that of the clusters in this project)")
	flags.StringVar(&opts.Values.Team, "team", "", "who looks after the system")
	flags.StringVar(&opts.Values.Group, "group", "", "group of the cluster's API whose members may look at the system; on AKS the object id of a group of Entra")
	flags.StringVar(&opts.Values.SignInGroup, "sign-in-group", "", "group of Argo CD's identity provider whose members see the system in its page (default: none)")
	flags.StringVar(&opts.Values.Repository.URL, "repository", "", "address of the team's Git repository")
	flags.StringVar(&opts.Values.Repository.Branch, "branch", "", "branch to deliver (default: main)")
	flags.StringVar(&opts.Values.Repository.Path, "path", "", "directory of the manifests in the repository (default: its root)")
	flags.StringVar(&opts.Values.Repository.Secret, "secret", "", "Secret of the namespace with credentials for the repository")
	flags.StringVar(&opts.Values.Channel.Type, "channel", "slack", "type of the team's channel: "+strings.Join(system.Types(), ", "))
	flags.StringVar(&opts.Values.Channel.Secret, "channel-secret", "", "Secret of the namespace with the channel's address (default: no channel)")
	flags.StringVar(&opts.Values.Channel.Severity, "channel-severity", "", "what the channel is told: "+strings.Join(system.Severities(), ", ")+", which has all deliveries (default: error)")
	flags.StringSliceVar(&opts.Values.Hosts, "host", nil, "host that routes and Ingresses of the system may take; may be given again (default: none)")
	factory.CompleteFlag(cmd, "channel", system.Types())
	factory.CompleteFlag(cmd, "channel-severity", system.Severities())
	return cmd
}

func systemRun(o *SystemOptions) error {
	if err := o.check(false); err != nil {
		return err
	}
	loaded, err := o.clusters()
	if err != nil {
		return err
	}
	onAzure := func(c *config.Cluster) bool { return c.Cloud.Provider == config.Azure }
	if err := o.check(slices.ContainsFunc(loaded, onAzure)); err != nil {
		return err
	}
	dir, err := o.tree(loaded)
	if err != nil {
		return err
	}
	overlays, err := overlaysOf(loaded, dir)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, filepath.FromSlash(scaffold.SystemFile(o.Name)))
	if err := absent(file, "give another name, or edit that file and the lists of the clusters"); err != nil {
		return err
	}
	done, err := o.add(dir, loaded, overlays)
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, document{Type: "system", Directory: dir, Files: done})
	}
	o.report(dir, loaded, done)
	return nil
}

// overlaysOf are the lists of the tree that the clusters follow, a spoke that of its hub.
func overlaysOf(loaded []*config.Cluster, dir string) ([]string, error) {
	var overlays []string
	for _, c := range loaded {
		overlay, err := scaffold.HubOf(c)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(overlay), "kustomization.yaml")); err != nil {
			return nil, fault.NewUsage(fmt.Sprintf("%s has no kustomization.yaml in %s, which cluster %s follows", clusters.Short(dir), overlay, c.Name),
				fmt.Sprintf("run `tombolo init platform %s %s` first, or name another tree", clusters.Short(dir), c.Name))
		}
		if !slices.Contains(overlays, overlay) {
			overlays = append(overlays, overlay)
		}
	}
	return overlays, nil
}

// withArgoCD says that the clusters have the engine Argo CD.
func withArgoCD(loaded []*config.Cluster) bool {
	return len(loaded) > 0 && loaded[0].GitOps.Engine == config.ArgoCD
}

// add writes the system into the tree.
func (o *SystemOptions) add(dir string, loaded []*config.Cluster, overlays []string) ([]scaffold.File, error) {
	if !withArgoCD(loaded) {
		return scaffold.AddSystem(dir, platform.Flux(), o.Name, o.Values, overlays)
	}
	on := clusters.NamesOf(loaded)
	values := o.Values
	if !o.Told {
		values.Channel = system.Channel{}
	}
	return scaffold.AddArgoCDSystem(dir, platform.ArgoCD(), o.Name, values, on, overlays)
}

// check refuses what the check of the tree would refuse, with groups of Entra or others.
func (o *SystemOptions) check(entra bool) error {
	if problems := system.CheckName(o.Name); len(problems) > 0 {
		return fault.NewUsage(problems[0].Message, problems[0].Remedy)
	}
	for _, needed := range []struct{ flag, value, remedy string }{
		{"team", o.Values.Team, "say who looks after the system"},
		{"group", o.Values.Group, "name a group of the cluster's API, such as one of an access entry, on AKS by its object id"},
		{"repository", o.Values.Repository.URL, "give the address of the team's Git repository"},
	} {
		if needed.value == "" {
			return fault.NewUsage("--"+needed.flag+" is missing", needed.remedy)
		}
	}
	if !slices.Contains(system.Types(), o.Values.Channel.Type) {
		return fault.NewUsage(fmt.Sprintf("--channel is %q", o.Values.Channel.Type), "use one of "+strings.Join(system.Types(), ", "))
	}
	switch severity := o.Values.Channel.Severity; {
	case severity == "":
	case !slices.Contains(system.Severities(), severity):
		return fault.NewUsage(fmt.Sprintf("--channel-severity is %q", severity), "use one of "+strings.Join(system.Severities(), ", "))
	case !o.Told && o.Values.Channel.Secret == "":
		return fault.NewUsage("--channel-severity is given for a system without a channel", "name the channel with --channel-secret, with Argo CD by --channel")
	}
	problems := slices.Concat(o.Values.Check(entra), system.CheckHosts(o.Values.Hosts), system.CheckSignInGroup(o.Values.SignInGroup))
	if len(problems) > 0 {
		return fault.NewUsage(byFlag(problems[0]), problems[0].Remedy)
	}
	return nil
}

// byFlag is the message of a problem, with the flag for the key of a file that is not there yet.
func byFlag(p system.Problem) string {
	key := strings.Join(p.Path, ".")
	flag := map[string]string{"group": "--group", "repository.url": "--repository", "hosts": "--host", "signInGroup": "--sign-in-group"}[key]
	if rest, named := strings.CutPrefix(p.Message, key); named {
		return flag + rest
	}
	return flag + ": " + p.Message
}

// clusters are the named ones. A tree that is named needs none: then the system is in no
// list yet.
func (o *SystemOptions) clusters() ([]*config.Cluster, error) {
	if len(o.Names) == 0 && o.Tree != "" && o.Values.SignInGroup == "" {
		return nil, nil
	}
	if len(o.Names) == 0 {
		return nil, fault.NewUsage("no cluster is named that is to have the system", "name clusters, or the tree with --tree")
	}
	loaded, err := o.Clusters(o.Names)
	if err != nil {
		return nil, err
	}
	for _, c := range loaded {
		switch {
		case c.GitOps.Engine != loaded[0].GitOps.Engine:
			return nil, fault.NewUsage(fmt.Sprintf("cluster %s has the engine %s, and %s has %s", loaded[0].Name, loaded[0].GitOps.Engine, c.Name, c.GitOps.Engine),
				"run the command for each engine: each has a tree of its own")
		case c.HasExternalHub():
			return nil, fault.NewUsage(fmt.Sprintf("cluster %s follows the tree of hub %s, which others run", c.Name, c.Hub()), "ask its owners for the system")
		}
	}
	if withArgoCD(loaded) && (o.Values.Repository.Secret != "" || o.Values.Channel.Secret != "") {
		return nil, fault.NewUsage("--secret and --channel-secret are for clusters with Flux", "with Argo CD both Secrets are in the namespace argocd: see docs/guide/systems.md")
	}
	if !withArgoCD(loaded) && o.Values.SignInGroup != "" {
		return nil, fault.NewUsage("--sign-in-group is for clusters with Argo CD", "leave it out: Flux has no page to sign in to")
	}
	return loaded, nil
}

// tree is the tree that was named, or that all the clusters follow.
func (o *SystemOptions) tree(loaded []*config.Cluster) (string, error) {
	if o.Tree != "" {
		info, err := os.Stat(o.Tree)
		if err != nil || !info.IsDir() {
			return "", fault.NewUsage(clusters.Short(o.Tree)+" is no directory", "give the root of the platform tree")
		}
		return o.Tree, nil
	}
	root, err := o.Root()
	if err != nil {
		return "", err
	}
	if dir := clusters.TreeSet(root, o.Lookup); dir != "" {
		return dir, nil
	}
	found := ""
	for _, c := range loaded {
		hub, err := config.LoadHub(c)
		if err != nil {
			return "", err
		}
		dir, ok := clusters.Tree(root, hub.GitOps)
		if !ok || (found != "" && dir != found) {
			return "", fault.NewUsage("the platform tree of cluster "+c.Name+" is not here", "name its root with --tree")
		}
		found = dir
	}
	return found, nil
}

func (o *SystemOptions) report(dir string, loaded []*config.Cluster, done []scaffold.File) {
	status := o.Status()
	for _, f := range done {
		if f.Change == scaffold.Kept {
			status.Plain("  kept     %s, which differs from the reference tree's", f.Path)
		}
	}
	on := clusters.NamesOf(loaded)
	file := path.Join(clusters.Short(dir), scaffold.SystemFile(o.Name))
	if len(on) == 0 {
		status.Done("%s: system %s of team %s, which is in no cluster's list yet", file, o.Name, o.Values.Team)
	} else {
		status.Done("%s: system %s of team %s on %s", file, o.Name, o.Values.Team, strings.Join(on, ", "))
	}
	for _, secret := range slices.Compact(slices.Sorted(slices.Values([]string{o.Values.Channel.Secret, o.Values.Repository.Secret}))) {
		if secret != "" {
			status.Plain("  add Secret %s of namespace %s beside it, as SealedSecret or ExternalSecret", secret, o.Name)
		}
	}
	if withArgoCD(loaded) && o.Told {
		status.Plain("  add the channel's address to Secret argocd-notifications-secret of namespace argocd, as key %s", o.Name)
	}
	status.Plain("  next: tombolo check, then commit and push the tree")
}
