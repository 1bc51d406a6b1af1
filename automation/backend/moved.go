package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tombolo/automation/fault"
)

// RequireUnmoved is called right before an edited state is imported. It returns an
// error when somebody works on the stack, or has written its state since it was read:
// an import takes the place of what is there, whatever it is.
//
// `pulumi stack import` takes the stack's lock only for its write, and knows nothing of
// what was read before (ImportDeployment in Pulumi's backend/diy/backend.go, 3.250). The
// lock cannot be held for it, as it refuses to start under another's. So locks are
// looked at first, and then the state is read: an operation that began before that still
// has its lock, or has written what is read now; one that begins later has the lock when
// the import asks for it, which fails. What remains is an operation that begins and ends
// within the 0.3 to 0.5 s that the CLI takes to start.
func (b *Backend) RequireUnmoved(ctx context.Context, stack string, read *State) error {
	if err := b.ReleaseLocks(ctx, stack); err != nil {
		return err
	}
	now, err := b.State(ctx, stack)
	if err != nil {
		return err
	}
	if now == nil {
		return movedError(stack, "was removed by somebody else", "")
	}
	if sameDeployment(read.read, now.read) {
		return nil
	}
	then, at := read.Deployment.Manifest.Time, now.Deployment.Manifest.Time
	when := ""
	if !then.Equal(at) {
		when = " at " + at.UTC().Format(time.RFC3339)
	}
	return movedError(stack, "was written by somebody else"+when, " when nobody works on the stack any more")
}

func movedError(stack, what, when string) error {
	return &fault.Error{
		What:   fmt.Sprintf("the state of stack %s %s after it was read", stack, what),
		Remedy: "it was left as it is: run the same command again" + when,
	}
}

// sameDeployment compares deployments but for the spaces in them, which depend on who
// reads them.
func sameDeployment(one, other json.RawMessage) bool {
	var a, b bytes.Buffer
	if json.Compact(&a, one) != nil || json.Compact(&b, other) != nil {
		return bytes.Equal(one, other)
	}
	return bytes.Equal(a.Bytes(), b.Bytes())
}
