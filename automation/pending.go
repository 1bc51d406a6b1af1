package automation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/backend"
)

// recovery is the plan for the operations an interrupted run left pending.
type recovery struct {
	// creations that may have happened.
	creations []creation
	// others are resources whose update, deletion or the like was
	// interrupted: a refresh tells what became of them.
	others []resource.URN
	// gone are interrupted operations on nothing that a cloud keeps, such as
	// components and providers: they start again.
	gone []resource.URN
	// blind are interrupted creations that nothing identifies: they start again,
	// whether they happened or not.
	blind []resource.URN
	// known are the ids in the state, by type, which are nobody's candidates.
	known map[string]bool
	// unanswered is how many of the operations failed without an answer, and
	// were not interrupted.
	unanswered int
}

// creation is one interrupted creation.
type creation struct {
	resource apitype.ResourceV3
	// id the resource has if it was made; empty when not known (yet).
	id string
	// lookup says how the cloud is asked for it; nil when id was derived.
	lookup *finder
	// replaces says that the state has an older resource with this URN.
	replaces bool
	// ambiguous holds the candidates when there are several.
	ambiguous []string
}

// planRecovery sorts the pending operations of a state, of which so many failed without
// an answer and were not interrupted.
func planRecovery(st *backend.State, in scope, unanswered int) recovery {
	plan := recovery{known: map[string]bool{}, unanswered: unanswered}
	present := map[resource.URN]bool{}
	for _, r := range st.Deployment.Resources {
		present[r.URN] = true
		plan.known[string(r.Type)+"/"+string(r.ID)] = true
	}
	seen := map[resource.URN]bool{}
	for _, op := range st.Deployment.PendingOperations {
		r := op.Resource
		switch {
		case seen[r.URN]:
		case op.Type == apitype.OperationTypeCreating:
			plan.addCreation(r, present, in)
		case present[r.URN] && r.Custom:
			plan.others = append(plan.others, r.URN)
		default:
			plan.gone = append(plan.gone, r.URN)
		}
		seen[r.URN] = true
	}
	return plan
}

// addCreation plans for a creation. One whose parents are not in the state
// cannot be put there, and one that nothing identifies cannot be found.
func (p *recovery) addCreation(r apitype.ResourceV3, present map[resource.URN]bool, in scope) {
	f, ok := finderFor(string(r.Type))
	if f.again || !worldlyType(r) {
		p.gone = append(p.gone, r.URN)
		return
	}
	if !ok || !supported(r, present) {
		p.blind = append(p.blind, r.URN)
		return
	}
	c := creation{resource: r, replaces: present[r.URN]}
	if f.lookedUp() {
		c.lookup = &f
	} else {
		c.id = f.id(inputs(r.Inputs), in)
	}
	// An id derived from inputs proves nothing: it must not push a resource
	// out that the state knows.
	if c.lookup == nil && (c.replaces || c.id == "") {
		p.blind = append(p.blind, r.URN)
		return
	}
	p.creations = append(p.creations, c)
}

// supported says whether everything the resource refers to is in the state.
func supported(r apitype.ResourceV3, present map[resource.URN]bool) bool {
	if r.Parent != "" && !present[r.Parent] {
		return false
	}
	if provider, _, ok := cutLast(r.Provider, "::"); ok && !present[resource.URN(provider)] {
		return false
	}
	for _, dep := range r.Dependencies {
		if !present[dep] {
			return false
		}
	}
	return true
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// worldlyType says that the resource is one that a cloud may have.
func worldlyType(r apitype.ResourceV3) bool {
	return r.Custom && !strings.HasPrefix(string(r.Type), "pulumi:providers:")
}

// creates says whether the state is to be edited before it is refreshed.
func (p *recovery) creates() bool {
	return len(p.creations) > 0 || len(p.gone) > 0 || len(p.blind) > 0
}

func (p *recovery) needsLookup() bool {
	return slices.ContainsFunc(p.creations, func(c creation) bool { return c.lookup != nil })
}

// interfaces are the network interfaces that creations may have left.
func (p *recovery) interfaces() []interfaceQuery {
	var queries []interfaceQuery
	for _, c := range p.creations {
		in := inputs(c.resource.Inputs)
		if c.lookup == nil || c.lookup.attached == nil || c.lookup.attached(in) == "" {
			continue
		}
		queries = append(queries, interfaceQuery{subnet: in.str("subnetId"), description: c.lookup.attached(in)})
	}
	return queries
}

// match gives each creation that is looked up the id of the one
// resource found for it that the state does not know. Several candidates are
// left for people to decide about.
func (p *recovery) match(found []sighting) {
	for i := range p.creations {
		c := &p.creations[i]
		if c.lookup == nil || c.id != "" {
			continue
		}
		var ids []string
		for _, f := range found {
			id, ok := c.lookup.match(f, inputs(c.resource.Inputs))
			if ok && !p.known[string(c.resource.Type)+"/"+id] {
				ids = append(ids, id)
			}
		}
		switch len(ids) {
		case 0:
		case 1:
			c.id = ids[0]
			p.known[string(c.resource.Type)+"/"+c.id] = true
		default:
			c.ambiguous = ids
		}
	}
}

// misses says that something was looked up and not seen.
func (p *recovery) misses() bool {
	return slices.ContainsFunc(p.creations, func(c creation) bool {
		return c.lookup != nil && c.id == "" && len(c.ambiguous) == 0
	})
}

// adoptions maps the URN of each creation with an id to that id.
func (p *recovery) adoptions() map[resource.URN]string {
	out := map[resource.URN]string{}
	for _, c := range p.creations {
		if c.id != "" {
			out[c.resource.URN] = c.id
		}
	}
	return out
}

// refresh lists the URNs that have to be compared with the cloud.
func (p *recovery) refresh() []string {
	urns := append(slices.Collect(maps.Keys(p.adoptions())), p.others...)
	out := make([]string, 0, len(urns))
	for _, u := range urns {
		out = append(out, string(u))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// adopt moves pending creations into the resources of an exported state. It
// works on the bare JSON, so that nothing it does not know is lost; all other
// pending operations are dropped, as the CLI does on import.
func adopt(raw apitype.UntypedDeployment, ids map[resource.URN]string) (apitype.UntypedDeployment, error) {
	var deployment map[string]json.RawMessage
	if err := json.Unmarshal(raw.Deployment, &deployment); err != nil {
		return raw, fmt.Errorf("read deployment: %w", err)
	}
	var resources []map[string]json.RawMessage
	var pending []struct {
		Resource map[string]json.RawMessage `json:"resource"`
		Type     apitype.OperationType      `json:"type"`
	}
	if err := backend.Decode(deployment, map[string]any{"resources": &resources, "pending_operations": &pending}); err != nil {
		return raw, err
	}
	for _, op := range pending {
		urn := backend.DecodeString(op.Resource["urn"])
		id, ok := ids[resource.URN(urn)]
		if !ok || op.Type != apitype.OperationTypeCreating {
			continue
		}
		for _, r := range resources {
			if backend.DecodeString(r["urn"]) == urn {
				r["delete"] = json.RawMessage("true") // the one it replaces
			}
		}
		op.Resource["id"] = backend.Encode(id)
		resources = append(resources, op.Resource)
		delete(ids, resource.URN(urn))
	}
	deployment["resources"] = backend.Encode(resources)
	delete(deployment, "pending_operations")
	raw.Deployment = backend.Encode(deployment)
	return raw, nil
}
