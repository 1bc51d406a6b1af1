package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"golang.org/x/sync/errgroup"

	"tombolo/internal/sleep"
	"tombolo/stacks"
)

// StackInfo is what the backend knows of a stack.
type StackInfo struct {
	// Name and Kind of the stack.
	Name string      `json:"name"`
	Kind stacks.Kind `json:"kind"`
	// LastUpdate is when it was last changed; zero if never.
	LastUpdate time.Time `json:"lastUpdate,omitzero"`
	// Resources in the state, as the CLI counts them: with the stack itself, providers
	// and the cluster's identity.
	Resources int `json:"resources"`
	// Updating says that an update runs.
	Updating bool `json:"updating,omitempty"`
}

// Stacks lists the backend's stacks by cluster.
func (b *Backend) Stacks(ctx context.Context) (map[string][]StackInfo, error) {
	all, known, err := b.read(ctx)
	if !known && err == nil {
		all, err = b.listed(ctx)
	}
	if err != nil {
		return nil, err
	}
	out := map[string][]StackInfo{}
	for _, s := range all {
		cluster, kind, err := stacks.Parse(s.Name)
		if err != nil || !slices.Contains(stacks.Kinds(), kind) {
			continue // a stack of another project in the same backend, or of an account
		}
		s.Kind = kind
		out[cluster] = append(out[cluster], s)
	}
	for _, infos := range out {
		slices.SortFunc(infos, func(a, b StackInfo) int {
			return slices.Index(stacks.Kinds(), a.Kind) - slices.Index(stacks.Kinds(), b.Kind)
		})
	}
	return out, nil
}

// readers is how many states are read at a time.
const readers = 8

// read lists the stacks of a directory or an S3 bucket by their states, as the CLI does with five
// times the memory and twice the work. It is not known of other backends, and of what is not read
// here: the CLI lists these.
func (b *Backend) read(ctx context.Context) (all []StackInfo, known bool, err error) {
	names, known, err := b.stateNames(ctx)
	if !known || err != nil {
		return nil, false, err
	}
	all = make([]StackInfo, len(names))
	var group errgroup.Group
	group.SetLimit(readers)
	var unread atomic.Bool
	for i, name := range names {
		group.Go(func() error {
			text, known, err := b.checkpoint(ctx, name)
			var state struct {
				Manifest  struct{ Time time.Time }
				Resources []struct{}
			}
			latest, ok := writtenIn(text)
			if !known || !ok || json.Unmarshal(latest, &state) != nil {
				unread.Store(true) // another CLI may just write it
				return err
			}
			all[i] = StackInfo{Name: name, LastUpdate: state.Manifest.Time, Resources: len(state.Resources)}
			return err
		})
	}
	err = group.Wait()
	return all, !unread.Load(), err
}

// stateNames are the names of the project's stacks in a directory or an S3 bucket, and whether all
// have states that are read here.
func (b *Backend) stateNames(ctx context.Context) (names []string, known bool, err error) {
	prefix := path.Join(".pulumi", "stacks", stacks.Project) + "/"
	var files []string
	if dir, ok := b.Directory(); ok {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(prefix)))
		if err != nil {
			return nil, false, nil //nolint:nilerr // the CLI says it better
		}
		for _, e := range entries {
			files = append(files, e.Name())
		}
	} else if in := b.bucket(ctx); in != nil {
		if files, err = in.list(ctx, prefix); err != nil {
			return nil, false, fmt.Errorf("list the stacks: %w", err)
		}
	} else {
		return nil, false, nil
	}
	for _, file := range files {
		base := path.Base(file)
		if strings.HasSuffix(base, ".json.gz") || strings.HasSuffix(base, ".json.zst") {
			return nil, false, nil
		}
		if name, ok := strings.CutSuffix(base, ".json"); ok {
			names = append(names, name)
		}
	}
	return names, true, nil
}

// listTries is how often the stacks of a directory are listed, and listPause the time between: an
// operation of another CLI writes its state with each step.
const (
	listTries = 12
	listPause = 150 * time.Millisecond
)

// listed lists the stacks. In a directory another CLI may just write its stack's state: under a
// name that is gone a moment later, and its attributes not in one step, so that who reads them
// meanwhile finds an empty file (fileblob in gocloud.dev). The next look finds both whole.
func (b *Backend) listed(ctx context.Context) ([]StackInfo, error) {
	for try := 1; ; try++ {
		summaries, err := b.CLI.Stacks(ctx)
		_, directory := b.Directory()
		if err == nil || !directory || try == listTries || !metWrite(err) {
			all := make([]StackInfo, len(summaries))
			for i, s := range summaries {
				all[i] = stackInfo(s)
			}
			return all, err
		}
		if err := sleep.For(ctx, listPause); err != nil {
			return nil, err
		}
	}
}

func metWrite(err error) bool {
	return strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "code=NotFound")
}

func stackInfo(s auto.StackSummary) StackInfo {
	info := StackInfo{Name: s.Name, Updating: s.UpdateInProgress}
	if s.ResourceCount != nil {
		info.Resources = *s.ResourceCount
	}
	if t, err := time.Parse(time.RFC3339, s.LastUpdate); err == nil {
		info.LastUpdate = t
	}
	return info
}
