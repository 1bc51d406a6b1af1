//go:build lab

package automation

import (
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/teardown"
)

// TestOneNameInTwoAccounts: a cluster is destroyed with its leftovers in one account, and
// the one of its name in another account stays as it is. Neither is in the other's way.
func TestOneNameInTwoAccounts(t *testing.T) {
	first, second := newFaultBench(t), newFaultBenchOf(t, "444455556666")
	_, err := first.Up(t.Context(), demo(), UpOptions{})
	assert.NilError(t, err)
	other := demo()
	other.Cloud.Account = "444455556666"
	_, err = second.Up(t.Context(), other, UpOptions{})
	assert.NilError(t, err)
	made := first.made()
	_, err = second.Destroy(t.Context(), other, DestroyOptions{Leftovers: teardown.DeleteLeftovers})
	assert.NilError(t, err)
	assert.DeepEqual(t, first.made(), made)
	if left := second.made(); len(left) > 0 {
		t.Errorf("left in the second account: %v", left)
	}
	first.converged()
}
