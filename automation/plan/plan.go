// Package plan says what a change of the project would do to clusters: it
// reads the events of previews, follows what core puts out into what bootstrap
// publishes, names what is dangerous, and judges it by the project's policy.
//
// The package knows nothing of the driver. It makes the same Set of the same events, whatever the order in which clusters were previewed.
package plan

import (
	"cmp"
	"slices"

	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/stacks"
)

// Set is what a change would do to all clusters.
type Set struct {
	// Since is the commit that clusters were compared with; "" when they were
	// chosen in another way.
	Since string
	// Clusters that were previewed, by wave and name.
	Clusters []Cluster
	// Unchanged clusters have the same inputs as at the commit, and were not
	// previewed.
	Unchanged []string
	// Shared are lines about files of shared settings that have changed, with the clusters that they
	// touch.
	Shared []string
	// Unseen are lines about values that clusters take from elsewhere, and that Git does
	// not have: they were not compared.
	Unseen []string
	// Removed are the cluster files that are gone.
	Removed []Removed
	// Verdicts of the policy, in the order of its rules.
	Verdicts []Verdict
	// Policy is the file that judged; "" without one.
	Policy string
	// Digest of the plan that people approve; "" without one.
	Digest string
}

// Removed is a cluster file that is gone. What it made stays until it is
// destroyed.
type Removed struct {
	File, Cluster string
	// Stacks that the backend still has, with their resources.
	Stacks []Left
}

// Left is a stack whose cluster file is gone.
type Left struct {
	Name      string
	Resources int
}

// Cluster is what a change would do to one cluster.
type Cluster struct {
	Name string
	Wave int
	// Account of the cloud that it is in.
	Account string
	// Labels of its registration, by which policies choose.
	Labels map[string]string
	// LabelsBefore are those that it had, by which policies choose, too: a change that gives a cluster
	// another environment is one of both.
	LabelsBefore map[string]string
	// Reasons why it was previewed.
	Reasons []string
	// Secrets that its file refers to.
	Secrets []config.SecretUse
	// Warnings of its file, such as of an old version of Kubernetes.
	Warnings strict.Problems
	// FileChanges are the keys in which its file differs from what the live cluster was
	// made from.
	FileChanges config.Changes
	// Stacks in the order in which they are made.
	Stacks []Stack
	// Err says why the preview is incomplete; "" when it is not.
	Err string
}

// Stack is what a change would do to one stack.
type Stack struct {
	Name string
	// Kind is core, bootstrap, or the name of an own stack.
	Kind string
	// Placeholders says that core, or the hub's, has no outputs yet.
	Placeholders bool
	// Resources that change, in the order of their URNs.
	Resources []Resource
	// Outputs that change, by name; each entry of a map is one.
	Outputs []Output

	// told are all outputs that the preview says there will be.
	told map[string]any
	// madeUp are names that providers have made up, each followed by what is
	// written in its place.
	madeUp []string
}

// Own says that it is an own stack of the cluster.
func (s Stack) Own() bool { return s.Kind != string(stacks.Core) && s.Kind != string(stacks.Bootstrap) }

// Resource is what happens to one resource.
type Resource struct {
	// Type is Pulumi's token, Name the name in the program, ID in the cloud or on
	// the cluster, "" of what does not exist.
	Type, Name, URN, ID string
	Op                  Op
	Diffs               []Diff
	// Danger of it; "" for none.
	Danger Danger
}

// Op is what happens to a resource.
type Op string

// The operations, in the order in which they are counted.
const (
	Create  Op = "create"
	Update  Op = "update"
	Replace Op = "replace"
	Delete  Op = "delete"
	Import  Op = "import"
)

// Ops lists all operations.
func Ops() []Op { return []Op{Create, Update, Replace, Delete, Import} }

// Diff is one property that changes. Secrets are masked, and what is not known
// yet is a value.Unknown.
type Diff struct {
	// Path of the property. What is inside a text of YAML or JSON follows after
	// an arrow.
	Path          string
	Before, After any
	// ForcesReplace says that the resource is replaced because of it.
	ForcesReplace bool
	// From are the outputs of core that it follows: then After is what core's
	// preview predicts.
	From []string
	// Read are the values of other stacks and of Parameter Store that it follows, by
	// their sources in words, such as "db_host of stack data/prod".
	Read []string
	// Published is what GitOps reads; nil for what it does not.
	Published *Published
}

// Published is a value that GitOps reads.
type Published struct {
	// Annotation says that it is an annotation, or a label, of a registration or
	// of the infra ConfigMap; else it is a key of a ConfigMap.
	Annotation bool
	// Object is namespace/name.
	Object string
	// Key of the object.
	Key string
}

// Output is an output of a stack that changes.
type Output struct {
	Name          string
	Before, After any
}

// Counts are resources by what happens to them.
type Counts map[Op]int

// Total of all.
func (c Counts) Total() int {
	n := 0
	for _, count := range c {
		n += count
	}
	return n
}

// Counts of the stack.
func (s Stack) Counts() Counts {
	out := Counts{}
	for _, r := range s.Resources {
		out[r.Op]++
	}
	return out
}

// Counts of both stacks.
func (c Cluster) Counts() Counts { return sum(c.Stacks) }

// Changes says whether an up would change anything.
func (c Cluster) Changes() bool {
	return slices.ContainsFunc(c.Stacks, func(s Stack) bool { return len(s.Resources)+len(s.Outputs) > 0 })
}

// Counts of all clusters.
func (s Set) Counts() Counts { return sum(s.Clusters) }

func sum[T interface{ Counts() Counts }](parts []T) Counts {
	out := Counts{}
	for _, part := range parts {
		for op, n := range part.Counts() {
			out[op] += n
		}
	}
	return out
}

// Changed are the clusters that an up would change.
func (s Set) Changed() []Cluster {
	var out []Cluster
	for _, c := range s.Clusters {
		if c.Changes() {
			out = append(out, c)
		}
	}
	return out
}

// OverAccounts says whether the clusters that were previewed are in several accounts.
func (s Set) OverAccounts() bool {
	return slices.ContainsFunc(s.Clusters, func(c Cluster) bool { return c.Account != s.Clusters[0].Account })
}

// Changes says whether the change does anything: to a cluster, or by leaving one
// without its file.
func (s Set) Changes() bool { return len(s.Changed()) > 0 || len(s.Removed) > 0 }

// Failed says whether a preview is incomplete.
func (s Set) Failed() bool {
	return slices.ContainsFunc(s.Clusters, func(c Cluster) bool { return c.Err != "" })
}

// Sort puts everything in its place.
func (s *Set) Sort() {
	slices.SortFunc(s.Clusters, func(a, b Cluster) int { return cmp.Or(cmp.Compare(a.Wave, b.Wave), cmp.Compare(a.Name, b.Name)) })
	slices.Sort(s.Unchanged)
	slices.SortFunc(s.Removed, func(a, b Removed) int { return cmp.Compare(a.File, b.File) })
}

// Danger is what makes a change dangerous.
type Danger string

// The dangers.
const (
	// ClusterDanger is the deletion or replacement of the managed cluster.
	ClusterDanger Danger = "cluster"
	// NetworkDanger is that of the VPC or a subnet.
	NetworkDanger Danger = "network"
	// NodeGroupDanger is that of a node group: its nodes are drained and go.
	NodeGroupDanger Danger = "node-group"
	// DataDanger is that of what holds data, or of what it is encrypted by.
	DataDanger Danger = "data"
	// RegistrationDanger is that of a cluster's registration with Argo CD, which
	// takes away the applications of a cluster that is not registered.
	RegistrationDanger Danger = "registration"
	// InfraConfigDanger is that of the ConfigMap that the platform tree's
	// variables come from.
	InfraConfigDanger Danger = "infra-config"
)

// Dangers lists all of them, the worst first.
func Dangers() []Danger {
	return []Danger{ClusterDanger, NetworkDanger, DataDanger, NodeGroupDanger, RegistrationDanger, InfraConfigDanger}
}

// Verdict is what a rule of the policy says of the change.
type Verdict struct {
	Rule, Reason string
	Decision     config.Decision
	// Met says that the change may go on: enough people have approved.
	Met bool
	// Matches name what the rule is about, as cluster: operation type name.
	Matches []string
}
