package config

import (
	"os"
	"testing"
	"time"
)

// TestMain has the tests judge their files by one day: no version of Kubernetes from 1.34 on
// has a warning then.
func TestMain(m *testing.M) {
	Today = func() time.Time { return time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC) }
	os.Exit(m.Run())
}
