package kube

import (
	"context"

	"k8s.io/apimachinery/pkg/util/wait"
)

// WaitIsOver says that a wait has ended because its own time has passed, and not that of the context.
func WaitIsOver(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && wait.Interrupted(err)
}
