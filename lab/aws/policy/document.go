// Package policy reads the policy documents of IAM, finds what is wrong with
// them, and tells what they allow.
package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/lab/standin"
)

// Kind is where a policy document is used.
type Kind int

const (
	// Identity says what its bearer may do.
	Identity Kind = iota
	// Trust says who may assume a role.
	Trust
	// Resource is attached to a resource, such as a key.
	Resource
)

// Statement of a policy document. Unknown keys are syntax errors to IAM.
type Statement struct {
	Sid          string
	Effect       string
	Principal    json.RawMessage
	NotPrincipal json.RawMessage
	Action       OneOrMany
	NotAction    OneOrMany
	Resource     OneOrMany
	NotResource  OneOrMany
	Condition    map[string]map[string]any
}

// Document is a policy.
type Document struct {
	Version   string
	Id        string //nolint:revive // IAM spells it so
	Statement statements
}

// OneOrMany is a string or a list of strings.
type OneOrMany []string

// UnmarshalJSON accepts a string or a list of strings.
func (o *OneOrMany) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*o = []string{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

type statements []Statement

// UnmarshalJSON accepts a statement or a list of statements.
func (s *statements) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		var one Statement
		err := Decode(data, &one)
		*s = []Statement{one}
		return err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	for _, r := range raw {
		var one Statement
		if err := Decode(r, &one); err != nil {
			return err
		}
		*s = append(*s, one)
	}
	return nil
}

// Decode reads JSON that has no unknown keys.
func Decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// Malformed says what IAM finds wrong with a document; nothing is empty. exists
// reports whether a statement can name a principal of a kind.
func Malformed(document string, kind Kind, exists func(kind, value string) bool) string {
	var d Document
	if err := Decode([]byte(document), &d); err != nil {
		return "Syntax errors in policy."
	}
	if d.Version != "2012-10-17" && (kind != Resource || d.Version != "2008-10-17") {
		return "Policy document must be version 2012-10-17 or greater."
	}
	if len(d.Statement) == 0 {
		return "Syntax errors in policy."
	}
	sids := map[string]bool{}
	for _, s := range d.Statement {
		if s.Sid != "" && sids[s.Sid] {
			return "Statement IDs (SID) in a single policy must be unique."
		}
		sids[s.Sid] = true
		if message := badStatement(s, kind, exists); message != "" {
			return message
		}
	}
	return ""
}

var (
	actionName = regexp.MustCompile(`^([a-z0-9-]+:[A-Za-z0-9*?]+|\*)$`)
	statementI = regexp.MustCompile(`^[A-Za-z0-9]*$`)
	// ARNShape is what an ARN looks like.
	ARNShape = regexp.MustCompile(`^arn:[^:]+:[^:]*:[^:]*:[^:]*:.+$`)
)

func badStatement(s Statement, kind Kind, exists func(kind, value string) bool) string {
	actions, resources := slices.Concat(s.Action, s.NotAction), slices.Concat(s.Resource, s.NotResource)
	switch {
	case s.Effect == "":
		return "Missing required field Effect cannot be empty!"
	case s.Effect != "Allow" && s.Effect != "Deny":
		return "Invalid effect: " + s.Effect
	case !statementI.MatchString(s.Sid) && kind != Resource:
		return "Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*"
	case len(actions) == 0 && kind == Trust:
		return "Missing required field Action"
	case len(actions) == 0:
		return "Policy statement must contain actions."
	}
	for _, action := range actions {
		if !actionName.MatchString(action) {
			return "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
		}
		if kind == Trust && !strings.HasPrefix(action, "sts:") {
			return "AssumeRole policy may only specify STS AssumeRole actions."
		}
	}
	if message := badCondition(s.Condition); message != "" {
		return message
	}
	if kind == Identity {
		return badIdentity(s, resources)
	}
	if kind == Trust && len(resources) > 0 {
		return "Has prohibited field Resource"
	}
	if s.Principal == nil && s.NotPrincipal == nil {
		return "Missing required field Principal"
	}
	return badPrincipal(s.Principal, exists)
}

func badIdentity(s Statement, resources []string) string {
	if s.Principal != nil || s.NotPrincipal != nil {
		return "Policy document should not specify a principal."
	}
	if len(resources) == 0 {
		return "Policy statement must contain resources."
	}
	for _, r := range resources {
		if r != "*" && !ARNShape.MatchString(r) {
			return fmt.Sprintf("Resource %s must be in ARN format or \"*\".", r)
		}
	}
	return ""
}

// badPrincipal refuses principals of unknown shape, and ones that do not exist.
func badPrincipal(raw json.RawMessage, exists func(kind, value string) bool) string {
	var all string
	if raw == nil || json.Unmarshal(raw, &all) == nil && all == "*" {
		return ""
	}
	var kinds map[string]OneOrMany
	if err := json.Unmarshal(raw, &kinds); err != nil || len(kinds) == 0 {
		return "Syntax errors in policy."
	}
	for _, kind := range standin.SortedKeys(kinds) {
		for _, value := range kinds[kind] {
			if !exists(kind, value) {
				return fmt.Sprintf("Invalid principal in policy: %q:%q", strings.ToUpper(kind), value)
			}
		}
	}
	return ""
}
