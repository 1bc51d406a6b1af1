package config

import (
	"time"

	"tombolo/config/windows"
)

// WindowAt says whether the cluster may be changed at a moment. Without change windows it
// may at any time.
func (c *Cluster) WindowAt(at time.Time) windows.State { return windows.At(c.ChangeWindows, at) }

// Closed says, as a part of a sentence, that the cluster may not be changed at a moment
// and when it may; "" when it may.
func (c *Cluster) Closed(at time.Time) string { return windows.Closed(c.ChangeWindows, at) }
