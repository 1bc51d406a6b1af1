package automation

import (
	"context"
	"fmt"

	"tombolo/config"
)

// fetchManager owns the annotation by which an engine is asked to fetch, and
// nothing else of the object.
const fetchManager = "tombolo-verify"

// fetchNow asks the engine to look at the platform's repository now: what was
// pushed a moment ago is what should be verified. Who may not ask gets a note,
// and what the engine has fetched by itself.
func (d *Driver) fetchNow(ctx context.Context, c *config.Cluster, e engine, k cluster) {
	if err := e.fetch(ctx, k, d.now()); err != nil && ctx.Err() == nil {
		d.opts.Observer.Note(c.Name, fmt.Sprintf("verifying what %s fetched last, as it cannot be asked to fetch now: %v", e.name(), err))
	}
}
