package initialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation/gitcmd"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/config"
	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/strict"
	"tombolo/internal/gitaddress"
	"tombolo/platform/project"
)

// Answers are what a new cluster file needs to know, by flags or by questions on a terminal.
type Answers struct {
	factory.Base
	project.Cluster
	// Repository is the address of the project's, and Tree that of the platform tree when it has its own.
	Repository, Tree string
	// Applied is the branch of the project's repository that is applied, and that the engine follows when the tree is there.
	Applied string
	// Private says that no address of the internet may reach the Kubernetes API.
	Private bool
	// Yes asks nothing, and takes the defaults.
	Yes bool
}

// addFlags adds those that new clusters have, but for the region and the environment.
func (a *Answers) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	cloud := flags.NewEnum(&a.Provider, config.AWS, config.Azure)
	engine := flags.NewEnum(&a.Engine, config.Flux, config.ArgoCD)
	f.Var(cloud, "cloud", "cloud of the cluster")
	f.StringVar(&a.Account, "account", "", "`id` of the AWS account or the Azure subscription")
	f.StringVar(&a.Tenant, "tenant", "", "`id` of the tenant of Entra, for Azure")
	f.StringVar(&a.AdminGroup, "admin-group", "", "object `id` of the group of Entra whose members run tombolo, for Azure")
	f.Var(engine, "engine", "engine that follows the platform tree (default flux)")
	f.StringVar(&a.Repository, "repository", "", "`address` of this repository (default: its remote origin)")
	f.StringVar(&a.Applied, "branch", "", "`branch` of this repository that is applied (default: the one of Git, else main)")
	f.StringVar(&a.Tree, "tree", "", "`address` of the platform tree's repository, if it has its own")
	f.StringSliceVar(&a.AllowedCIDRs, "allowed-cidr", nil, "`block` of addresses that may reach the Kubernetes API; may be given again")
	f.BoolVar(&a.Private, "private", false, "have a Kubernetes API that is reached only from inside the network")
	f.BoolVarP(&a.Yes, "yes", "y", false, "do not ask, and take the defaults")
	factory.CompleteFlag(cmd, "cloud", cloud.Values())
	factory.CompleteFlag(cmd, "engine", engine.Values())
	factory.CompleteFlag(cmd, "region", slices.Concat(awsfacts.Regions(), azurefacts.Regions()))
}

// question is a flag that is asked for where it is missing.
type question struct {
	// flag and the key of the cluster file, if one has the answer; what def, the default, means.
	flag, key string
	value     *string
	def, text string
	// set sets the answer. Default: it becomes the value. check refuses a value that no key of the file has.
	set   func(string)
	check func(string) error
	// optional says that the answer may be nothing, off that the others leave no need for it.
	optional bool
	off      func() bool
}

// questions about a cluster, with the answers that those of the project give as defaults.
func (a *Answers) questions(existing []*config.Cluster, origin string) []question {
	onAWS, onAzure := func() bool { return !a.OnAzure() }, func() bool { return a.OnAzure() }
	like, aws, azure := clusterOf(existing, a.Provider), clusterOf(existing, config.AWS), clusterOf(existing, config.Azure)
	return []question{
		{flag: "cloud", key: "cloud.provider", value: (*string)(&a.Provider), def: string(like.Provider), text: "Cloud (aws or azure)"},
		{flag: "region", key: "cloud.region", value: &a.Region, def: aws.Region, text: "Region, such as eu-central-1", off: onAzure},
		{flag: "account", key: "cloud.account", value: &a.Account, def: aws.Account, text: "Account of AWS (its 12 digits)", off: onAzure},
		{flag: "region", key: "cloud.region", value: &a.Region, def: azure.Region, text: "Region, such as germanywestcentral", off: onAWS},
		{flag: "account", key: "cloud.account", value: &a.Account, def: azure.Account, text: "Subscription of Azure (its id)", off: onAWS},
		{flag: "tenant", key: "cloud.tenant", value: &a.Tenant, def: azure.Tenant, text: "Tenant of Entra (its id)", off: onAWS},
		{flag: "admin-group", key: "kubernetes.admins", value: &a.AdminGroup, def: azure.AdminGroup, text: "Group of Entra whose members run tombolo (its object id)", off: onAWS},
		{flag: "repository", key: "gitops.url", value: &a.Repository, def: origin, text: "Address of this repository"},
		{flag: "engine", key: "gitops.engine", value: (*string)(&a.Engine), def: string(like.Engine), text: "Engine (flux or argocd)"},
		{flag: "branch", key: "gitops.branch", value: &a.Branch},
		a.access(like),
	}
}

// access asks who reaches the Kubernetes API. There is no safe answer that works for everybody: a new
// cluster that only its network reaches is out of reach of hosted runners, and one that is open is
// for all.
func (a *Answers) access(like project.Cluster) question {
	const private = "private"
	q := question{
		flag: "allowed-cidr or --private", key: "kubernetes.endpoint.allowedCidrs", value: new(string), def: strings.Join(like.AllowedCIDRs, ","),
		text: "Who reaches the Kubernetes API: blocks such as 203.0.113.0/24, or private",
		off:  func() bool { return a.Private || len(a.AllowedCIDRs) > 0 },
	}
	if like.Provider != "" && q.def == "" {
		q.def = private
	}
	q.set = func(s string) {
		if a.AllowedCIDRs, a.Private = nil, s == private; !a.Private {
			a.AllowedCIDRs = strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return q
}

// answer has all questions answered: by a person where one can be asked, else by the defaults. The
// error names all that are missing at once.
func (a *Answers) answer(ctx context.Context, all []question) error {
	ask := a.asks()
	var missing []string
	for _, q := range all {
		switch {
		case *q.value != "" || q.off != nil && q.off():
		case ask:
			if err := a.ask(ctx, q); err != nil {
				return err
			}
		case q.def != "":
			_ = a.take(q, q.def) // what it refuses is refused with all the rest
		case !q.optional:
			missing = append(missing, "--"+q.flag)
		}
	}
	if len(missing) > 0 {
		return fault.NewUsage("missing: "+strings.Join(missing, ", "), "give these flags, or run the command on a terminal without --yes: it asks")
	}
	return a.refuse(all)
}

// asks says that a person can be asked.
func (a *Answers) asks() bool { return !a.Yes && !a.JSON() && a.Streams.CanPrompt() }

// ask asks until there is an answer that may be.
func (a *Answers) ask(ctx context.Context, q question) error {
	text := q.text + ":"
	if q.def != "" || q.optional {
		text = q.text + " [" + q.def + "]:"
	}
	for {
		answer, err := a.Streams.Ask(ctx, text)
		if err != nil {
			return err
		}
		if answer = cmp.Or(strings.Trim(answer, `"'`), q.def); answer == "" && q.optional {
			return nil
		}
		if answer == "" {
			a.Status().Failed("this has no default; give an answer")
			continue
		}
		if err = a.take(q, answer); err == nil {
			return nil
		}
		*q.value = ""
		a.Status().Failed("%v", err)
	}
}

// take sets an answer, and refuses what the cluster file would not be valid with.
func (a *Answers) take(q question, answer string) error {
	if q.set != nil {
		q.set(answer)
	} else {
		*q.value = answer
	}
	if q.check != nil {
		return q.check(answer)
	}
	for _, p := range a.problems() {
		if q.key != "" && strings.HasPrefix(p.Path, q.key) {
			if strings.HasPrefix(p.Message, "is ") { // it may be secret, and is not repeated
				p.Message = "this " + p.Message
			}
			return errors.New(said(p))
		}
	}
	return nil
}

// said is a problem of an answer, which is in no file yet: without what only YAML needs.
func said(p strict.Problem) string {
	return p.Message + "; " + strings.Replace(p.Remedy, "digits in quotes", "digits", 1)
}

// problems of the cluster file with the answers as they are.
func (a *Answers) problems() (found strict.Problems) {
	c := a.Cluster
	c.URL = a.address()
	_, err := c.File()
	errors.As(err, &found)
	return found
}

// address of the repository that the engine follows.
func (a *Answers) address() string {
	if a.Tree != "" {
		return project.HTTPS(a.Tree)
	}
	if a.Repository != "" {
		return project.HTTPS(a.Repository)
	}
	return a.URL
}

// refuse refuses what the cluster file would not be valid with, by the flags that say it.
func (a *Answers) refuse(all []question) error {
	if a.Private && len(a.AllowedCIDRs) > 0 {
		return fault.NewUsage("--allowed-cidr and --private contradict each other", "give one of them")
	}
	a.URL = a.address()
	var lines []string
	for _, p := range a.problems() {
		if p.Path == "gitops.path" {
			continue // it is made of the name, which has the problem
		}
		flag := p.Path
		for _, q := range all {
			switch {
			case q.key == "" || !strings.HasPrefix(p.Path, q.key):
			case q.key == "gitops.url" && a.Tree != "":
				flag = "--tree"
			default:
				flag, _, _ = strings.Cut("--"+q.flag, " ")
			}
		}
		lines = append(lines, flag+": "+said(p))
	}
	for _, q := range all {
		if q.check == nil || *q.value == "" {
			continue
		}
		if err := q.check(*q.value); err != nil {
			lines = append(lines, "--"+q.flag+": "+err.Error())
		}
	}
	if len(lines) > 0 {
		return fault.NewUsage(strings.Join(lines, "\n"), "")
	}
	return nil
}

// begins is where the network of a cluster begins. init gives the blocks in their order, so that of the
// project's own first cluster is the lowest; one in a network of others comes last.
func begins(c *config.Cluster) netip.Addr {
	block, err := netip.ParsePrefix(c.Network.CIDR)
	if err != nil {
		return netip.IPv6Unspecified() // after all of version 4
	}
	return block.Addr()
}

// clusterOf is what the project's first cluster in a cloud, of any without one, says about new ones. One
// in another cloud only says what it follows.
func clusterOf(all []*config.Cluster, provider config.Provider) (like project.Cluster) {
	in := slices.DeleteFunc(slices.Clone(all), func(c *config.Cluster) bool { return provider != "" && c.Cloud.Provider != provider })
	switch {
	case len(all) == 0:
		return project.Cluster{Engine: config.Flux}
	case len(in) == 0:
		like = clusterOf(all, "")
		return project.Cluster{Environment: like.Environment, Engine: like.Engine, URL: like.URL, Branch: like.Branch}
	}
	c := slices.MinFunc(in, func(a, b *config.Cluster) int { return begins(a).Compare(begins(b)) })
	like = project.Cluster{
		Name: c.Name, Environment: c.Environment, Provider: c.Cloud.Provider, Region: c.Cloud.Region, Account: c.Cloud.Account,
		Tenant: c.Cloud.Tenant, Engine: c.GitOps.Engine, URL: c.GitOps.URL, Branch: c.GitOps.Branch, CIDR: c.Network.CIDR,
		AllowedCIDRs: c.Kubernetes.Endpoint.AllowedCIDRs,
	}
	if len(c.Kubernetes.Admins) > 0 {
		like.AdminGroup = c.Kubernetes.Admins[0].Group
	}
	return like
}

// setBranches takes the branches of the repositories of the project and of the tree.
func (a *Answers) setBranches(ctx context.Context, dir string, like project.Cluster) {
	const usual = "main"
	if a.Tree == "" {
		a.Applied = cmp.Or(a.Applied, like.Branch, branch(ctx, dir), usual)
		a.Branch = a.Applied
		return
	}
	a.Applied, a.Branch = cmp.Or(a.Applied, branch(ctx, dir), usual), usual
	if gitaddress.Same(a.Tree, like.URL) {
		a.Branch = like.Branch
	}
}

// sayDefaults says whose answers are taken where none is given.
func (a *Answers) sayDefaults(existing []*config.Cluster) {
	if like := clusterOf(existing, a.Provider); like.Name != "" {
		a.Status().Plain("  defaults: those of cluster %s", like.Name)
	}
}

// refuseSecondEngine refuses to mix two engines in one tree, which only one of them reads.
func (a *Answers) refuseSecondEngine(root string, existing []*config.Cluster) error {
	for _, c := range existing {
		if c.HasExternalHub() || c.GitOps.Engine == a.Engine || !gitaddress.Same(c.GitOps.URL, a.URL) {
			continue
		}
		if dir, ok := clusters.Tree(root, c.GitOps); !ok || dir == root {
			return fault.NewUsage(fmt.Sprintf("the engine is %s, and cluster %s follows %s with %s", a.Engine, c.Name, a.URL, c.GitOps.Engine),
				fmt.Sprintf("give --engine %s, or --tree with the address of a repository for the tree of %s", c.GitOps.Engine, a.Engine))
		}
	}
	return nil
}

// origin is the address of the repository's remote origin; "" without one that an engine can read.
func origin(ctx context.Context, dir string) string {
	out, err := gitcmd.Git{Dir: dir}.Command(ctx, "config", "--get", "remote.origin.url").Output()
	if err != nil {
		return "" // no repository, or no git
	}
	u, err := url.Parse(gitaddress.URL(strings.TrimSpace(string(out))))
	if err != nil {
		return ""
	}
	u.User = nil // a clone may have its token there
	if address := project.HTTPS(u.String()); strings.HasPrefix(address, "https://") {
		return address
	}
	return ""
}

// branch is the default branch of the remote, else the one that the directory's repository is on; "" without one.
func branch(ctx context.Context, dir string) string {
	for _, ref := range []string{"refs/remotes/origin/HEAD", "HEAD"} {
		out, err := gitcmd.Git{Dir: dir}.Command(ctx, "symbolic-ref", "--short", ref).Output()
		if err == nil {
			return strings.TrimPrefix(strings.TrimSpace(string(out)), "origin/")
		}
	}
	return ""
}

// isRepository says that a directory is in a Git repository.
func isRepository(ctx context.Context, dir string) bool {
	return gitcmd.Git{Dir: dir}.Command(ctx, "rev-parse", "--git-dir").Run() == nil
}

// inside says that a directory, which need not be there yet, is or will be in a Git repository below its root.
func inside(ctx context.Context, dir string) bool {
	at := dir
	for at != filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			break
		}
		at = filepath.Dir(at)
	}
	prefix, err := gitcmd.Git{Dir: at}.Command(ctx, "rev-parse", "--show-prefix").Output()
	return err == nil && (at != dir || strings.TrimSpace(string(prefix)) != "")
}

// clusterFiles are the clusters of a project. A file that is wrong is an error: its network, which no
// other cluster may have, is not known.
func clusterFiles(dir string) ([]*config.Cluster, error) {
	all, err := clusters.All(dir)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return clusters.Load(all)
}
