package trees

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestASeedRepeats: the same seed makes the same trees, also when more are made; another makes others.
func TestASeedRepeats(t *testing.T) {
	first, more := Flux(7, 30), Flux(7, 60)
	assert.DeepEqual(t, first, more[:30])
	same := 0
	for i, other := range Flux(8, 30) {
		if other.String() == first[i].String() {
			same++
		}
	}
	assert.Check(t, same < 3, "%d trees of 30 are those of another seed", same)
}

// TestEachFaultOccurs: faults are in two of three trees, and each of its kind changes something.
func TestEachFaultOccurs(t *testing.T) {
	count := map[string]int{}
	for i, tree := range Flux(1, 200) {
		count[tree.Fault]++
		assert.Check(t, is.Equal(tree.Fault == "", i%3 == 0), tree.Name)
		for name := range tree.Files {
			assert.Check(t, strings.HasPrefix(name, tree.Name+"/"), name)
		}
	}
	for _, fault := range Faults() {
		assert.Check(t, count[fault] > 0, "no tree has it: %s", fault)
	}
}
