package trees

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
)

// TestASeedRepeats: the same seed makes the same trees, also when more are made; another makes others.
func TestASeedRepeats(t *testing.T) {
	for _, engine := range both {
		first, more := Make(engine, 7, 30), Make(engine, 7, 60)
		assert.DeepEqual(t, first, more[:30])
		same := 0
		for i, other := range Make(engine, 8, 30) {
			if other.String() == first[i].String() {
				same++
			}
		}
		assert.Check(t, same < 3, "%d trees of 30 are those of another seed", same)
	}
}

// TestEachFaultOccurs: faults are in two of three trees, and each of its kind changes something.
func TestEachFaultOccurs(t *testing.T) {
	for _, engine := range both {
		count := map[string]int{}
		for i, tree := range Make(engine, 1, 200) {
			count[tree.Fault]++
			assert.Check(t, is.Equal(tree.Fault == "", i%3 == 0), tree.Name)
			for name := range tree.Files {
				assert.Check(t, strings.HasPrefix(name, tree.Name+"/"), name)
			}
		}
		for _, fault := range Faults() {
			assert.Check(t, count[fault] > 0, "no tree for %s has it: %s", engine, fault)
		}
	}
}

// TestTheGuideHasTheTable: the guide shows what check does not follow as the tests excuse it.
func TestTheGuideHasTheTable(t *testing.T) {
	const page, begin, end = "../../docs/guide/tree.md", "<!-- The table is tests/trees/unfollowed.go. -->\n", "<!-- The table ends. -->\n"
	text, err := os.ReadFile(page)
	assert.NilError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	has, after, ends := strings.Cut(rest, end)
	assert.Assert(t, found && ends, "%s has no lines around its table", page)
	if golden.FlagUpdate() {
		assert.NilError(t, os.WriteFile(page, []byte(before+begin+Table()+end+after), 0o644)) //nolint:gosec // a page
		return
	}
	assert.Check(t, is.Equal(has, Table()), "run go test ./tests/trees -update")
}

// TestTheCorpusIsRead: the trees of the corpus have files below their names.
func TestTheCorpusIsRead(t *testing.T) {
	for _, engine := range both {
		known, err := Known(engine)
		assert.NilError(t, err)
		assert.Check(t, len(known) >= 7, "%d trees", len(known))
		for _, tree := range known {
			assert.Check(t, tree.Where != "" && len(tree.Files) > 0, tree.Name)
		}
	}
}
