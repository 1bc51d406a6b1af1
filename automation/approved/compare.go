package approved

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/internal/wording"
)

// Error says that an up would do something else than what was approved, or works on
// something else.
type Error struct {
	Differences []Difference
	// Done says what the up has changed before it found that; "" for nothing.
	Done string
}

// Difference of what would happen now from what was approved.
type Difference struct {
	// Cluster and Stack that it is about; "" for all.
	Cluster, Stack string
	// URN of the resource that it is about; "" for none.
	URN string
	// What differs, for people.
	What string
}

func (d Difference) String() string {
	if where := cmp.Or(d.Stack, d.Cluster); where != "" {
		return where + ": " + d.What
	}
	return d.What
}

// shown is how many differences an error's text names.
const shown = 5

func (e *Error) Error() string {
	var all []string
	for i, d := range e.Differences {
		if i == shown {
			all = append(all, fmt.Sprintf("and %d more", len(e.Differences)-i))
			break
		}
		all = append(all, d.String())
	}
	return fmt.Sprintf("this is not what was approved: %s; %s: %s", strings.Join(all, "; "), cmp.Or(e.Done, "nothing was changed"), again)
}

// Refuse is the error for differences; nil without any.
func Refuse(differences []Difference) error {
	if len(differences) == 0 {
		return nil
	}
	return &Error{Differences: differences}
}

// Setting is where a plan was made: all but what the clusters would become.
func (p Plan) Setting(now Plan) []Difference {
	var out []Difference
	if p.Program != now.Program {
		out = append(out, Difference{What: fmt.Sprintf("the plan was made by another program: %s, and this one is %s", p.Program, now.Program)})
	}
	if p.Refresh != now.Refresh {
		out = append(out, Difference{What: "one of both was compared with the cloud, and the other with the state alone"})
	}
	was, is := waves(p), waves(now)
	for _, c := range p.Clusters() {
		n := now.Cluster(c.Name)
		switch {
		case n == nil:
			out = append(out, Difference{Cluster: c.Name, What: "it is in the plan, and not among the clusters of this run"})
		case was[c.Name] != is[c.Name]:
			out = append(out, Difference{Cluster: c.Name, What: fmt.Sprintf("it is in wave %d, and was in wave %d", is[c.Name], was[c.Name])})
		}
		if n == nil {
			continue
		}
		if c.File != n.File {
			out = append(out, Difference{Cluster: c.Name, What: "its cluster file has changed"})
		}
		if c.Hub != n.Hub {
			out = append(out, Difference{Cluster: c.Name, What: "the cluster file of its hub has changed"})
		}
		if !maps.Equal(c.Shared, n.Shared) {
			out = append(out, Difference{Cluster: c.Name, What: "the settings that it shares have changed"})
		}
	}
	for _, c := range now.Clusters() {
		if p.Cluster(c.Name) == nil {
			out = append(out, Difference{Cluster: c.Name, What: "it is not in the plan"})
		}
	}
	return out
}

func (p Program) String() string {
	return fmt.Sprintf("build %s, modules %s, Pulumi %s, %s", brief(p.Build), brief(p.Modules), p.Pulumi, p.Go)
}

// brief is the beginning of a digest or of a commit.
func brief(digest string) string {
	_, digits, found := strings.Cut(digest, ":")
	if !found {
		digits = digest
	}
	return digits[:min(12, len(digits))]
}

func waves(p Plan) map[string]int {
	out := map[string]int{}
	for _, w := range p.Waves {
		for _, c := range w.Clusters {
			out[c.Name] = w.Wave
		}
	}
	return out
}

// Differences of a cluster as it is now from what was approved of it.
func (c Cluster) Differences(now Cluster) []Difference {
	if c.WithoutSecrets != now.WithoutSecrets {
		return []Difference{{Cluster: c.Name, What: "one of both was made without secrets, and the other with them"}}
	}
	if c.Keyed && !now.Keyed {
		return []Difference{{Cluster: c.Name, What: "the plan's digests have a key that is not here: set TOMBOLO_PLAN_KEY or the passphrase as where the plan was made"}}
	}
	if c.Keyed != now.Keyed {
		return []Difference{{Cluster: c.Name, What: "the plan's digests have no key, and here is one: secrets cannot be compared"}}
	}
	out := append(c.otherSecrets(now), c.added(now)...)
	for _, s := range c.Stacks {
		n := now.Stack(s.Kind)
		if n == nil {
			out = append(out, Difference{Cluster: c.Name, Stack: s.Name, What: "it was not previewed"})
			continue
		}
		if moved := s.Moved(c.Name, n.State); len(moved) > 0 { // and with it, all else
			out = append(out, moved...)
			continue
		}
		if !slices.Equal(s.Unseen, n.Unseen) {
			out = append(out, Difference{Cluster: c.Name, Stack: s.Name, What: "other resources have secrets than in the plan"})
		}
		if s.AfterCore != n.AfterCore && len(out) == 0 { // else it follows from what core does
			out = append(out, Difference{Cluster: c.Name, Stack: s.Name, What: "it no longer follows core in the same way"})
		}
		out = append(out, s.Differences(c.Name, n.Steps)...)
	}
	return out
}

// added are the stacks that the plan does not have.
func (c Cluster) added(now Cluster) []Difference {
	var out []Difference
	for _, s := range now.Stacks {
		if c.Stack(s.Kind) == nil {
			out = append(out, Difference{Cluster: c.Name, Stack: s.Name, What: "it is not in the plan"})
		}
	}
	return out
}

// otherSecrets are the secrets that are others than those of the plan. What the plan does not have
// is not compared.
func (c Cluster) otherSecrets(now Cluster) []Difference {
	var out []Difference
	for _, path := range slices.Sorted(maps.Keys(c.Secrets)) {
		if now.Secrets[path] != c.Secrets[path] {
			out = append(out, Difference{Cluster: c.Name, What: "the secret of " + path + " is another one than where the plan was made, or is not here"})
		}
	}
	return out
}

// Moved says that the state is another one than when the plan was made.
func (s Stack) Moved(cluster string, now *State) []Difference {
	what := ""
	switch {
	case s.State == nil && now != nil:
		what = "the stack exists, and did not when the plan was made"
	case s.State != nil && now == nil:
		what = "the stack is gone"
	case s.State != nil && *s.State != *now:
		what = fmt.Sprintf("its state has moved: written %s, and %s when the plan was made", now.Time, s.State.Time)
	default:
		return nil
	}
	return []Difference{{Cluster: cluster, Stack: s.Name, What: what}}
}

// Differences of the steps of now from those that were approved. After core's up, what
// changes in the state alone is not compared: it does nothing in the world.
func (s Stack) Differences(cluster string, now []Step) []Difference {
	was := s.Steps
	if s.AfterCore {
		was, now = inWorld(was), inWorld(now)
	}
	var out []Difference
	add := func(step Step, format string) {
		out = append(out, Difference{Cluster: cluster, Stack: s.Name, URN: step.URN, What: fmt.Sprintf(format, step)})
	}
	for _, step := range now {
		planned, found := find(was, step.URN, step.Op)
		switch {
		case !found:
			add(step, "it would %s, which is not in the plan")
		case planned.Inputs != step.Inputs:
			add(step, "it would %s with other inputs than in the plan")
		}
	}
	for _, step := range was {
		if _, found := find(now, step.URN, step.Op); !found {
			add(step, "it would no longer %s, which is in the plan")
		}
	}
	return out
}

// find finds the step of a resource that is this operation.
func find(steps []Step, urn, op string) (Step, bool) {
	i := slices.IndexFunc(steps, func(s Step) bool { return s.URN == urn && s.Op == op })
	if i < 0 {
		return Step{}, false
	}
	return steps[i], true
}

// plans says that the step which the engine announces is in the plan.
func (s Stack) plans(m apitype.StepEventMetadata) bool {
	_, found := find(s.Steps, m.URN, string(m.Op))
	return found
}

// String is a step for people, as what an up would do.
func (s Step) String() string {
	switch s.Op {
	case OpOutputs:
		return "change its outputs"
	case OpState:
		return "change what the state says of " + named(s.URN)
	}
	return s.Op + " " + named(s.URN)
}

// named is the type and name in a URN.
func named(urn string) string {
	parts := strings.SplitN(urn, "::", 4)
	if len(parts) < 4 {
		return urn
	}
	types := strings.Split(parts[2], "$")
	return types[len(types)-1] + " " + parts[3]
}

// inWorld leaves out the steps that change the state alone.
func inWorld(steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Op == OpState || s.Op == OpOutputs })
}

// Has says whether the engine may take a step that it announces in an up.
func (s Stack) Has(m apitype.StepEventMetadata) bool {
	return !isStep(m) || s.mayHave(m) || s.plans(m)
}

// mayHave says whether a step may be on what a plan without secrets does not see: a secret of it
// changes, or it was deleted by others and is made again.
func (s Stack) mayHave(m apitype.StepEventMetadata) bool {
	return (m.Op == apitype.OpUpdate || m.Op == apitype.OpCreate) && slices.Contains(s.Unseen, m.URN)
}

// Hidden are the steps of a preview with secrets that a plan without them does not have, but for those
// that change a secret and nothing else. inputs are those that the state has, by URN, with secrets
// masked.
func (s Stack) Hidden(cluster string, p Preview, inputs map[string]map[string]any) ([]Difference, error) {
	would, err := p.inputs()
	if err != nil {
		return nil, err
	}
	var out []Difference
	for _, m := range p.Steps {
		if !isStep(m) || s.plans(m) || s.mayHave(m) && reflect.DeepEqual(would[stepKey{m.URN, string(m.Op)}], any(inputs[m.URN])) {
			continue
		}
		out = append(out, Difference{
			Cluster: cluster, Stack: s.Name, URN: m.URN,
			What: fmt.Sprintf("it would %s, which the plan without secrets does not show", Step{URN: m.URN, Op: string(m.Op)}),
		})
	}
	return out, nil
}

// Summary of a plan in words.
func (p Plan) Summary() string {
	steps := 0
	for _, c := range p.Clusters() {
		for _, s := range c.Stacks {
			steps += len(s.Steps)
		}
	}
	return wording.Count(len(p.Clusters()), "cluster") + ", " + wording.Count(steps, "step")
}
