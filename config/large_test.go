package config

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"

	"tombolo/config/strict"
	"tombolo/internal/file"
	"tombolo/tests/bounded"
)

// largest are cluster files of the greatest size, each of the kind that keeps some way of
// reading busy.
func largest(tb testing.TB) map[string]string {
	head := readGood(tb, "minimal.yaml")
	fill := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; ; i++ {
			next := line(i)
			if b.Len()+len(next) > file.MostText-len(head)-1000 {
				return b.String()
			}
			b.WriteString(next)
		}
	}
	same := func(line string) string { return fill(func(int) string { return line }) }
	keys := fill(func(i int) string { return fmt.Sprintf("k%x: 1\n", i) })
	half := keys[:strings.LastIndex(keys[:len(keys)/2], "\n")+1]
	indented := "  " + strings.TrimRight(strings.ReplaceAll(half, "\n", "\n  "), " ")
	out := map[string]string{
		"keys":               head + keys,
		"keys with a list":   head + fill(func(i int) string { return fmt.Sprintf("[%x]: 1\n", i) }),
		"same keys":          head + same("name: a\n"),
		"near keys":          head + fill(func(i int) string { return fmt.Sprintf("nam%x: 1\n", i) }),
		"labels":             head + "labels:\n" + fill(func(i int) string { return fmt.Sprintf("  k%x: a\n", i) }),
		"values":             head + "values:\n" + fill(func(i int) string { return fmt.Sprintf("  k%x: a\n", i) }),
		"values of maps":     head + "values:\n" + fill(func(i int) string { return fmt.Sprintf("  k%x: {}\n", i) }),
		"merges":             head + "x: &x\n" + indented + "y:\n" + same("- <<: *x\n")[:file.MostText/4],
		"merges in labels":   head + "x: &x\n" + indented + "labels:\n  <<: [" + strings.Repeat("*x, ", file.MostText/20) + "*x]\n",
		"merges of merges":   head + "a0: &a0 {a: b}\n" + fill(func(i int) string { return fmt.Sprintf("a%d: &a%d {<<: [*a%d, *a%d]}\n", i+1, i+1, i, i) }),
		"merges in values":   head + "values:\n  x: &x\n" + strings.ReplaceAll("  "+indented, "\n", "\n  ") + "\n" + fill(func(i int) string { return fmt.Sprintf("  y%x: {<<: *x}\n", i) })[:file.MostText/6],
		"aliases":            head + "a0: &a0 [a, b]\n" + fill(func(i int) string { return fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i) }),
		"lists in lists":     head + "values: {a: " + strings.Repeat("[", file.MostText/2-1000) + strings.Repeat("]", file.MostText/2-1000) + "}\n",
		"some lists":         head + "values: {a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}\n",
		"maps in maps":       head + "values: {a: " + strings.Repeat("{a: ", 9000) + strings.Repeat("}", 9000) + "}\n",
		"never closed":       head + "values: {a: " + same("["),
		"dashes":             head + "values:\n" + same("- "),
		"questions":          head + same("? "),
		"comments":           head + same("# a\n"),
		"comments after":     head + same("a: b # c\n"),
		"comment of a line":  head + "# " + same("a"),
		"not yaml":           head + same("a: b: c\n"),
		"late not yaml":      head + keys[:len(keys)/2] + "a: b: c\n",
		"thousand lines":     head + strings.Repeat("x: "+strings.Repeat("a", file.MostText/1000-50)+"\n", 900) + "\t",
		"an early tab":       "\t\n" + strings.Repeat("x: "+strings.Repeat("a", file.MostText/1000-50)+"\n", 900),
		"an open quote":      head + "a: \"" + same("b\n"),
		"escapes":            head + "a: \"" + same(`\u0041`) + "\"\n",
		"a literal":          head + "a: |\n" + same(" b\n"),
		"anchors":            head + fill(func(i int) string { return fmt.Sprintf("a%x: &a%x 1\n", i, i) }),
		"unknown anchors":    head + same("a: *b\n"),
		"tags":               head + fill(func(i int) string { return fmt.Sprintf("a%x: !!int a\n", i) }),
		"documents":          head + same("---\n"),
		"a long key":         head + same("a") + ": b\n",
		"keys of a long one": head + strings.Repeat("a", file.MostText/4) + ":\n" + same("  a: b\n")[:file.MostText/2],
		"long in values":     head + "values:\n  " + strings.Repeat("a", file.MostText/4) + ":\n" + fill(func(i int) string { return fmt.Sprintf("    k%x: b\n", i) })[:file.MostText/2],
		"long in long":       head + "values: {a: {" + longInLong() + "}}\n",
		"spaces":             head + same(" "),
		"lines":              head + same("\n"),
		"returns":            head + same("\r"),
		"nulls":              head + fill(func(i int) string { return fmt.Sprintf("k%x:\n", i) }),
		"commas":             head + "a: [" + same("a,") + "]\n",
		"colons":             head + same(":"),
		"a number":           head + "wave: " + same("9") + "\n",
		"a fraction":         head + "values: {a: 0." + same("9") + "}\n",
		"a version":          strings.Replace(head, "version: 1", "version: "+same("1"), 1),
	}
	for _, name := range []string{"full.yaml", "azure-full.yaml"} {
		for path, text := range longLists(tb, readGood(tb, name)) {
			out[name+" "+path] = text
		}
	}
	return out
}

// longInLong is a mapping of many keys below many long ones.
func longInLong() string {
	var b strings.Builder
	for range 45 {
		b.WriteString("{" + strings.Repeat("a", 150) + ": ")
	}
	for i := 0; b.Len() < file.MostText*3/4; i++ {
		fmt.Fprintf(&b, "%sk%x", strings.Repeat(",", min(i, 1)), i)
	}
	return b.String() + strings.Repeat("}", 45) + "\n"
}

// longLists are a file with each of its lists as long as one may be, by the list's path.
func longLists(tb testing.TB, text string) map[string]string {
	var doc yaml.Node
	assert.NilError(tb, yaml.Unmarshal([]byte(text), &doc))
	out := map[string]string{}
	var visit func(n *yaml.Node, path string)
	visit = func(n *yaml.Node, path string) {
		if n.Kind == yaml.SequenceNode && len(n.Content) > 0 {
			kept := n.Content
			for range 1000 - len(kept) {
				n.Content = append(n.Content, kept[0])
			}
			long, err := yaml.Marshal(&doc)
			assert.NilError(tb, err)
			n.Content = kept
			out[path] = string(long)
		}
		for i, below := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 {
				visit(below, path+"/"+n.Content[i-1].Value)
			} else if n.Kind != yaml.MappingNode {
				visit(below, path)
			}
		}
	}
	visit(&doc, "")
	return out
}

// readAny expects any content to be read or refused with complete problems, soon.
func readAny(t *testing.T, content []byte) {
	bounded.Read(t, func() { refuseOrRead(t, content) })
}

func refuseOrRead(t *testing.T, content []byte) {
	doc := strict.NewDocument("fuzz.yaml")
	c := parse(doc, content, under{})
	problems := doc.Problems()
	if c == nil && len(problems) == 0 {
		t.Error("no cluster and no problem")
	}
	checkComplete(t, problems)
	for line := range strings.SplitSeq(problems.Error(), "\n") {
		if len(problems) > 0 && !strings.HasPrefix(line, "fuzz.yaml:") {
			t.Errorf("a problem is not on one line: %q", line)
		}
	}
}
