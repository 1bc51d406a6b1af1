package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/unchanged"
	"tombolo/config"
	files "tombolo/internal/file"
	"tombolo/stacks"
)

// This file has an up that ended well recorded, and finds out whether the next one has anything
// to do: see package unchanged.

// LastUp is the up that a cluster is unchanged since.
type LastUp struct {
	// At is when it ended, and By who ran it, such as alice@laptop.
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// String is a text such as "up of 2026-11-25T14:40:00Z by alice@laptop".
func (l LastUp) String() string {
	return fmt.Sprintf("up of %s by %s", l.At.UTC().Format(time.RFC3339), l.By)
}

// thisProgram is the one that runs, which is read once.
var thisProgram = sync.OnceValues(approved.ThisProgram)

// Unchanged says that an up would find what the last one found, and has nothing to do. It starts
// no engine, no plugin and no CLI on a state in a directory. What cannot be told is changed.
func (d *Driver) Unchanged(ctx context.Context, c *config.Cluster) (LastUp, bool) {
	found := d.changed(ctx, c)
	return found.last, found.all
}

// compared is what has changed since the last up: all says that nothing has, core that nothing has
// of what core depends on, and differs that something has for certain.
type compared struct {
	last               LastUp
	all, core, differs bool
	// texts are the stacks' states as they were compared, by the stacks' names, and digests those of
	// them. States are those of the stacks of which nothing has changed.
	texts   map[string]json.RawMessage
	digests map[string]string
	states  map[stacks.Kind]*backend.State
}

// changed finds out what has changed. Without a record everything may have.
func (d *Driver) changed(ctx context.Context, c *config.Cluster) compared {
	text, err := d.backend.Tag(ctx, stacks.Name(c.Name, stacks.Bootstrap), unchanged.Tag)
	record, recorded := unchanged.Parse(text)
	if err != nil || !recorded {
		return compared{}
	}
	found := compared{
		last:  LastUp{At: record.At, By: record.By},
		texts: map[string]json.RawMessage{}, digests: map[string]string{}, states: map[stacks.Kind]*backend.State{},
	}
	for _, name := range stackNames(c) {
		text, err := d.backend.Deployment(ctx, name)
		if err == nil {
			found.texts[name] = text
			found.digests[name], err = unchanged.OfState(text)
		}
		if err != nil {
			return compared{}
		}
	}
	in := d.inputs(c)
	if in == nil {
		return compared{}
	}
	now := d.digests(ctx, c, in, found.digests)
	found.all = now.Digest != "" && now.Digest == record.Digest
	found.core = now.Core != "" && now.Core == record.Core
	found.differs = now.Digest != "" && record.Digest != "" && !found.all
	return found
}

// since compares for an up that may rely on it, and parses the states that stay as they are.
func (d *Driver) since(ctx context.Context, c *config.Cluster, o UpOptions) compared {
	if o.Refresh || o.Force || o.Previewed || o.Approved != nil {
		return compared{}
	}
	found := d.changed(ctx, c)
	for _, k := range stacks.Kinds() {
		if !found.all && (!found.core || k != stacks.Core) {
			continue
		}
		name := stacks.Name(c.Name, k)
		st, err := backend.ParseState(name, apitype.UntypedDeployment{Version: apitype.DeploymentSchemaVersionCurrent, Deployment: found.texts[name]})
		if err != nil || st.Resources() == 0 || st.Interrupted() > 0 {
			return compared{}
		}
		found.states[k] = st
	}
	return found
}

// stays is the result of a stack of which nothing has changed.
func (f compared) stays(c *config.Cluster, k stacks.Kind) StackResult {
	outputs, _ := backend.Masked(f.states[k].Outputs()).(map[string]any)
	return StackResult{
		Stack: stacks.Name(c.Name, k), Kind: k, Operation: "up", Changes: Changes{"same": f.states[k].Resources()}, Outputs: outputs,
	}
}

// stay is the result of an up that has nothing to do.
func (d *Driver) stay(c *config.Cluster, found compared) Result {
	run := d.begin(c)
	for _, k := range stacks.Kinds() {
		run.add(found.stays(c, k))
	}
	run.result.UnchangedSince = &found.last
	d.opts.Observer.Note(c.Name, "unchanged since the "+found.last.String())
	result, _ := run.end(nil)
	return result
}

// upRecord is an up under way that is to be recorded: its inputs as they were before it, nil
// when they cannot be proved, and the states as it has left them.
type upRecord struct {
	inputs *upInputs
	states map[string]string
}

// upInputs are the inputs of an up as it finds them.
type upInputs struct {
	unchanged.Inputs
	// forCore and hubForCore are what core's program gets of the files.
	forCore, hubForCore any
	// secrets waits for the digests of secrets, whose key takes a quarter of a second, in which the up
	// goes on. It is false when one cannot be made.
	secrets func() bool
}

// ofCore are the inputs of core, whose stack has the name.
func (in *upInputs) ofCore(name string) unchanged.Inputs {
	only := func(all map[string]string, key string) map[string]string {
		out := map[string]string{}
		if value, ok := all[key]; ok {
			out[key] = value
		}
		return out
	}
	return unchanged.Inputs{
		Program: in.Program, Backend: in.Backend, Cluster: in.forCore, Hub: in.hubForCore,
		Settings: only(in.Settings, settingsFile(name)), States: only(in.States, name),
	}
}

func settingsFile(stack string) string { return "Pulumi." + stack + ".yaml" }

// digests are those of all inputs and of core's, with the states of the cluster's stacks.
func (d *Driver) digests(ctx context.Context, c *config.Cluster, in *upInputs, states map[string]string) (out unchanged.Record) {
	digest := func(of unchanged.Inputs) string {
		text, err := of.Digest()
		if err != nil {
			return ""
		}
		return text
	}
	if !d.addStates(c, in, states) {
		return out
	}
	out.Core = digest(in.ofCore(stacks.Name(c.Name, stacks.Core)))
	if d.addOutputs(ctx, c, in) && in.secrets() {
		out.Digest = digest(in.Inputs)
	}
	return out
}

// beginRecord reads the inputs before the up, and forgets the record of the last one. The first up
// of a cluster is not recorded: the second hands the engine's objects over, so it has something
// to do with the same inputs.
func (d *Driver) beginRecord(ctx context.Context, c *config.Cluster) (*upRecord, error) {
	r := &upRecord{states: map[string]string{}}
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil || len(st.Outputs()) == 0 {
		return r, err
	}
	r.inputs = d.inputs(c)
	return r, d.forgetUp(ctx, c)
}

// forgetUp takes away the record of the last up, before an operation changes anything that no
// state tells of, such as what a hub or a GitOps engine has: whatever becomes of the operation,
// the next up looks at the cluster.
func (d *Driver) forgetUp(ctx context.Context, c *config.Cluster) error {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	text, err := d.backend.Tag(ctx, stack, unchanged.Tag)
	if err != nil || text == "" {
		return nil //nolint:nilerr // what cannot be read is no record, and of a stack that is not there there is none
	}
	return d.backend.SetTag(ctx, stack, unchanged.Tag, "")
}

// done notes the state of a stack right after its up. That of one that was left alone is the
// one that was read before it was previewed: another one may have been written meanwhile.
func (r *upRecord) done(ctx context.Context, d *Driver, s StackResult, found prediction) {
	switch {
	case r.inputs == nil:
	case found.stays:
		r.states[s.Stack] = found.state
	default:
		r.states[s.Stack], _ = d.stateDigest(ctx, s.Stack)
	}
}

// end records the up. Without a record the next up starts the engine, so an error is only told.
func (r *upRecord) end(ctx context.Context, d *Driver, c *config.Cluster) {
	if r.inputs == nil {
		return
	}
	if err := d.record(ctx, c, r.inputs, r.states); err != nil {
		d.opts.Observer.Note(stacks.Name(c.Name, stacks.Bootstrap), "the next up will look at everything again: "+err.Error())
	}
}

// record writes down the inputs of an up, as far as they can be proved.
func (d *Driver) record(ctx context.Context, c *config.Cluster, in *upInputs, states map[string]string) error {
	record := d.digests(ctx, c, in, states)
	if record.Digest == "" && record.Core == "" {
		return nil
	}
	record.At, record.By = d.now().UTC().Truncate(time.Second), d.who()
	return d.backend.SetTag(ctx, stacks.Name(c.Name, stacks.Bootstrap), unchanged.Tag, record.String())
}

// Record has the states of a cluster count as what an up has left, without one. It is for
// measurements, which make the states of many clusters from those of one.
func (d *Driver) Record(ctx context.Context, c *config.Cluster) error {
	in, states := d.inputs(c), map[string]string{}
	if in == nil {
		return fmt.Errorf("record an up of %s: its inputs cannot be read", c.Name)
	}
	for _, name := range stackNames(c) {
		var err error
		if states[name], err = d.stateDigest(ctx, name); err != nil {
			return fmt.Errorf("record an up of %s: %w", c.Name, err)
		}
	}
	return d.record(ctx, c, in, states)
}

// who runs the driver, such as alice@laptop.
func (d *Driver) who() string { return Who(d.opts.lookupEnv) }

// Who runs this process, such as alice@laptop; getenv reads a variable of the environment.
func Who(getenv func(string) string) string {
	name := getenv("USER")
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}

// inputs are those of an up of the cluster but for the states; nil when one of them cannot be
// read. All are read when it returns: what changes later is not what the up began with.
func (d *Driver) inputs(c *config.Cluster) *upInputs {
	if c.RollBack || c.Rebuild != "" {
		return nil // each is an up of its own
	}
	program, err := d.opts.Program()
	if err != nil {
		return nil
	}
	in := &upInputs{Inputs: unchanged.Inputs{
		Program: program,
		Backend: backend.Identity(d.opts.BackendURL, d.opts.base()), Cluster: unchanged.Content(c),
		Files: map[string]string{}, Secrets: map[string]string{}, Settings: map[string]string{}, States: map[string]string{},
	}, forCore: unchanged.Content(c.ForCore())}
	if c.HasHubFile() {
		hub, err := d.hub(c)
		if err != nil {
			return nil
		}
		in.Hub, in.hubForCore = unchanged.Content(hub), unchanged.Content(hub.ForCore())
	}
	secrets, ok := d.secretValues(c)
	if !ok || !d.addFiles(c, in) {
		return nil
	}
	key := d.secretsKey
	in.secrets = ahead(func() bool { return in.addSecrets(c.Name, secrets, key) })
	return in
}

// ahead starts some work, and returns what waits for its result.
func ahead(work func() bool) (result func() bool) {
	done := make(chan bool, 1)
	go func() { done <- work() }()
	return sync.OnceValue(func() bool { return <-done })
}

// addFiles adds what the cluster file names, and the stacks' settings.
func (d *Driver) addFiles(c *config.Cluster, in *upInputs) bool {
	if file := c.GitOps.Distribution.Path; file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(c.File), file)
		}
		text, err := files.Read(file, files.MostManifest)
		if err != nil {
			return false
		}
		in.Files["gitops.distribution.path"] = unchanged.Of(text)
	}
	for _, k := range stacks.Kinds() {
		name := settingsFile(stacks.Name(c.Name, k))
		text, err := files.ReadInside(filepath.Join(d.opts.Settings, "clusters", name), files.MostOfSettings)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false
		}
		in.Settings[name] = unchanged.Of(text)
	}
	return true
}

// secretValues are the secrets that are read from outside of Pulumi, by the key of the file that
// has the reference; false when one cannot be read.
func (d *Driver) secretValues(c *config.Cluster) (map[string]string, bool) {
	values := map[string]string{}
	for at, ref := range unchanged.SecretRefs(c) {
		if ref.Config != "" {
			continue // it is in the settings
		}
		value, err := d.opts.Programs.ReadSecret(c, d.opts.Env, at, ref)
		if err != nil {
			return nil, false
		}
		values[at] = value
	}
	return values, true
}

// addSecrets adds the digests of secrets. Without a key nothing can be said of them.
func (in *upInputs) addSecrets(cluster string, values map[string]string, keyOf func() (unchanged.Key, error)) bool {
	for at, value := range values {
		key, err := keyOf()
		if err != nil {
			return false
		}
		digest, ok := key.Digest(cluster, at, value)
		if !ok {
			return false
		}
		in.Secrets[at] = digest
	}
	return true
}

// addStates adds the digests of the states of the cluster's stacks.
func (d *Driver) addStates(c *config.Cluster, in *upInputs, own map[string]string) bool {
	for _, k := range stacks.Kinds() {
		name := stacks.Name(c.Name, k)
		if own[name] == "" {
			return false
		}
		in.States[name] = own[name]
	}
	return true
}

// addOutputs adds what stacks of others have put out: the hub's core, and those that the file
// takes values from. Parameter Store is asked by the program alone.
func (d *Driver) addOutputs(ctx context.Context, c *config.Cluster, in *upInputs) bool {
	var names []string
	if c.IsSpoke() && !c.HasExternalHub() {
		names = append(names, stacks.Name(c.Hub(), stacks.Core))
	}
	for _, r := range c.References() {
		if r.Source.Stack == "" {
			return false
		}
		names = append(names, r.Source.StackName("organization", stacks.Project))
	}
	for _, name := range names {
		st, err := d.backend.State(ctx, name)
		if err != nil || st == nil {
			return false
		}
		outputs, err := json.Marshal(st.Outputs()) // secrets are encrypted
		if err != nil {
			return false
		}
		in.States[name] = unchanged.Of(outputs)
	}
	return true
}

// stateDigest is the digest of a stack's state; "" of one that is not there, or that an
// operation has not left to its end.
func (d *Driver) stateDigest(ctx context.Context, stack string) (string, error) {
	st, err := d.backend.State(ctx, stack)
	return digestOf(st), err
}

func digestOf(st *backend.State) string {
	if st == nil || st.Interrupted() > 0 {
		return ""
	}
	digest, err := unchanged.OfState(st.Raw.Deployment)
	if err != nil {
		return ""
	}
	return digest
}
