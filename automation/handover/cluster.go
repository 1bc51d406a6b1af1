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

// PushOptions of a push.
type PushOptions struct {
	// Branch to propose the change on, for a pull request. Default: the branch
	// that the cluster follows, and where that takes no push,
	// tombolo/<cluster>-<engine>.
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
	// Nothing says why there is nothing to push, and where the engine is.
	Nothing string `json:"nothing,omitempty"`
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
	if c.IsSpoke() {
		result.Nothing = fmt.Sprintf("the Argo CD that manages it is that of its hub %s", c.Hub())
		if c.HasExternalHub() {
			result.Nothing += ", which others run"
		}
		return result, nil
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
	change := Change{
		Cluster:  c.Name,
		Engine:   string(c.GitOps.Engine),
		Proposal: proposal,
		Files:    map[string][]byte{},
		Message: fmt.Sprintf("Have %s %s of cluster %s manage itself\n\nWritten by `tombolo push %s` from the cluster file.",
			c.GitOps.Engine.Title(), c.GitOps.Distribution.Version, c.Name, c.Name),
	}
	if c.GitOps.Engine == config.ArgoCD { // Flux's files have the names that its own bootstrap gives them
		change.Begin = names.Pushed
		change.Alone = &Alone{Tree: tree, Except: path.Join(tree, names.ArgoCDNamespace), ConfigMap: "argocd-cm"}
	}
	below := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		change.Files[path.Join(tree, name)] = files[name]
		below[path.Dir(name)] = append(below[path.Dir(name)], path.Base(name))
	}
	listed := below["."]
	delete(below, ".")
	if listed == nil {
		listed = slices.Sorted(maps.Keys(below))
	}
	for dir, names := range below {
		change.Lists = append(change.Lists, List{Dir: path.Join(tree, dir), Resources: names, Create: true})
	}
	change.Lists = append(change.Lists, List{Dir: tree, Resources: listed})
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
