package automation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/unchanged"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
	"tombolo/stacks/owner"
)

// This file makes plans that people approve, and has an up do what was approved and
// nothing else: package approved says what a plan is.

// PlanKey is the variable with the secret by which digests in plans are keyed. Without
// it, the passphrase of the states is taken.
const PlanKey = "TOMBOLO_PLAN_KEY"

// planSecret is that secret; "" where none is known, as with a key service. Azure Pipelines
// writes $(NAME) in the place of a variable that is not there, which everybody knows. Source:
// learn.microsoft.com/azure/devops/pipelines/process/variables, "Runtime parsing of variables".
func (d *Driver) planSecret() (string, error) {
	if key := d.opts.lookupEnv(PlanKey); key == "$("+PlanKey+")" {
		return "", &fault.Error{
			What:   fmt.Sprintf("read the key of plans: %s is %s, which is a variable that the pipeline does not have", PlanKey, key),
			Remedy: fmt.Sprintf("add %s to the variable group tombolo-plan, or take it out of the step's env", PlanKey),
		}
	}
	for _, name := range []string{PlanKey, "PULUMI_CONFIG_PASSPHRASE"} {
		if secret := d.opts.lookupEnv(name); secret != "" {
			return secret, nil
		}
	}
	name := d.opts.lookupEnv("PULUMI_CONFIG_PASSPHRASE_FILE")
	if name == "" {
		return "", nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", &fault.Error{What: fmt.Sprintf("read the passphrase by which plans are keyed: %v", err), Remedy: "correct PULUMI_CONFIG_PASSPHRASE_FILE, or set " + PlanKey, Err: err}
	}
	return strings.TrimSpace(string(text)), nil
}

// keyOf is the key of a cluster's digests.
func (d *Driver) keyOf(c approved.Cluster) (approved.Key, error) {
	secret, err := d.planSecret()
	if err != nil {
		return approved.Key{}, err
	}
	return approved.NewKey(secret, c)
}

// planner makes the plan of one cluster.
type planner struct {
	cluster approved.Cluster
	key     approved.Key
}

// newPlanner begins with where the plan is made.
func (d *Driver) newPlanner(ctx context.Context, c *config.Cluster, withoutSecrets bool) (*planner, error) {
	of, err := PlanFiles(c)
	if err != nil {
		return nil, err
	}
	p := &planner{cluster: of}
	for _, k := range stacks.Kinds() {
		name := stacks.Name(c.Name, k)
		st, err := d.backend.State(ctx, name)
		if err != nil {
			return nil, err
		}
		// A registration is a Secret, which who plans without secrets may not read: the apply looks.
		if err := d.requireSettled(ctx, c, k, st, !withoutSecrets); err != nil {
			return nil, err
		}
		state, err := stateOf(st)
		if err != nil {
			return nil, err
		}
		p.cluster.Stacks = append(p.cluster.Stacks, approved.Stack{Name: name, Kind: k, State: state})
	}
	if p.key, err = d.keyOf(p.cluster); err != nil {
		return nil, err
	}
	p.cluster.Keyed, p.cluster.WithoutSecrets = p.key.Keyed(), withoutSecrets
	if withoutSecrets {
		p.cluster.Secrets, err = p.key.Secrets(d.givenSecrets(c))
	}
	return p, err
}

// givenSecrets are the secrets that can be read here from outside of Pulumi, by the key of the file
// that has the reference.
func (d *Driver) givenSecrets(c *config.Cluster) map[string]string {
	values := map[string]string{}
	for at, ref := range unchanged.SecretRefs(c) {
		if ref.Config != "" {
			continue // the commit has its settings
		}
		value, err := d.opts.Programs.ReadSecret(c, d.opts.Env, at, ref)
		if err != nil {
			d.opts.Observer.Note(stacks.Name(c.Name, stacks.Bootstrap), "the plan does not compare the secret of "+at+", which is not here")
			continue
		}
		values[at] = value
	}
	return values
}

// PlanFiles is the beginning of a cluster's plan: the digests of its file and its hub's.
func PlanFiles(c *config.Cluster) (approved.Cluster, error) {
	of := approved.Cluster{Name: c.Name}
	var err error
	if of.File, err = approved.FileDigest(c.File); err != nil || !c.HasHubFile() {
		return of, err
	}
	hub, err := config.LoadHub(c)
	if err != nil {
		return of, err
	}
	of.Hub, err = approved.FileDigest(hub.File)
	return of, err
}

// requireSettled refuses a plan of what an up would have to put in order first; asked has it look at
// the hub, too.
func (d *Driver) requireSettled(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State, asked bool) error {
	if st.Interrupted() == 0 && !draining(st) && (k == stacks.Core || !asked || !d.hasLeft(ctx, c, st)) {
		return nil
	}
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

// plan is what both previews have told. had and has are the outputs that core and
// bootstrap have now.
func (p *planner) plan(core, bootstrap StackResult, had, has map[string]any) (*approved.Cluster, error) {
	of := &p.cluster
	for i, seen := range []struct {
		result StackResult
		has    map[string]any
	}{{core, had}, {bootstrap, has}} {
		told := seen.result.preview(seen.has)
		of.Stacks[i].Unseen = seen.result.unseen
		if i > 0 {
			of.Stacks[i].AfterCore = bootstrap.Placeholders || len(of.Stacks[0].Steps) > 0
		}
		if of.Stacks[i].AfterCore {
			told.Later = later(core)
		}
		var err error
		if of.Stacks[i].Steps, err = p.key.StepsOf(told, nil); err != nil {
			return nil, fmt.Errorf("plan of stack %s: %w", of.Stacks[i].Name, err)
		}
	}
	return of, nil
}

// preview is what a preview has told of a stack with these outputs.
func (r StackResult) preview(has map[string]any) approved.Preview {
	told := r.told
	told.OutputsDiffer = r.rootOutputs != nil && predictedOutputs(has, r.rootOutputs) != nil
	return told
}

// later are texts in the place of what core's up decides: names that its preview has
// made up, and the identity of a cluster that has none.
func later(core StackResult) []string {
	out := []string{owner.Unborn}
	for i := 0; i < len(core.told.MadeUp); i += 2 {
		out = append(out, core.told.MadeUp[i])
	}
	return out
}

// allowed is what an up may do to a stack, as it was compared right before.
type allowed struct {
	approved.Stack
	// stays is the result of an up that does nothing.
	stays StackResult
}

// requireApproved previews a stack right before its up, and refuses what was not
// approved of it.
func (d *Driver) requireApproved(ctx context.Context, c *config.Cluster, k stacks.Kind, o UpOptions) (*allowed, error) {
	of, want := o.Approved, o.Approved.Stack(k)
	if want == nil {
		return nil, fmt.Errorf("the plan of cluster %s has no stack %s", c.Name, k)
	}
	st, err := d.backend.State(ctx, want.Name)
	if err != nil {
		return nil, err
	}
	if err := refuseMoved(of, want, st); err != nil {
		return nil, err
	}
	if err := d.requireSettled(ctx, c, k, st, true); err != nil {
		return nil, err
	}
	key, err := d.keyOf(*of)
	if err != nil {
		return nil, err
	}
	r, has, err := d.previewAny(ctx, c, k, PreviewOptions{Refresh: o.Refresh, Plan: true, WithoutSecrets: of.WithoutSecrets, secrets: key.Keyed()}, catalog.Options{})
	if err != nil {
		return nil, err
	}
	now := &allowed{Stack: *want, stays: r}
	now.stays.Operation, now.stays.Outputs = "up", r.rootOutputs
	if now.Steps, err = stepsLike(key, r.preview(has), want); err != nil {
		return nil, fmt.Errorf("compare stack %s with the plan: %w", want.Name, err)
	}
	if err := refuseOther(of, k, want.Differences(c.Name, now.Steps)); err != nil || len(want.Unseen) == 0 {
		return now, err
	}
	differs, err := d.refuseHidden(ctx, c, k, o, st)
	if !differs {
		now.Unseen = nil // there is nothing to do for an up
	}
	return now, err
}

// refuseHidden previews a stack with its secrets, and refuses what a plan without them does not show
// but a secret that changes: before anything begins, as the engine has begun with a step when it
// announces it. It says whether anything would change.
func (d *Driver) refuseHidden(ctx context.Context, c *config.Cluster, k stacks.Kind, o UpOptions, st *backend.State) (differs bool, err error) {
	of, want := o.Approved, o.Approved.Stack(k)
	r, has, err := d.previewAny(ctx, c, k, PreviewOptions{Refresh: o.Refresh, Plan: true}, catalog.Options{})
	if err != nil {
		return true, err
	}
	inputs := map[string]map[string]any{}
	for _, resource := range st.All() {
		inputs[string(resource.URN)], _ = backend.Masked(resource.Inputs).(map[string]any)
	}
	hidden, err := want.Hidden(c.Name, r.preview(has), inputs)
	if err != nil {
		return true, err
	}
	return r.differs, refuseOther(of, k, hidden)
}

// stepsLike are the steps of a preview, without what only core's up could tell when the
// plan was made.
func stepsLike(key approved.Key, told approved.Preview, want *approved.Stack) ([]approved.Step, error) {
	if !want.AfterCore {
		want = nil
	}
	return key.StepsOf(told, want)
}

// refuseMovedSince refuses a stack whose state has moved since it was compared.
func (d *Driver) refuseMovedSince(ctx context.Context, o UpOptions) error {
	st, err := d.backend.State(ctx, o.may.Name)
	if err != nil {
		return err
	}
	return refuseMoved(o.Approved, &o.may.Stack, st)
}

// refuseMoved refuses a stack whose state is another one than when it was planned.
func refuseMoved(of *approved.Cluster, want *approved.Stack, st *backend.State) error {
	now, err := stateOf(st)
	if err != nil {
		return err
	}
	return refuseOther(of, want.Kind, want.Moved(of.Name, now))
}

// refuseOther is the error for differences of a stack. It says what was done before.
func refuseOther(of *approved.Cluster, k stacks.Kind, differences []approved.Difference) error {
	err := approved.Refuse(differences)
	refused := new(approved.Error)
	if core := of.Stack(stacks.Core); errors.As(err, &refused) && k == stacks.Bootstrap && core != nil && len(core.Steps) > 0 {
		refused.Done = fmt.Sprintf("stack %s was applied as approved, and %s was not changed", core.Name, stacks.Name(of.Name, k))
	}
	return err
}

// watch cancels an up that takes a step which was not approved: the engine has begun
// with the step then, and ends it. The function that it returns gives the error of the
// up, after its end.
func (s *session) watch(ctx context.Context, o UpOptions) (context.Context, func(error) error) {
	if o.may == nil {
		return ctx, func(err error) error { return err }
	}
	within, cancel := context.WithCancel(ctx)
	var strange []approved.Difference
	s.onStep = func(m apitype.StepEventMetadata) {
		if o.may.Has(m) {
			return
		}
		step := approved.Step{URN: m.URN, Op: string(m.Op)}
		strange = append(strange, approved.Difference{
			Cluster: s.cluster.Name, Stack: s.name, URN: m.URN, What: fmt.Sprintf("the up began to %s, which is not in the plan", step),
		})
		cancel()
	}
	return within, func(err error) error {
		cancel()
		if len(strange) == 0 {
			return err
		}
		return &approved.Error{Differences: strange, Done: fmt.Sprintf("the up was cancelled, and stack %s has what it did until then", s.name)}
	}
}
