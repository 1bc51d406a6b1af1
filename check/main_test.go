package check

import (
	"os"
	"testing"

	"tombolo/check/finding"
	"tombolo/check/tree"
)

// TestMain has rules checked in this process: the trees of these tests are their own.
func TestMain(m *testing.M) {
	checking = func(files *tree.Files, o order) (finding.List, error) {
		return checkFiles(files, o.Name, o.Clusters, o.Others), nil
	}
	os.Exit(m.Run())
}

// sealed has trees checked as users have them checked, in the process apart.
func sealed(t testing.TB) {
	t.Helper()
	here := checking
	checking = checker.check
	t.Cleanup(func() { checking = here })
}
