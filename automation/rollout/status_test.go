package rollout

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestStandingOf: the newest run that was to change a cluster counts.
func TestStandingOf(t *testing.T) {
	d := Journals{Dir: t.TempDir()}
	check := func(want map[string]string, gone string) {
		t.Helper()
		records, err := d.Records(0)
		assert.NilError(t, err)
		for cluster, status := range want {
			got := StandingOf(cluster, records)
			assert.Check(t, is.Equal(got, Standing{Known: len(records) > 0 && cluster != "d", Status: status, Destroyed: cluster == gone}), cluster)
		}
	}
	check(map[string]string{"a": ""}, "")
	recorded(t, d, "up", 0, []string{"a", "bb", "c"}, "bb")
	check(map[string]string{"a": "", "bb": StatusFailed, "c": StatusPending, "d": ""}, "")
	recorded(t, d, "destroy", 1, []string{"bb"})
	check(map[string]string{"a": "", "bb": "", "c": StatusPending}, "bb")
	recorded(t, d, "up", 2, []string{"c", "a"}, "c")
	check(map[string]string{"a": StatusPending, "bb": "", "c": StatusFailed}, "bb")
}
