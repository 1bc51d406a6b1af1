package backend

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/internal/names"
	"tombolo/stacks"
)

// Rebuild is the record of the rebuild that is not finished; "" without one.
func (s *State) Rebuild() string {
	record, _ := s.rootOutputs()[names.RebuildOutput].(string)
	return record
}

// WithRebuild is the state with another record of a rebuild; with "" the record goes.
func WithRebuild(raw apitype.UntypedDeployment, record string) (apitype.UntypedDeployment, error) {
	return WithOutput(raw, func(outputs map[string]json.RawMessage) {
		delete(outputs, names.RebuildOutput)
		if record != "" {
			outputs[names.RebuildOutput] = Encode(record)
		}
	})
}

// Afresh is the state of a stack that was destroyed and is to be made again: the record of
// the rebuild is its only output. Unless something was kept in the cloud, which is told by
// the identity, it has no other resource than the one of the stack itself.
func Afresh(raw apitype.UntypedDeployment, stack, record string, kept bool) (apitype.UntypedDeployment, error) {
	isRoot := func(r Resource) bool { return DecodeString(r["type"]) == RootType }
	return Rewrite(raw, func(resources []Resource) []Resource {
		if !kept {
			resources = slices.DeleteFunc(resources, func(r Resource) bool { return !isRoot(r) })
		}
		if !slices.ContainsFunc(resources, isRoot) { // a state without an identity keeps nothing
			resources = slices.Insert(resources, 0, Resource{
				"urn":    Encode(fmt.Sprintf("urn:pulumi:%s::%s::%s::%[2]s-%[1]s", stack, stacks.Project, RootType)),
				"type":   Encode(RootType),
				"custom": Encode(false),
			})
		}
		at := slices.IndexFunc(resources, isRoot)
		resources[at]["outputs"] = Encode(map[string]string{names.RebuildOutput: record})
		return resources
	})
}
