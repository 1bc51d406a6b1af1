// Package policy reads the file that says which changes need more than one approval.
package policy

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/labels"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	files "tombolo/internal/file"
	"tombolo/internal/wording"
)

// File is the name of the policy file, in the project's directory.
const File = "tombolo.policy.yaml"

// Decision is what a rule of a policy requires.
type Decision string

// The decisions.
const (
	// SecondApproval requires the approval of two people.
	SecondApproval Decision = "second-approval"
	// Deny refuses the change, also with approvals.
	Deny Decision = "deny"
)

// Policy says which changes need more than one approval.
type Policy struct {
	// Version of the format: 1.
	Version int `yaml:"version"`
	// Rules. Each is applied on its own.
	Rules []PolicyRule `yaml:"rules"`
	// File the policy was read from.
	File string `yaml:"-"`
}

var policyFields = field.Of[Policy](map[string]field.Descriptor{
	"Version": {Rule: strict.Rule{What: "a supported version of the policy format", Example: "1", Numbers: []int{1}}},
	"Rules":   {Rule: strict.Rule{Noun: "rule", MinItems: 1}},
})

// PolicyRule is a rule of a policy.
type PolicyRule struct {
	// Name of the rule, for those who read the verdict.
	Name string `yaml:"name"`
	// Match says what the rule is about.
	Match PolicyMatch `yaml:"match"`
	// Decision for what matches.
	Decision Decision `yaml:"decision"`
	// Reason for people.
	Reason string `yaml:"reason,omitempty"`
}

var policyRuleFields = field.Of[PolicyRule](map[string]field.Descriptor{
	"Name":     {Rule: form.Label("network")},
	"Match":    {},
	"Decision": {Rule: strict.Rule{What: "a decision", Allowed: form.Texts(SecondApproval, Deny)}},
	"Reason":   {},
})

// PolicyMatch says which changes a rule is about. A condition that is left out
// matches all; at least one must be there.
type PolicyMatch struct {
	// Dangers of the change; any means all of them.
	Dangers []string `yaml:"dangers,omitempty"`
	// Types of resources, as Pulumi's tokens; * matches anything.
	Types []string `yaml:"types,omitempty"`
	// Operations on them.
	Operations []string `yaml:"operations,omitempty"`
	// Clusters is a selector of labels, as --selector takes it.
	Clusters string `yaml:"clusters,omitempty"`
}

var policyMatchFields = field.Of[PolicyMatch](map[string]field.Descriptor{
	"Dangers":    {Rule: strict.Rule{What: "a danger", Noun: "danger", Allowed: []string{AnyDanger, "cluster", "network", "node-group", "data", "registration", "infra-config"}}},
	"Types":      {},
	"Operations": {Rule: strict.Rule{What: "an operation", Noun: "operation", Allowed: []string{"create", "update", "replace", "delete", "import"}}},
	"Clusters":   {},
})

// AnyDanger means all dangers.
const AnyDanger = "any"

// policyFormat is the format of policy files.
var policyFormat = strict.Format{
	Rule:    func(name string) strict.Rule { return Fields[name].Rule },
	Empty:   "start with version: 1 and rules",
	Several: "put all rules into one document",
}

// Load reads a policy file as strictly as cluster files are read. The
// error is strict.Problems when the file could be read but is wrong, and wraps
// fs.ErrNotExist when there is none.
func Load(file string) (*Policy, error) {
	content, err := files.ReadInside(file, files.MostText)
	if err != nil {
		return nil, fmt.Errorf("read policy file: %w; give the path of a file, not of a directory, a pipe or a device", err)
	}
	return Parse(file, content)
}

// Parse is LoadPolicy for content that was read from elsewhere; problems
// name it by file.
func Parse(file string, content []byte) (*Policy, error) {
	doc := strict.NewDocument(file)
	p := &Policy{File: file}
	policyFormat.Decode(doc, content, p)
	p.validate(doc)
	if err := doc.Problems().Err(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Policy) validate(doc *strict.Document) {
	seen := map[string]bool{}
	for i, r := range p.Rules {
		at := strict.Path("rules").Index(i)
		if name := at.Field("name"); r.Name != "" && seen[r.Name] {
			doc.Report(name, fmt.Sprintf("%s is already the name of a rule", wording.Quote(r.Name)), "give each rule its own name")
		}
		seen[r.Name] = true
		r.Match.validate(doc, at.Field("match"))
	}
}

func (m PolicyMatch) validate(doc *strict.Document, at strict.Path) {
	if reflect.ValueOf(m).IsZero() && doc.Has(at) && doc.Sound(at) {
		doc.Report(at, "matches everything", "say what the rule is about: dangers, types, operations or clusters")
	}
	if _, err := labels.Parse(m.Clusters); err != nil {
		selector := at.Field("clusters")
		doc.Report(selector, fmt.Sprintf("%s is not a selector: %v", wording.Quote(m.Clusters), err), "write it like environment=prod,tier!=test")
	}
}

// Fields are the descriptors of the package.
var Fields = field.Join(policyFields, policyRuleFields, policyMatchFields)
