package automation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/automation/backend"
	"tombolo/automation/backend/backendtest"
	"tombolo/automation/fault"
)

// protected is a stack with a resource that is protected.
func protected(stack string) apitype.DeploymentV3 {
	d := deployed(stack)
	d.Resources[len(d.Resources)-1].Protect = true
	return d
}

// isProtected says whether the resources of a stack are as protected made them.
func (b *bench) isProtected(stack string) bool {
	all := b.cli.states[stack].Resources
	return len(all) > 0 && all[len(all)-1].Protect
}

// TestStateMovedBeforeAnImport: finding 5. Another driver writes the state, or takes
// the lock, between the look at it and the import: the import does not come.
func TestStateMovedBeforeAnImport(t *testing.T) {
	t.Run("written", func(t *testing.T) {
		b := newBench(t)
		b.cli.states["demo-core"] = protected("demo-core")
		exports := 0
		theirs := protected("demo-core")
		theirs.Manifest.Time = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		b.cli.during = func(call string) {
			// State of core is read by the look at leftovers, by the recovery, and before the import.
			if call == "stack export demo-core" {
				if exports++; exports == 3 {
					b.cli.states["demo-core"] = theirs
				}
			}
		}
		_, err := b.Destroy(t.Context(), demo(), DestroyOptions{})
		var refused *fault.Error
		assert.Check(t, errors.As(err, &refused) && strings.Contains(err.Error(), "was written by somebody else at 2026-01-02T03:04:05Z"),
			"error is %T: %v", err, err)
		assert.DeepEqual(t, b.cli.states["demo-core"], theirs)
	})
	t.Run("locked", func(t *testing.T) {
		b := newBench(t)
		b.cli.states["demo-core"] = protected("demo-core")
		b.backend.Processes = backendtest.Table{77: {Name: "pulumi", Parent: 70}}
		b.cli.during = func(call string) {
			if call == "stack select demo-core" {
				backendtest.Lock(t, b.stateDir, "demo-core", lockOwner(t, 77))
			}
		}
		st, err := b.runner().Recovery(demo()).Recover(t.Context(), demo(), "core", nil)
		assert.NilError(t, err)
		s, err := b.runner().Recovery(demo()).Open(t.Context(), demo(), "core", nil)
		assert.NilError(t, err)
		backendtest.Lock(t, b.stateDir, "demo-core", lockOwner(t, 77))
		err = s.Import(t.Context(), st, apitype.UntypedDeployment{})
		var locked *backend.LockedError
		assert.Check(t, errors.As(err, &locked) && b.isProtected("demo-core"), "error is %T: %v", err, err)
	})
}

// TestProtectionIsPutBack: finding 7.
func TestProtectionIsPutBack(t *testing.T) {
	fails := failure{diagnostics: []apitype.DiagnosticEvent{{Severity: "error", Message: "DependencyViolation"}}}
	t.Run("after a failure", func(t *testing.T) {
		b := newBench(t)
		b.cli.states["demo-core"] = protected("demo-core")
		taken := false
		b.cli.fail["destroy demo-core"] = fails
		b.cli.during = func(call string) { taken = taken || call == "destroy demo-core" && !b.isProtected("demo-core") }
		_, err := b.Destroy(t.Context(), demo(), DestroyOptions{})
		assert.ErrorContains(t, err, "DependencyViolation")
		assert.Check(t, taken, "the protection was never taken off")
		assert.Check(t, b.isProtected("demo-core"), "the protection stays off")
		notes := strings.Join(b.seen.notes(), "\n")
		assert.Check(t, strings.Contains(notes, "1 resource is protected again"), "notes:\n%s", notes)
	})
	t.Run("after an interruption", func(t *testing.T) {
		b := newBench(t)
		b.cli.states["demo-core"] = protected("demo-core")
		ctx, cancel := context.WithCancel(t.Context())
		b.cli.during = func(call string) {
			if call == "destroy demo-core" {
				cancel()
			}
		}
		_, err := b.Destroy(ctx, demo(), DestroyOptions{})
		assert.ErrorIs(t, err, context.Canceled)
		assert.Check(t, b.isProtected("demo-core"), "the protection stays off")
	})
	t.Run("after a kill, by the next command", func(t *testing.T) {
		b := newBench(t)
		raw, err := backend.ParseState("demo-core", rawOf(protected("demo-core")))
		assert.NilError(t, err)
		edited, err := backend.WithUnprotected(raw, rawOf(deployed("demo-core")))
		assert.NilError(t, err)
		killed, err := backend.ParseState("demo-core", edited)
		assert.NilError(t, err)
		b.cli.states["demo-core"] = killed.Deployment
		assert.Check(t, !b.isProtected("demo-core"))
		st, err := b.runner().Recovery(demo()).Recover(t.Context(), demo(), "core", nil)
		assert.NilError(t, err)
		assert.Check(t, b.isProtected("demo-core") && !st.ListsUnprotected(), "the protection stays off: %v", st.Unprotected())
	})
}
