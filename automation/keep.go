package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/automation/teardown"
)

// Kept is a cloud resource that a destruction has left in the cloud on purpose.
type Kept struct {
	// Type is the provider's type token.
	Type string `json:"type"`
	// ID in the cloud.
	ID string `json:"id"`
	// Name in the program, or the resource's tag where no program has it.
	Name string `json:"name"`
}

// String names the resource for people.
func (k Kept) String() string {
	return fmt.Sprintf("%s %s (%s)", k.Type, k.ID, k.Name)
}

// holdsData says that people keep something in resources of the type, or that
// the type guards what they keep: who may read a bucket goes with the bucket.
func holdsData(token string) bool {
	switch token {
	case "aws:efs/fileSystem:FileSystem", "aws:efs/backupPolicy:BackupPolicy", "aws:ebs/snapshot:Snapshot":
		return true
	}
	return strings.HasPrefix(token, "aws:s3/bucket")
}

// prepareDestroy changes what the state says about resources that are about to
// be destroyed: none is protected any more, for by here the cluster's name was
// given or its file protects it no longer; and what holds data is forgotten and
// not deleted where that is wanted.
func (s *session) prepareDestroy(ctx context.Context, st *backend.State, keepData bool) ([]Kept, error) {
	var kept []Kept
	unprotected := 0
	edited, n, err := backend.Edit(st.Raw, func(r map[string]json.RawMessage) bool {
		_, protected := r["protect"]
		if protected {
			delete(r, "protect")
			unprotected++
		}
		keep := keepData && holdsData(backend.DecodeString(r["type"]))
		if keep {
			r["retainOnDelete"] = json.RawMessage("true")
		}
		return protected || keep
	})
	if err != nil {
		return nil, fmt.Errorf("prepare stack %s for its destruction: %w", s.name, err)
	}
	if n == 0 {
		return nil, nil
	}
	if err := s.importState(ctx, edited); err != nil {
		return nil, s.driver.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.name, Operation: "prepare the destruction of", Err: err})
	}
	if unprotected > 0 {
		s.driver.opts.Observer.Note(s.name, fmt.Sprintf("the protection of %s was taken off", count(unprotected, "resource", "resources")))
	}
	for _, r := range st.Deployment.Resources {
		if keepData && isData(r) {
			k := Kept{Type: string(r.Type), ID: string(r.ID), Name: r.URN.Name()}
			kept = append(kept, k)
			s.driver.opts.Observer.Note(s.name, "keeps "+k.String())
		}
	}
	return kept, nil
}

// keep reports what the last search has found and leaves in the cloud, but for
// what was reported when the stack was destroyed.
func (s *session) keep(result *StackResult, found []teardown.Leftover) {
	for _, l := range found {
		if slices.ContainsFunc(result.Kept, func(k Kept) bool { return k.ID == l.ID }) {
			continue
		}
		result.Kept = append(result.Kept, Kept{Type: l.Type, ID: l.ID, Name: l.Name})
		s.driver.opts.Observer.Note(s.name, "keeps "+l.String())
	}
}

// isData says that a resource holds data itself.
func isData(r apitype.ResourceV3) bool {
	switch string(r.Type) {
	case "aws:efs/fileSystem:FileSystem", "aws:ebs/snapshot:Snapshot", "aws:s3/bucketV2:BucketV2":
		return !r.Delete && !r.External
	}
	return false
}
