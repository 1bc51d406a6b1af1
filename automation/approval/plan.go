// Package approval makes plans that people approve, and has an up do what was approved and
// nothing else: package approved says what a plan is.
package approval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/fault"
	"tombolo/automation/hubs"
	"tombolo/automation/preview"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/owner"
)

// Approver makes plans, and compares with them. All fields are required.
type Approver struct {
	Backend   *backend.Backend
	Connector connect.Connector
	Hubs      hubs.Hubs
	Previewer preview.Previewer
	// Getenv reads a variable of the environment.
	Getenv func(string) string
	// Note says what people should know of a stack.
	Note func(stack, message string)
}

// PlanOptions of a plan.
type PlanOptions struct {
	// WithoutSecrets decrypts nothing: see automation.PreviewOptions.
	WithoutSecrets bool
	// Own are the own stacks of the cluster, in their order.
	Own []Own
}

// Plan is the plan of one cluster under way.
type Plan struct {
	cluster approved.Cluster
	key     approved.Key
}

// Begin begins a plan with where it is made.
func (a Approver) Begin(ctx context.Context, c *config.Cluster, o PlanOptions) (*Plan, error) {
	of, err := Files(c)
	if err != nil {
		return nil, err
	}
	p := &Plan{cluster: of}
	for _, k := range stacks.Kinds() {
		name := stacks.Name(c.Name, k)
		st, err := a.Backend.State(ctx, name)
		if err != nil {
			return nil, err
		}
		require := a.requireWhole
		if o.WithoutSecrets { // a registration is a Secret, which who plans without them may not read: the apply looks
			require = a.requireEnded
		}
		if err := require(ctx, c, k, st); err != nil {
			return nil, err
		}
		if err := p.add(Own{Kind: k, Name: name}, st); err != nil {
			return nil, err
		}
	}
	for _, o := range o.Own {
		st, err := a.Backend.State(ctx, o.InBackend)
		if err != nil {
			return nil, err
		}
		if st.Interrupted() > 0 {
			return nil, unsettled(c, o.Kind)
		}
		if err := p.add(o, st); err != nil {
			return nil, err
		}
	}
	if p.key, err = a.keyOf(p.cluster); err != nil {
		return nil, err
	}
	p.cluster.Keyed, p.cluster.WithoutSecrets = p.key.Keyed(), o.WithoutSecrets
	if o.WithoutSecrets {
		p.cluster.Secrets, err = p.key.Secrets(a.givenSecrets(c))
	}
	return p, err
}

// add adds a stack as its state is now.
func (p *Plan) add(o Own, st *backend.State) error {
	state, err := stateOf(st)
	p.cluster.Stacks = append(p.cluster.Stacks, approved.Stack{Name: o.Name, Kind: o.Kind, State: state})
	return err
}

// Keyed says that previews of the plan are to show the values of secrets: digests of them are keyed.
func (p *Plan) Keyed() bool { return p.key.Keyed() }

// keyOf is the key of a cluster's digests.
func (a Approver) keyOf(c approved.Cluster) (approved.Key, error) {
	secret, err := Secret(a.Getenv)
	if err != nil {
		return approved.Key{}, err
	}
	return approved.NewKey(secret, c)
}

// givenSecrets are the secrets that can be read here from outside of Pulumi, by the key of the file
// that has the reference.
func (a Approver) givenSecrets(c *config.Cluster) map[string]string {
	values, missing := a.Connector.GivenSecrets(c)
	for _, key := range missing {
		a.Note(stacks.Name(c.Name, stacks.Bootstrap), "the plan does not compare the secret of "+key+", which is not here")
	}
	return values
}

// Files is the beginning of a cluster's plan: the digests of its file and its hub's, and of those of
// shared settings that both have.
func Files(c *config.Cluster) (approved.Cluster, error) {
	of := approved.Cluster{Name: c.Name}
	var err error
	if of.File, err = approved.FileDigest(c.File); err != nil {
		return of, err
	}
	shared := c.SharedFiles()
	if c.HasHubFile() {
		hub, err := config.LoadHub(c)
		if err != nil {
			return of, err
		}
		if of.Hub, err = approved.FileDigest(hub.File); err != nil {
			return of, err
		}
		shared = append(shared, hub.SharedFiles()...)
	}
	for _, file := range shared {
		digest, err := approved.FileDigest(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return of, err
		case of.Shared == nil:
			of.Shared = map[string]string{}
		}
		of.Shared[filepath.Base(file)] = digest
	}
	return of, nil
}

// requireEnded refuses a plan of a stack that an operation has not left to its end.
func (a Approver) requireEnded(_ context.Context, c *config.Cluster, k stacks.Kind, st *backend.State) error {
	if st.Interrupted() == 0 && !st.Draining() {
		return nil
	}
	return unsettled(c, k)
}

// requireWhole refuses, besides, a plan of a bootstrap whose registration an up would have to restore first.
func (a Approver) requireWhole(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State) error {
	if err := a.requireEnded(ctx, c, k, st); err != nil || k == stacks.Core {
		return err
	}
	if a.Hubs.Standing(ctx, c, st) != hubs.Whole {
		return unsettled(c, k)
	}
	return nil
}

func unsettled(c *config.Cluster, k stacks.Kind) error {
	return &fault.Error{
		What:   fmt.Sprintf("stack %s is as an interrupted operation has left it: no plan can say what an up will find", stacks.Name(c.Name, k)),
		Remedy: fmt.Sprintf("run `tombolo up %s` without a plan, which recovers first", c.Name),
	}
}

// stateOf is by what a state is known again; nil of none, and of an empty one: a preview
// of bootstrap makes it.
func stateOf(st *backend.State) (*approved.State, error) {
	if len(st.All()) == 0 {
		return nil, nil
	}
	return approved.StateOf(st.Deployment.Manifest.Time.UTC().Format(time.RFC3339Nano), st.Raw.Deployment)
}

// End is the plan with what the previews have told: of core, of bootstrap, and of own stacks in their order. Texts
// are those that stand in bootstrap's for outputs of own stacks which are not known yet.
func (p *Plan) End(core, bootstrap preview.Preview, own []preview.Preview, texts []string) (*approved.Cluster, error) {
	of := &p.cluster
	for i, seen := range append([]preview.Preview{core, bootstrap}, own...) {
		told := seen.Approved()
		of.Stacks[i].Unseen = seen.Result.Events.Unseen
		if i == 1 {
			of.Stacks[i].AfterCore = bootstrap.Result.Placeholders || len(of.Stacks[0].Steps) > 0 || len(texts) > 0
		}
		if of.Stacks[i].AfterCore {
			told.Later = append(later(core), texts...)
		}
		var err error
		if of.Stacks[i].Steps, err = p.key.StepsOf(told, nil); err != nil {
			return nil, fmt.Errorf("plan of stack %s: %w", of.Stacks[i].Name, err)
		}
	}
	return of, nil
}

// later are texts in the place of what core's up decides: names that its preview has
// made up, and the identity of a cluster that has none.
func later(core preview.Preview) []string {
	out := []string{owner.Unborn}
	for i := 0; i < len(core.Result.Events.Preview.MadeUp); i += 2 {
		out = append(out, core.Result.Events.Preview.MadeUp[i])
	}
	return out
}
