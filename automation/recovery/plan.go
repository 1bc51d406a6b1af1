package recovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/config"
)

// plan is what to do about the operations an interrupted run left pending.
type plan struct {
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
	// owner is the identity of the cluster; "" in a state without one.
	owner string
	// foreign are resources that have the id of an interrupted creation, and the tag
	// of another owner, or none.
	foreign []string
	// known are the ids in the state, by type, which are no candidates.
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
	lookup *Finder
	// replaces says that the state has an older resource with this URN.
	replaces bool
	// ambiguous holds the candidates when there are several.
	ambiguous []string
}

// newPlan sorts the pending operations of a state; so many of them failed without
// an answer and were not interrupted.
func newPlan(cloud Cloud, c *config.Cluster, st *backend.State, unanswered int) plan {
	p := plan{known: map[string]bool{}, unanswered: unanswered, owner: st.Owner()}
	present := map[resource.URN]bool{}
	for _, r := range st.Deployment.Resources {
		present[r.URN] = true
		p.known[string(r.Type)+"/"+string(r.ID)] = true
	}
	seen := map[resource.URN]bool{}
	for _, op := range st.Deployment.PendingOperations {
		r := op.Resource
		switch {
		case seen[r.URN]:
		case op.Type == apitype.OperationTypeCreating:
			p.addCreation(cloud, c, r, present)
		case present[r.URN] && r.Custom:
			p.others = append(p.others, r.URN)
		default:
			p.gone = append(p.gone, r.URN)
		}
		seen[r.URN] = true
	}
	return p
}

// addCreation plans for a creation. One whose parents are not in the state
// cannot be put there, and one that nothing identifies cannot be found.
func (p *plan) addCreation(cloud Cloud, c *config.Cluster, r apitype.ResourceV3, present map[resource.URN]bool) {
	f, ok := finderFor(cloud, string(r.Type))
	if f.Again || !external(r) {
		p.gone = append(p.gone, r.URN)
		return
	}
	if !ok || !supported(r, present) {
		p.blind = append(p.blind, r.URN)
		return
	}
	made := creation{resource: r, replaces: present[r.URN]}
	if f.Match != nil {
		made.lookup = &f
	} else {
		made.id = f.ID(r.Inputs, c)
	}
	// An id derived from inputs proves nothing: it must not push a resource
	// out that the state knows.
	if made.lookup == nil && (made.replaces || made.id == "") {
		p.blind = append(p.blind, r.URN)
		return
	}
	p.creations = append(p.creations, made)
}

// supported says whether everything the resource refers to is in the state.
func supported(r apitype.ResourceV3, present map[resource.URN]bool) bool {
	if r.Parent != "" && !present[r.Parent] {
		return false
	}
	if provider := backend.ProviderOf(r); provider != "" && !present[provider] {
		return false
	}
	return !slices.ContainsFunc(r.Dependencies, func(dep resource.URN) bool { return !present[dep] })
}

// external says that the resource is one that a cloud may have.
func external(r apitype.ResourceV3) bool {
	return r.Custom && !strings.HasPrefix(string(r.Type), "pulumi:")
}

// creates says whether the state is to be edited before it is refreshed.
func (p *plan) creates() bool {
	return len(p.creations) > 0 || len(p.gone) > 0 || len(p.blind) > 0
}

func (p *plan) needsLookup() bool {
	return slices.ContainsFunc(p.creations, func(c creation) bool { return c.lookup != nil })
}

// queries are what has to be asked besides the cluster's tag.
func (p *plan) queries() []Query {
	var all []Query
	for _, c := range p.creations {
		if c.lookup == nil || c.lookup.Query == nil {
			continue
		}
		if q, ok := c.lookup.Query(c.resource.Inputs); ok {
			all = append(all, q)
		}
	}
	return all
}

// match gives each creation that is looked up the id of the one
// resource found for it that the state does not know. Several candidates are
// left for people to decide about.
func (p *plan) match(found []Sighting) {
	for i := range p.creations {
		c := &p.creations[i]
		if c.lookup == nil || c.id != "" {
			continue
		}
		var ids []string
		for _, f := range found {
			id, ok := c.lookup.Match(f, c.resource.Inputs)
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
func (p *plan) misses() bool {
	return slices.ContainsFunc(p.creations, func(c creation) bool {
		return c.lookup != nil && c.id == "" && len(c.ambiguous) == 0
	})
}

// adoptions maps the URN of each creation with an id to that id.
func (p *plan) adoptions() map[resource.URN]string {
	out := map[resource.URN]string{}
	for _, c := range p.creations {
		if c.id != "" {
			out[c.resource.URN] = c.id
		}
	}
	return out
}

// strangers are the adopted creations that, as the refresh has read them, are
// another owner's.
func (p *plan) strangers(cloud Cloud, after *backend.State) []resource.URN {
	var out []resource.URN
	for urn := range p.adoptions() {
		r, found := after.Find(urn)
		if !found || strings.HasPrefix(string(r.Type), "kubernetes:") {
			continue
		}
		if id, tagged := cloud.Owner(r.Outputs); tagged && id != p.owner {
			out = append(out, urn)
			p.foreign = append(p.foreign, fmt.Sprintf("%s %s", pulumicli.ResourceName(string(urn)), r.ID))
		}
	}
	slices.Sort(p.foreign)
	return out
}

// refresh lists the URNs that have to be compared with the cloud, of what a state has, or
// has pending: the engine refuses any other.
func (p *plan) refresh(st *backend.State) []string {
	pending := map[resource.URN]bool{}
	for _, op := range st.Deployment.PendingOperations {
		pending[op.Resource.URN] = true
	}
	var out []string
	for _, u := range append(slices.Collect(maps.Keys(p.adoptions())), p.others...) {
		if _, found := st.Find(u); found || pending[u] {
			out = append(out, string(u))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// adopt moves pending creations into the resources of an exported state. It
// works on the bare JSON, so that nothing it does not know is lost; all other
// pending operations are dropped, as the CLI does on import.
func adopt(raw apitype.UntypedDeployment, ids map[resource.URN]string) (apitype.UntypedDeployment, error) {
	var deployment map[string]json.RawMessage
	var known struct {
		Resources []backend.Resource `json:"resources"`
		Pending   []struct {
			Resource backend.Resource      `json:"resource"`
			Type     apitype.OperationType `json:"type"`
		} `json:"pending_operations"`
	}
	if err := errors.Join(json.Unmarshal(raw.Deployment, &deployment), json.Unmarshal(raw.Deployment, &known)); err != nil {
		return raw, fmt.Errorf("read deployment: %w", err)
	}
	resources := known.Resources
	for _, op := range known.Pending {
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
