package rebuild

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/operation"
	"tombolo/internal/names"
)

// On is what a part of a phase's time went to.
type On string

// What time goes to. While several resources are worked on, it is the first of them in this order.
const (
	ControlPlane  On = "control plane"
	Nodes         On = "nodes"
	ManagedAddons On = "managed addons"
	Resources     On = "other resources"
	Engine        On = "engine and its sources"
	Addons        On = "addons and their images"
	Systems       On = "systems"
	// Rest is what the programs, the Pulumi engine and the checks between the parts take.
	Rest On = "programs and checks"
)

var order = []On{ControlPlane, Nodes, ManagedAddons, Resources, Engine, Addons, Systems, Rest}

// Took is the time that went to something in a phase.
type Took struct {
	On      On      `json:"on"`
	Seconds float64 `json:"seconds"`
}

// Spent says where the time of a rebuild's phases goes: it observes what a driver does. Every moment counts once, and
// what is worked on beside something longer counts as that.
type Spent struct {
	operation.Observer
	now func() time.Time

	mu        sync.Mutex
	verifying bool
	since     time.Time
	working   map[string]On
	waiting   On
	took      map[On]time.Duration
}

// NewSpent makes one with a clock.
func NewSpent(now func() time.Time) *Spent { return &Spent{now: now} }

// Beside observes what another observer is told.
func (s *Spent) Beside(o operation.Observer) operation.Observer {
	s.Observer = o
	return s
}

// Begin begins a phase.
func (s *Spent) Begin(p Phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verifying, s.since, s.waiting = p.Part == "verify", s.now(), ""
	s.working, s.took = map[string]On{}, map[On]time.Duration{}
}

// End ends the phase, and says what its time went to, in the order of On; nothing where that is one thing.
func (s *Spent) End() []Took {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count()
	var out []Took
	for _, on := range order {
		if d := s.took[on]; d > 0 {
			out = append(out, Took{on, d.Seconds()})
		}
	}
	s.took = nil
	if len(out) < 2 {
		return nil
	}
	return out
}

// count adds the time since the last change to what went on since.
func (s *Spent) count() {
	now := s.now()
	if s.took != nil {
		s.took[s.on()] += now.Sub(s.since)
	}
	s.since = now
}

func (s *Spent) on() On {
	if s.waiting != "" {
		return s.waiting
	}
	first := len(order) - 1
	for _, on := range s.working {
		first = min(first, slices.Index(order, on))
	}
	return order[first]
}

// EngineEvent is told of the resources that the engine works on.
func (s *Spent) EngineEvent(stack string, e events.EngineEvent) {
	s.Observer.EngineEvent(stack, e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.took == nil {
		return
	}
	switch {
	case e.ResourcePreEvent != nil:
		s.begun(e.ResourcePreEvent.Metadata)
	case e.ResOutputsEvent != nil:
		s.done(e.ResOutputsEvent.Metadata.URN)
	case e.ResOpFailedEvent != nil:
		s.done(e.ResOpFailedEvent.Metadata.URN)
	}
}

func (s *Spent) begun(m apitype.StepEventMetadata) {
	state := cmp.Or(m.New, m.Old)
	if m.Op == apitype.OpSame || m.Op == apitype.OpRead || state == nil || !state.Custom {
		return
	}
	s.count()
	s.working[m.URN] = kindOf(m.Type)
}

func (s *Spent) done(urn string) {
	if _, ok := s.working[urn]; ok {
		s.count()
		delete(s.working, urn)
	}
}

// StackFinished ends what is worked on in the stack.
func (s *Spent) StackFinished(stack string, counts map[string]int, err error) {
	s.Observer.StackFinished(stack, counts, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count()
	clear(s.working)
}

// Waiting is told what a verification waits for.
func (s *Spent) Waiting(cluster, what string) {
	s.Observer.Waiting(cluster, what)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.verifying {
		return
	}
	s.count()
	s.waiting = waitedFor(what)
}

// apiVersion is the version of an API in a type of azure-native.
var apiVersion = regexp.MustCompile(`/v\d{8}(preview)?:`)

// kindOf is what a resource of a type counts as.
func kindOf(resource string) On {
	switch apiVersion.ReplaceAllString(resource, ":") {
	case "aws:eks/cluster:Cluster", "azure-native:containerservice:ManagedCluster":
		return ControlPlane
	case "aws:eks/nodeGroup:NodeGroup", "azure-native:containerservice:AgentPool":
		return Nodes
	case "aws:eks/addon:Addon":
		return ManagedAddons
	}
	return Resources
}

// waitedFor is what a check counts as, by its text: Kind namespace/name: message.
func waitedFor(what string) On {
	if what == "" {
		return ""
	}
	object, why, _ := strings.Cut(what, ": ")
	kind, name, _ := strings.Cut(object, " ")
	namespace, name, _ := strings.Cut(name, "/")
	switch {
	case strings.HasPrefix(why, "not reconciled yet"): // by the engine's own controller, which begins
		return Engine
	case slices.Contains([]string{"Kubernetes", "ConfigMap", "Secret", "GitRepository", "OCIRepository", "Bucket"}, kind):
		return Engine
	case name == names.SystemsNamespace || namespace == names.SystemsNamespace || strings.HasSuffix(name, ".setup"):
		return Systems
	}
	return Addons
}
