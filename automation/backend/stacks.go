package backend

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"

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
	summaries, err := b.listed(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string][]StackInfo{}
	for _, s := range summaries {
		cluster, kind, err := stacks.Parse(s.Name)
		if err != nil || !slices.Contains(stacks.Kinds(), kind) {
			continue // a stack of another project in the same backend, or of an account
		}
		out[cluster] = append(out[cluster], stackInfo(s, kind))
	}
	for _, infos := range out {
		slices.SortFunc(infos, func(a, b StackInfo) int {
			return slices.Index(stacks.Kinds(), a.Kind) - slices.Index(stacks.Kinds(), b.Kind)
		})
	}
	return out, nil
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
func (b *Backend) listed(ctx context.Context) ([]auto.StackSummary, error) {
	for try := 1; ; try++ {
		all, err := b.CLI.Stacks(ctx)
		_, directory := b.Directory()
		if err == nil || !directory || try == listTries || !metWrite(err) {
			return all, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(listPause):
		}
	}
}

func metWrite(err error) bool {
	return strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "code=NotFound")
}

func stackInfo(s auto.StackSummary, kind stacks.Kind) StackInfo {
	info := StackInfo{Name: s.Name, Kind: kind, Updating: s.UpdateInProgress}
	if s.ResourceCount != nil {
		info.Resources = *s.ResourceCount
	}
	if t, err := time.Parse(time.RFC3339, s.LastUpdate); err == nil {
		info.LastUpdate = t
	}
	return info
}
