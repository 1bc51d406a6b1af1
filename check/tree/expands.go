package tree

import (
	"bytes"
	"errors"
	"fmt"

	"gopkg.in/yaml.v3"
)

const (
	// deepest is how deep a text may nest. Objects of Kubernetes nest thirty deep.
	deepest = 200
	// mostNodes is how many values a text may have once its aliases are followed,
	// for each byte that it has: more is what only an attack has.
	mostNodes = 20
)

// Expands says why a text is not given to those who parse it: aliases that hold
// themselves or multiply, or a nesting that nobody writes. A text that is no YAML
// does not expand.
func Expands(text []byte) error {
	if !bytes.ContainsAny(text, "*") && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("- ")) < deepest && !indented(text) {
		return nil // the quick answer for most
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	e := expansion{size: map[*yaml.Node]int{}, left: 1000 + mostNodes*len(text)}
	for {
		var node yaml.Node
		if decoder.Decode(&node) != nil {
			return nil
		}
		if _, err := e.of(&node, 0); err != nil {
			return err
		}
	}
}

// indented says whether a line begins so far to the right that it could be too
// deep.
func indented(text []byte) bool {
	return bytes.Contains(text, bytes.Repeat([]byte(" "), deepest))
}

// expansion is how many values nodes stand for.
type expansion struct {
	size map[*yaml.Node]int
	left int
}

// inWork is the size of a node whose values are still counted.
const inWork = -1

func (e *expansion) of(n *yaml.Node, depth int) (int, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch size := e.size[n]; {
	case size == inWork:
		return 0, errors.New("an alias is in the value that it stands for")
	case size > 0:
		return size, nil
	case depth > deepest:
		return 0, fmt.Errorf("it is nested over %d deep", deepest)
	}
	e.size[n] = inWork
	size := 1
	for _, below := range n.Content {
		more, err := e.of(below, depth+1)
		if err != nil {
			return 0, err
		}
		if size += more; size > e.left {
			return 0, errors.New("its aliases stand for too many values")
		}
	}
	e.size[n] = size
	return size, nil
}
