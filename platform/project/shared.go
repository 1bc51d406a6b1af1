package project

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// asked are the keys with answers about a cluster.
func asked() []string {
	return []string{"name", "environment", "cloud", "network", "kubernetes.endpoint", "kubernetes.admins", "gitops.engine", "gitops.url", "gitops.branch", "gitops.path"}
}

// LeaveOut is the text of a new cluster file without what files of shared settings say: of the answers if
// they say the same, and of all else, which is only the template's, in any case. shared are the texts of
// those files, the nearest first.
func LeaveOut(text string, shared [][]byte) (string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", fmt.Errorf("read the new cluster file: %w", err)
	}
	lines := strings.SplitAfter(text, "\n")
	s := shortener{gone: make([]bool, len(lines))}
	for _, content := range shared {
		var doc yaml.Node
		if err := yaml.Unmarshal(content, &doc); err != nil {
			return "", fmt.Errorf("read the shared settings: %w", err)
		}
		s.shared = append(s.shared, &doc)
	}
	s.shorten(at(&doc, nil), nil, len(lines))
	var out strings.Builder
	last := "\n"
	for i, line := range lines {
		if s.gone[i] && line != "\n" || line == "\n" && last == "\n" {
			continue
		}
		out.WriteString(line)
		last = line
	}
	return strings.TrimRight(out.String(), "\n") + "\n", nil
}

// shortener marks the lines of a cluster file that are left out.
type shortener struct {
	shared []*yaml.Node
	gone   []bool
}

// shorten leaves out values of a mapping, whose lines end before one, and says whether none is left.
func (s *shortener) shorten(mapping *yaml.Node, above []string, end int) bool {
	empty := true
	for i := 0; i < len(mapping.Content); i += 2 {
		from, to := begin(mapping.Content[i]), end
		if i+2 < len(mapping.Content) {
			to = begin(mapping.Content[i+2])
		}
		if !s.leaveOut(mapping.Content[i+1], append(slices.Clone(above), mapping.Content[i].Value), to) {
			empty = false
			continue
		}
		for line := from; line < to; line++ {
			s.gone[line] = true
		}
	}
	return empty
}

// begin is the line, from 0, at which a key begins with its comment.
func begin(key *yaml.Node) int {
	if key.HeadComment == "" {
		return key.Line - 1
	}
	return key.Line - 2 - strings.Count(key.HeadComment, "\n")
}

func (s *shortener) leaveOut(value *yaml.Node, keys []string, end int) bool {
	i := slices.IndexFunc(s.shared, func(doc *yaml.Node) bool { return at(doc, keys) != nil })
	if i < 0 {
		return false
	}
	if value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Style&yaml.FlowStyle == 0 {
		return s.shorten(value, keys, end)
	}
	path := strings.Join(keys, ".")
	if !slices.ContainsFunc(asked(), func(key string) bool { return path == key || strings.HasPrefix(path, key+".") }) {
		return true
	}
	var mine, theirs any
	return value.Decode(&mine) == nil && at(s.shared[i], keys).Decode(&theirs) == nil && reflect.DeepEqual(mine, theirs)
}
