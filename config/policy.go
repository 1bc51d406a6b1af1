package config

import (
	"fmt"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/labels"
)

// PolicyFile is the name of the policy file, in the project's directory.
const PolicyFile = "tombolo.policy.yaml"

// Decision is what a rule of a policy asks for.
type Decision string

// The decisions.
const (
	// SecondApproval asks for two people who approve.
	SecondApproval Decision = "second-approval"
	// Deny refuses, whoever approves.
	Deny Decision = "deny"
)

// Policy says what of a change needs more than one approval.
type Policy struct {
	// Version of the format: 1.
	Version int `yaml:"version"`
	// Rules, each of which judges on its own.
	Rules []PolicyRule `yaml:"rules"`
	// File the policy was read from.
	File string `yaml:"-"`
}

// PolicyRule is one rule.
type PolicyRule struct {
	// Name of the rule, for who reads its verdict.
	Name string `yaml:"name"`
	// Match says what the rule is about.
	Match PolicyMatch `yaml:"match"`
	// Decision for what matches.
	Decision Decision `yaml:"decision"`
	// Reason for people.
	Reason string `yaml:"reason,omitempty"`
}

// PolicyMatch says what a rule is about. What is left out matches all; a match
// must say something.
type PolicyMatch struct {
	// Dangers that the change has; any stands for all of them.
	Dangers []string `yaml:"dangers,omitempty"`
	// Types of resources, as Pulumi's tokens; * stands for anything.
	Types []string `yaml:"types,omitempty"`
	// Operations on them.
	Operations []string `yaml:"operations,omitempty"`
	// Clusters is a selector of labels, as --selector takes it.
	Clusters string `yaml:"clusters,omitempty"`
}

// AnyDanger stands for all dangers.
const AnyDanger = "any"

// LoadPolicy reads a policy file as strictly as cluster files are read. The
// error is Problems when the file could be read but is wrong, and wraps
// fs.ErrNotExist when there is none.
func LoadPolicy(file string) (*Policy, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read policy file: %w", err)
	}
	return ParsePolicy(file, content)
}

// ParsePolicy is LoadPolicy for content that was read from elsewhere; problems
// name it by file.
func ParsePolicy(file string, content []byte) (*Policy, error) {
	doc := newDocument(file)
	p := &Policy{File: file}
	if root := parseYAML(doc, content); root != nil {
		newDecoder(doc).decode(nil, root, "", reflect.ValueOf(p).Elem(), rule{})
		p.validate(doc)
	}
	if err := doc.problems.inOrder().err(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Policy) validate(doc *document) {
	seen := map[string]bool{}
	for i, r := range p.Rules {
		at := path("rules").index(i)
		if name := at.field("name"); r.Name != "" && seen[r.Name] {
			doc.add(doc.position(name), name, fmt.Sprintf("%s is another rule's name", quote(r.Name)), "give each rule its own")
		}
		seen[r.Name] = true
		r.Match.validate(doc, at.field("match"))
	}
}

func (m PolicyMatch) validate(doc *document, at path) {
	if reflect.ValueOf(m).IsZero() && doc.has(at) && doc.sound(at) {
		doc.add(doc.position(at), at, "matches everything", "say what the rule is about: dangers, types, operations or clusters")
	}
	if _, err := labels.Parse(m.Clusters); err != nil {
		selector := at.field("clusters")
		doc.add(doc.position(selector), selector, fmt.Sprintf("%s is no selector: %v", quote(m.Clusters), err), "write it like environment=prod,tier!=test")
	}
}
