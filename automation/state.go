package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/argocd"
	"tombolo/automation/plan"
	"tombolo/internal/names"
)

// rootType is the type of the resource that stands for the stack itself.
const rootType = "pulumi:pulumi:Stack"

// state is a stack's deployment as the backend has it.
type state struct {
	raw        apitype.UntypedDeployment
	deployment apitype.DeploymentV3
	// unanswered says how many of the pending operations are creations that
	// failed without an answer, and were not interrupted.
	unanswered int
}

// state reads a stack's state; nil when the stack does not exist.
func (d *Driver) state(ctx context.Context, stack string) (*state, error) {
	if err := d.mendAttributes(stack); err != nil {
		return nil, err
	}
	if st, known, err := d.localState(stack); known || err != nil {
		return st, err
	}
	ws, err := d.reading(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := ws.ExportStack(ctx, stack)
	if auto.IsSelectStack404Error(err) {
		return nil, nil
	}
	if err != nil {
		return nil, d.failure(ctx, failed{stack: stack, operation: "read the state of", err: err})
	}
	return parseState(stack, raw)
}

func parseState(stack string, raw apitype.UntypedDeployment) (*state, error) {
	s := &state{raw: raw}
	if len(raw.Deployment) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(raw.Deployment, &s.deployment); err != nil {
		return nil, fmt.Errorf("read the state of stack %s, version %d: %w", stack, raw.Version, err)
	}
	return s, nil
}

// resources counts what the stack manages: everything but the stack itself
// and providers, which are nothing in the world.
func (s *state) resources() int {
	if s == nil {
		return 0
	}
	n := 0
	for _, r := range s.deployment.Resources {
		if managed(r) {
			n++
		}
	}
	return n
}

func managed(r apitype.ResourceV3) bool {
	return r.Type != rootType && !strings.HasPrefix(string(r.Type), "pulumi:providers:")
}

// outputs of the stack; secrets among them are still encrypted.
func (s *state) outputs() map[string]any {
	outputs := s.rootOutputs()
	if _, listed := outputs[unverifiedOutput]; listed { // none of the program's
		outputs = maps.Clone(outputs)
		delete(outputs, unverifiedOutput)
	}
	return outputs
}

func (s *state) rootOutputs() map[string]any {
	if s == nil {
		return nil
	}
	for _, r := range s.deployment.Resources {
		if r.Type == rootType {
			return r.Outputs
		}
	}
	return nil
}

// signature marks what is no plain value in a state: a secret, above all.
const signature = "4dabf18193072939515e22adb298388d"

// isSpecial says that the value, or something in it, is no plain value.
func isSpecial(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v[signature]; ok {
			return true
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), isSpecial)
	case []any:
		return slices.ContainsFunc(v, isSpecial)
	}
	return false
}

// masked is a value with the word for a secret in the place of each, as the CLI
// shows them.
func masked(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v[signature]; ok {
			return names.Secret
		}
		out := make(map[string]any, len(v))
		for key, e := range v {
			out[key] = masked(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = masked(e)
		}
		return out
	}
	return value
}

// holdsSecret says whether a masked value had a secret in it.
func holdsSecret(value any) bool {
	switch v := value.(type) {
	case string:
		return v == names.Secret
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), holdsSecret)
	case []any:
		return slices.ContainsFunc(v, holdsSecret)
	}
	return false
}

// find returns the live resource with the URN.
func (s *state) find(urn resource.URN) (apitype.ResourceV3, bool) {
	for _, r := range s.deployment.Resources {
		if r.URN == urn && !r.Delete {
			return r, true
		}
	}
	return apitype.ResourceV3{}, false
}

// resource is find for a state that may be none.
func (s *state) resource(urn resource.URN) (apitype.ResourceV3, bool) {
	if s == nil {
		return apitype.ResourceV3{}, false
	}
	return s.find(urn)
}

// object finds a live resource by its type and its id.
func (s *state) object(kind string, is func(id string) bool) (apitype.ResourceV3, bool) {
	if s == nil {
		return apitype.ResourceV3{}, false
	}
	for _, r := range s.deployment.Resources {
		if string(r.Type) == kind && !r.Delete && is(string(r.ID)) {
			return r, true
		}
	}
	return apitype.ResourceV3{}, false
}

// registration is the Secret by which the cluster is registered with a hub.
func (s *state) registration(cluster string) (apitype.ResourceV3, bool) {
	return s.object("kubernetes:core/v1:Secret", func(id string) bool {
		return id == argocd.Namespace+"/"+argocd.SecretName(cluster)
	})
}

// hub is the name of the cluster that a resource is on, by its provider's
// identity: the cluster's ARN.
func (s *state) hub(r apitype.ResourceV3) string {
	provider, _, _ := cutLast(r.Provider, "::")
	p, _ := s.find(resource.URN(provider))
	arn, _ := p.Inputs["clusterIdentifier"].(string)
	_, name, _ := cutLast(arn, "/")
	return name
}

// onHub are the URNs of what a destruction takes from the hub before bootstrap
// is destroyed: registrations, and root Applications.
func (s *state) onHub() []string {
	var out []string
	for _, r := range s.deployment.Resources {
		isRoot := string(r.Type) == "kubernetes:argoproj.io/v1alpha1:Application" && string(r.ID) == argocd.Namespace+"/"+argocd.Root
		if isRoot || plan.IsRegistration(string(r.Type), string(r.ID)) {
			out = append(out, string(r.URN))
		}
	}
	return out
}
