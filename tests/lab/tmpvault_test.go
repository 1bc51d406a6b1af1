//go:build lab

package lab

import "testing"

func TestTmpVault(t *testing.T) {
	s := systems{newProject(t), systemsInAWS()}
	inOrder(t, s, []step[systems]{
		{"up", func(s systems, t *testing.T) {
			s.must(t, "up", teams, "--yes", "--verify")
		}},
		{"vault", systems.inVault},
		{"destroy", systems.destroyed},
	})
}
