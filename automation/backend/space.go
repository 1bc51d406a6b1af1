package backend

import (
	"fmt"

	"tombolo/automation/fault"
)

// leastSpace is how many bytes must be free on the disk of a local backend before
// an operation starts. A save of a state takes three times its size for a moment,
// and up to 17 copies of it stay until the operation ends; a cluster's state has
// less than 1 MB.
const leastSpace = 64 << 20

// RequireSpace refuses an operation that may fill the disk of a local backend up.
// What cannot be measured is not refused.
func (b *Backend) RequireSpace() error {
	dir, ok := b.Directory()
	if !ok {
		return nil
	}
	measure := b.FreeSpace
	if measure == nil {
		measure = freeSpace
	}
	free, err := measure(dir)
	if err != nil || free >= leastSpace {
		return nil
	}
	return &fault.Error{
		What:   fmt.Sprintf("the disk of the state backend %s has %d MiB free, and %d are needed", dir, free>>20, leastSpace>>20),
		Remedy: "nothing was started: free space on it and run the same command again",
	}
}
