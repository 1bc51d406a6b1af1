package handover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"tombolo/automation/connect"
	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/internal/names"
)

// engineDir is where the engine's own manifests are, below gitops.path; Flux's
// own bootstrap takes the same.
const engineDir = names.FluxNamespace

// PushOptions of a push.
type PushOptions struct {
	// Branch to propose the change on, for a pull request. Default: the branch
	// that the cluster follows, and where that takes no push,
	// tombolo/<cluster>-flux.
	Branch string
	// OwnCredentials pushes with the user's own git configuration, and not
	// with gitops.auth, which may be for reading alone.
	OwnCredentials bool
}

// PushResult is what a push did.
type PushResult struct {
	// Cluster is the cluster's name.
	Cluster string `json:"cluster"`
	// Repository that was pushed to, and Into, the branch that the cluster
	// follows.
	Repository string `json:"repository"`
	Into       string `json:"into"`
	// Branch that has the engine's manifests, at Commit.
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	// Changed says that this push made the commit.
	Changed bool `json:"changed"`
	// Proposed says that a pull request from Branch into Into is needed.
	Proposed bool `json:"proposed"`
	// Refusal is what the server said to a push to Into, if it refused one.
	Refusal string `json:"refusal,omitempty"`
}

// Handover hands engines over to Git. All fields are required.
type Handover struct {
	Connector connect.Connector
	// Pushing serialises pushes: the server refuses the second of two at a time to one branch.
	Pushing *sync.Mutex
}

// Push commits the engine's install manifest and sync objects to the
// repository that the cluster follows, so that the engine manages itself from
// there. It needs no cluster, and may come before or after up. It never forces
// a push, and makes no commit when nothing differs. Whatever stops it is a
// fault.Error: nothing was changed.
func (h Handover) Push(ctx context.Context, c *config.Cluster, o PushOptions) (PushResult, error) {
	result := PushResult{Cluster: c.Name, Repository: c.GitOps.URL, Into: c.GitOps.Branch}
	if c.HasExternalHub() {
		return result, &fault.Error{
			What:   fmt.Sprintf("push %s: the Argo CD that manages it is that of hub %s, which others run", c.Name, c.Hub()),
			Remedy: "there is nothing of it to push: ask the owners of the hub",
		}
	}
	if c.GitOps.Engine == config.ArgoCD {
		return result, &fault.Error{
			What:   fmt.Sprintf("push %s: Argo CD is not handed over to Git: bootstrap installs and upgrades it", c.Name),
			Remedy: fmt.Sprintf("name the distribution in the file of %s, and run `tombolo up %s`", c.Hub(), c.Hub()),
		}
	}
	if c.GitOps.TakeOver {
		return result, &fault.Error{
			What:   fmt.Sprintf("push %s: gitops.takeOver leaves Flux with who has installed it", c.Name),
			Remedy: "have its owner put it into Git, or take gitops.takeOver out where Tombolo has installed Flux",
		}
	}
	files, err := h.Connector.Programs.GitFiles(ctx, c)
	if err != nil {
		return result, notPushed(ctx, c, fmt.Errorf("gitops.distribution: %w", err))
	}
	repository := Repository{URL: c.GitOps.URL, Branch: c.GitOps.Branch, Env: h.Connector.Env}
	if !o.OwnCredentials {
		if repository.Credentials, err = CredentialsOf(ctx, h.Connector, c); err != nil {
			return result, notPushed(ctx, c, err)
		}
	}
	h.Pushing.Lock()
	defer h.Pushing.Unlock()
	outcome, err := Push(ctx, repository, changeOf(c, files, o.Branch))
	if err != nil {
		return result, notPushed(ctx, c, err)
	}
	result.Branch, result.Commit = outcome.Branch, outcome.Commit
	result.Changed, result.Proposed, result.Refusal = outcome.Changed, outcome.Proposed, outcome.Refusal
	return result, nil
}

// changeOf is what the repository should hold.
func changeOf(c *config.Cluster, files map[string][]byte, proposal string) Change {
	tree := path.Clean(c.GitOps.Path)
	dir := path.Join(tree, engineDir)
	change := Change{
		Cluster:  c.Name,
		Proposal: proposal,
		Files:    map[string][]byte{},
		Lists: []List{
			{Dir: dir, Resources: slices.Sorted(maps.Keys(files)), Create: true},
			{Dir: tree, Resources: []string{engineDir}},
		},
		Message: fmt.Sprintf("Have Flux %s of cluster %s manage itself\n\nWritten by `tombolo push %s` from the cluster file.",
			c.GitOps.Distribution.Version, c.Name, c.Name),
	}
	for name, content := range files {
		change.Files[path.Join(dir, name)] = content
	}
	return change
}

// notPushed puts the error into its class.
func notPushed(ctx context.Context, c *config.Cluster, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("push %s: interrupted: %w", c.Name, ctx.Err())
	}
	why := fault.Error{What: err.Error()}
	if refused := new(fault.Error); errors.As(err, &refused) {
		why = *refused
	}
	why.What, why.Err = fmt.Sprintf("push %s: %s", c.Name, strings.ReplaceAll(why.What, "\n", "; ")), err
	return &why
}

// CredentialsOf are those of gitops.auth; nil when the file has none, or an identity.
func CredentialsOf(ctx context.Context, r connect.Connector, c *config.Cluster) (*Credentials, error) {
	credentials, err := r.Programs.GitCredentials(c, r.Env, r.Kept(ctx, c))
	if err != nil || credentials == nil {
		return nil, err
	}
	return (*Credentials)(credentials), nil
}
