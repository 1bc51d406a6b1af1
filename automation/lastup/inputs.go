package lastup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"

	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/unchanged"
	"tombolo/config"
	files "tombolo/internal/file"
	"tombolo/stacks"
)

// inputs are those of an up as it finds them, but for the states.
type inputs struct {
	unchanged.Inputs
	// forCore and hubForCore are what core's program gets of the files.
	forCore, hubForCore any
	// secrets waits for the digests of secrets, whose key takes a quarter of a second, in which the up
	// goes on.
	secrets func() (map[string]string, error)
}

// inputs of an up of the cluster. All are read when it returns: what changes later is not what the up
// began with. The error says why they cannot be proved.
func (r Records) inputs(c *config.Cluster) (*inputs, error) {
	if c.RollBack || c.Rebuild != "" {
		return nil, errors.New("a roll-back and a rebuild are ups of their own")
	}
	program, err := r.Program()
	if err != nil {
		return nil, err
	}
	in := &inputs{Inputs: unchanged.Inputs{
		Program: program, Backend: r.Identity, Cluster: unchanged.Content(c),
		Files: map[string]string{}, Secrets: map[string]string{}, Settings: map[string]string{}, States: map[string]string{},
	}, forCore: unchanged.Content(c.ForCore())}
	if c.HasHubFile() {
		hub, err := r.LoadHub(c)
		if err != nil {
			return nil, err
		}
		in.Hub, in.hubForCore = unchanged.Content(hub), unchanged.Content(hub.ForCore())
	}
	secrets, missing := r.Connector.GivenSecrets(c)
	if len(missing) > 0 {
		return nil, fmt.Errorf("the secrets of %v cannot be read here", missing)
	}
	if err := r.addFiles(c, in); err != nil {
		return nil, err
	}
	in.secrets = startAhead(func() (map[string]string, error) { return r.digestSecrets(c.Name, secrets) })
	return in, nil
}

// startAhead starts some work, and returns what waits for its result.
func startAhead[T any](work func() (T, error)) (result func() (T, error)) {
	result = sync.OnceValues(work)
	go func() { _, _ = result() }()
	return result
}

// addFiles adds what the cluster file names, and the stacks' settings.
func (r Records) addFiles(c *config.Cluster, in *inputs) error {
	if file := c.GitOps.Distribution.Path; file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(c.File), file)
		}
		text, err := files.Read(file, files.MostManifest)
		if err != nil {
			return err
		}
		in.Files["gitops.distribution.path"] = unchanged.Of(text)
	}
	for _, k := range stacks.Kinds() {
		name := settingsFile(stacks.Name(c.Name, k))
		text, err := files.ReadInside(filepath.Join(r.Settings, "clusters", name), files.MostOfSettings)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		in.Settings[name] = unchanged.Of(text)
	}
	return nil
}

func settingsFile(stack string) string { return "Pulumi." + stack + ".yaml" }

// digestSecrets makes the digests of secrets. Without a key nothing can be said of them.
func (r Records) digestSecrets(cluster string, values map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for at, value := range values {
		key, err := r.Key()
		if err != nil {
			return nil, err
		}
		digest, ok := key.Digest(cluster, at, value)
		if !ok {
			return nil, errors.New("no key for the digests of secrets is known")
		}
		out[at] = digest
	}
	return out, nil
}

// digests are those of core's inputs and of all, with the states of the cluster's stacks. What cannot be
// proved is empty, and the error says why.
func (r Records) digests(ctx context.Context, c *config.Cluster, in *inputs, states map[string]string) (out unchanged.Record, err error) {
	all := in.Inputs
	all.States = map[string]string{}
	for _, k := range stacks.Kinds() {
		name := stacks.Name(c.Name, k)
		if states[name] == "" {
			return out, fmt.Errorf("the state of stack %s is not known", name)
		}
		all.States[name] = states[name]
	}
	if out.Core, err = in.ofCore(stacks.Name(c.Name, stacks.Core), all.States).Digest(); err != nil {
		return out, err
	}
	if err := r.addSources(ctx, c, all.States); err != nil {
		return out, err
	}
	if all.Secrets, err = in.secrets(); err != nil {
		return out, err
	}
	out.Digest, err = all.Digest()
	return out, err
}

// ofCore are the inputs of core, whose stack has the name.
func (in *inputs) ofCore(name string, states map[string]string) unchanged.Inputs {
	only := func(all map[string]string, key string) map[string]string {
		out := maps.Clone(all)
		maps.DeleteFunc(out, func(k, _ string) bool { return k != key })
		return out
	}
	return unchanged.Inputs{
		Program: in.Program, Backend: in.Backend, Cluster: in.forCore, Hub: in.hubForCore,
		Settings: only(in.Settings, settingsFile(name)), States: only(states, name),
	}
}

// addSources adds what stacks of others have put out. Parameter Store is asked by the program alone.
func (r Records) addSources(ctx context.Context, c *config.Cluster, states map[string]string) error {
	sources := connect.SourcesOf(c)
	if sources.Elsewhere {
		return errors.New("the program alone reads values that are in no stack")
	}
	for _, name := range sources.Stacks() {
		st, err := r.Backend.State(ctx, name)
		if err != nil {
			return err
		}
		if st == nil {
			return fmt.Errorf("there is no stack %s", name)
		}
		outputs, err := json.Marshal(st.Outputs()) // secrets are encrypted
		if err != nil {
			return err
		}
		states[name] = unchanged.Of(outputs)
	}
	return nil
}

// StateDigest is the digest of a stack's state; "" of one that is not there, or that an
// operation has not left to its end.
func StateDigest(st *backend.State) string {
	if st == nil || st.Interrupted() > 0 {
		return ""
	}
	digest, err := unchanged.OfState(st.Raw.Deployment)
	if err != nil {
		return "" // a state that cannot be digested is equal to none
	}
	return digest
}
