package definition

import (
	"regexp"
	"slices"
	"strings"

	yamlnode "gopkg.in/yaml.v3"
	"sigs.k8s.io/yaml"
)

// The types of values in the words of messages.
const (
	Text    = "text"
	Null    = "null"
	Number  = "a number"
	Boolean = "a boolean"
	List    = "a list"
	Mapping = "a mapping"
)

// plainText begins like no number, and words that begin so are something else.
var (
	plainText = regexp.MustCompile(`^[A-Za-z/$]`)
	words     = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
)

// TypeOf is what a controller decodes a value as: YAML 1.1 has more numbers and booleans than 1.2.
func TypeOf(n *yamlnode.Node) string {
	switch {
	case n.Kind == yamlnode.MappingNode:
		return Mapping
	case n.Kind == yamlnode.SequenceNode:
		return List
	case n.Style&(yamlnode.DoubleQuotedStyle|yamlnode.SingleQuotedStyle|yamlnode.LiteralStyle|yamlnode.FoldedStyle) != 0, n.Tag == "!!binary":
		return Text
	}
	if plainText.MatchString(n.Value) && !slices.Contains(words, strings.ToLower(n.Value)) {
		return Text // the quick answer for most
	}
	var value any
	if yaml.Unmarshal([]byte(n.Value), &value) != nil {
		return Text
	}
	switch value.(type) {
	case nil:
		return Null
	case float64:
		return Number
	case bool:
		return Boolean
	}
	return Text
}

// named are the types of OpenAPI, JSON and Go by their names there.
var named = map[string]string{
	"string": Text, "integer": Number, "number": Number, "boolean": Boolean, "bool": Boolean, "array": List, "slice": List,
	"object": Mapping, "null": Null,
}

// Word is a type by its name in OpenAPI, in JSON or in Go.
func Word(name string) string {
	if word, ok := named[name]; ok {
		return word
	}
	switch {
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"), strings.HasPrefix(name, "float"):
		return Number
	case strings.HasPrefix(name, "number "): // with its value
		return Number
	case strings.HasPrefix(name, "[]"):
		return List
	}
	return Mapping
}
