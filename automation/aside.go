package automation

import (
	"context"
	"fmt"
	"os"

	"tombolo/config"
	"tombolo/stacks"
)

// A stack that does not exist yet is previewed in a backend that is thrown away:
// the preview of a pull request has a role that may read the state, and no more.

// standalone says that the program asks no other stack of the backend.
func standalone(k stacks.Kind, o stacks.Options) bool { return k == stacks.Core || o.Placeholders }

// previewAside previews a stack that does not exist.
func (d *Driver) previewAside(ctx context.Context, c *config.Cluster, k stacks.Kind,
	o PreviewOptions, so stacks.Options,
) (StackResult, error) {
	name := stacks.Name(c.Name, k)
	dir, err := os.MkdirTemp("", "tombolo-preview-")
	if err != nil {
		return StackResult{}, fmt.Errorf("make directory to preview stack %s: %w", name, err)
	}
	defer os.RemoveAll(dir)
	at, err := d.pulumi.Aside(dir, name)
	if err != nil {
		return StackResult{}, fmt.Errorf("prepare a backend to preview stack %s: %w", name, err)
	}
	s, err := d.openAt(ctx, at, c, k, so, false)
	if err != nil {
		return StackResult{}, err
	}
	return s.preview(ctx, o, so)
}
