package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gopkg.in/yaml.v3"

	"tombolo/internal/debuglog"
	"tombolo/stacks"
)

// localLayout is the version of a local backend's layout that is read here,
// with the stacks below their project.
const localLayout = 1

// checkpoint is the file of a stack's state in a directory or an S3 bucket; nil when the stack does
// not exist. The CLI would take 0.2 to 0.4 s for it, and more for a bucket. It is not known of a
// layout that is not read here, of a compressed state, and of all other backends: the CLI reads
// these.
func (b *Backend) checkpoint(ctx context.Context, stack string) (text []byte, known bool, err error) {
	read := b.reader(ctx)
	if read == nil {
		return nil, false, nil
	}
	if meta, err := read(path.Join(".pulumi", "meta.yaml")); err != nil || !knownLayout(meta) {
		return nil, false, nil //nolint:nilerr // the CLI says it better
	}
	key := stateKey(stack)
	if compressed, err := read(key + ".gz"); err != nil || compressed != nil {
		return nil, false, nil //nolint:nilerr // likewise
	}
	if text, err = read(key); err != nil {
		return nil, false, fmt.Errorf("read the state of stack %s: %w", stack, err)
	}
	return text, true, nil
}

// reader reads a file of a directory, or an object of a bucket, below the backend; nil when it is
// not there. It is nil itself for other backends.
func (b *Backend) reader(ctx context.Context) func(key string) ([]byte, error) {
	if dir, ok := b.Directory(); ok {
		return func(key string) ([]byte, error) {
			end := debuglog.Begin(ctx, "read of the backend", slog.String("file", key))
			text, err := readFile(filepath.Join(dir, filepath.FromSlash(key)))
			end(err, slog.Int("bytes", len(text)))
			return text, err
		}
	}
	if in := b.bucket(ctx); in != nil {
		return func(key string) ([]byte, error) {
			end := debuglog.Begin(ctx, "read of the backend", slog.String("bucket", in.name), slog.String("object", in.prefix+key))
			text, err := in.read(ctx, key)
			end(err, slog.Int("bytes", len(text)))
			return text, err
		}
	}
	return nil
}

// stateKey is where a backend has a stack's state.
func stateKey(stack string) string {
	project, name := inProject(stack)
	return path.Join(".pulumi", "stacks", project, name+".json")
}

// inProject are the project of a stack and its name there. A stack of another project has its whole
// name: organization/project/stack.
func inProject(stack string) (project, name string) {
	if parts := strings.Split(stack, "/"); len(parts) == 3 {
		return parts[1], parts[2]
	}
	return stacks.Project, stack
}

// Place writes states into a directory that is to be a backend, by the names of their stacks. The
// directory is private, and thrown away: no lock is asked for, and no copy is kept.
func Place(dir string, states map[string]json.RawMessage) error {
	files := map[string][]byte{path.Join(".pulumi", "meta.yaml"): []byte(fmt.Sprintf("version: %d\n", localLayout))}
	for stack, deployment := range states {
		var checkpoint struct {
			Stack  string          `json:"stack"`
			Latest json.RawMessage `json:"latest"`
		}
		key := stateKey(stack)
		checkpoint.Stack = path.Join("organization", path.Base(path.Dir(key)), strings.TrimSuffix(path.Base(key), ".json"))
		checkpoint.Latest = deployment
		text, err := json.Marshal(map[string]any{"version": checkpointVersion, "checkpoint": checkpoint})
		if err != nil {
			return fmt.Errorf("write a copy of the state of stack %s: %w", stack, err)
		}
		files[key] = text
	}
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, text, 0o600)); err != nil {
			return fmt.Errorf("write a copy of the states: %w", err)
		}
	}
	return nil
}

func knownLayout(meta []byte) bool {
	var layout struct {
		Version int `yaml:"version"`
	}
	return yaml.Unmarshal(meta, &layout) == nil && layout.Version == localLayout
}

// checkpointVersion of the files that are read here; their deployments have the
// same version.
const checkpointVersion = 3

// deploymentOf is what the CLI would export of a checkpoint.
func deploymentOf(checkpoint []byte) (apitype.UntypedDeployment, bool) {
	var versioned apitype.VersionedCheckpoint
	if json.Unmarshal(checkpoint, &versioned) != nil || versioned.Version != checkpointVersion {
		return apitype.UntypedDeployment{}, false
	}
	var content struct {
		Latest json.RawMessage `json:"latest"`
	}
	if json.Unmarshal(versioned.Checkpoint, &content) != nil {
		return apitype.UntypedDeployment{}, false
	}
	return apitype.UntypedDeployment{Version: checkpointVersion, Deployment: content.Latest}, true
}

// latestOf cuts the deployment out of a checkpoint as the CLI writes it, where it comes last, without
// reading it: states have megabytes. What it cuts out is JSON only if the checkpoint is.
func latestOf(checkpoint []byte) (json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(checkpoint))
	version := 0
	for depth, key := range []string{"checkpoint", "latest"} {
		if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
			return nil, false
		}
		for {
			name, err := d.Token()
			if err != nil || name == json.Delim('}') {
				return nil, false
			}
			if name == key {
				break
			}
			var other json.RawMessage
			if d.Decode(&other) != nil || depth == 0 && name == "version" && json.Unmarshal(other, &version) != nil {
				return nil, false
			}
		}
	}
	rest := bytes.TrimLeft(checkpoint[d.InputOffset():], ": \t\r\n")
	for range 2 { // the ends of both objects
		var ended bool
		if rest, ended = bytes.CutSuffix(bytes.TrimRight(rest, " \t\r\n"), []byte("}")); !ended {
			return nil, false
		}
	}
	rest = bytes.TrimRight(rest, " \t\r\n")
	return rest, version == checkpointVersion && bytes.HasPrefix(rest, []byte("{")) && bytes.HasSuffix(rest, []byte("}"))
}

// State reads a stack's state, and writes nothing; nil when the stack does not exist.
func (b *Backend) State(ctx context.Context, stack string) (*State, error) {
	text, known, err := b.checkpoint(ctx, stack)
	if err != nil || known && text == nil {
		return nil, err
	}
	if latest, ok := latestOf(text); ok {
		if st, err := ParseState(stack, apitype.UntypedDeployment{Version: checkpointVersion, Deployment: latest}); err == nil {
			return st, nil
		}
	}
	if raw, ok := deploymentOf(text); ok {
		return ParseState(stack, raw)
	}
	raw, found, err := b.CLI.Export(ctx, stack)
	if err != nil || !found {
		return nil, err
	}
	return ParseState(stack, raw)
}

// Deployment is the text of a stack's state, as it is written and without looking into it; nil when
// the stack does not exist.
func (b *Backend) Deployment(ctx context.Context, stack string) (json.RawMessage, error) {
	text, known, err := b.checkpoint(ctx, stack)
	if err != nil || known && text == nil {
		return nil, err
	}
	if latest, ok := writtenIn(text); ok {
		return latest, nil
	}
	raw, _, err := b.CLI.Export(ctx, stack)
	return raw.Deployment, err
}

// writtenIn is the text of the state in a checkpoint.
func writtenIn(checkpoint []byte) (json.RawMessage, bool) {
	if latest, ok := latestOf(checkpoint); ok {
		return latest, true
	}
	raw, ok := deploymentOf(checkpoint)
	return raw.Deployment, ok
}
