package rbac

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Attributes of a role assignment that is written or deleted, as conditions name them. Source:
// https://learn.microsoft.com/en-us/azure/role-based-access-control/conditions-authorization-actions-attributes
const (
	RoleDefinitionID = "Microsoft.Authorization/roleAssignments:RoleDefinitionId"
	PrincipalType    = "Microsoft.Authorization/roleAssignments:PrincipalType"
)

// Asked is an action that a condition is about, with what it names. A write has its attributes in
// the request, a deletion in the resource.
type Asked struct {
	Action            string
	Request, Resource map[string]string
}

// Permits says that a role allows an action, by its condition too.
func (r Role) Permits(asked Asked) bool {
	if !r.Allows(asked.Action) {
		return false
	}
	if r.condition == "" {
		return true
	}
	holds, err := ParseCondition(r.condition)
	return err == nil && holds(asked)
}

// words of a condition.
var words = regexp.MustCompile(`^\s*(\(|\)|!|AND\b|OR\b|ActionMatches\{'[^']*'\}|@(?:Request|Resource)\[[^\]]+\]|ForAnyOfAnyValues:\w+|\{[^}]*\})`)

// ParseCondition reads a condition of the form in
// https://learn.microsoft.com/en-us/azure/role-based-access-control/conditions-format, with the
// operators for role assignments.
func ParseCondition(text string) (func(Asked) bool, error) {
	p := &parser{}
	for rest := text; strings.TrimSpace(rest) != ""; {
		m := words.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("unexpected %q", strings.TrimSpace(rest))
		}
		p.words, rest = append(p.words, m[1]), rest[len(m[0]):]
	}
	holds, err := p.either()
	if err == nil && len(p.words) > 0 {
		err = fmt.Errorf("unexpected %q", p.words[0])
	}
	return holds, err
}

type parser struct{ words []string }

// next takes a word, "" at the end.
func (p *parser) next() string {
	if len(p.words) == 0 {
		return ""
	}
	word := p.words[0]
	p.words = p.words[1:]
	return word
}

func (p *parser) takes(word string) bool {
	if len(p.words) == 0 || p.words[0] != word {
		return false
	}
	p.next()
	return true
}

func (p *parser) either() (func(Asked) bool, error) {
	left, err := p.both()
	for err == nil && p.takes("OR") {
		var right func(Asked) bool
		before := left
		right, err = p.both()
		left = func(a Asked) bool { return before(a) || right(a) }
	}
	return left, err
}

func (p *parser) both() (func(Asked) bool, error) {
	left, err := p.one()
	for err == nil && p.takes("AND") {
		var right func(Asked) bool
		before := left
		right, err = p.one()
		left = func(a Asked) bool { return before(a) && right(a) }
	}
	return left, err
}

func (p *parser) one() (func(Asked) bool, error) {
	switch word := p.next(); {
	case word == "!":
		holds, err := p.one()
		return func(a Asked) bool { return !holds(a) }, err
	case word == "(":
		holds, err := p.either()
		if err == nil && !p.takes(")") {
			err = errors.New("a parenthesis is not closed")
		}
		return holds, err
	case strings.HasPrefix(word, "ActionMatches"):
		action := strings.ToLower(strings.Split(word, "'")[1])
		return func(a Asked) bool { return matches(action, strings.ToLower(a.Action)) }, nil
	case strings.HasPrefix(word, "@"):
		return p.compares(word)
	default:
		return nil, fmt.Errorf("unexpected %q", word)
	}
}

// compares an attribute with a set of values.
func (p *parser) compares(attribute string) (func(Asked) bool, error) {
	source, name, _ := strings.Cut(strings.TrimSuffix(attribute, "]"), "[")
	operator, set := p.next(), p.next()
	if name != RoleDefinitionID && name != PrincipalType || !strings.HasPrefix(set, "{") ||
		operator != "ForAnyOfAnyValues:GuidEquals" && operator != "ForAnyOfAnyValues:StringEqualsIgnoreCase" {
		return nil, fmt.Errorf("%s %s %s is no comparison of a role assignment", attribute, operator, set)
	}
	var values []string
	for value := range strings.SplitSeq(strings.Trim(set, "{}"), ",") {
		values = append(values, strings.Trim(strings.TrimSpace(value), "'"))
	}
	return func(a Asked) bool {
		of := a.Resource
		if source == "@Request" {
			of = a.Request
		}
		return slices.ContainsFunc(values, func(value string) bool { return strings.EqualFold(value, of[name]) })
	}, nil
}
