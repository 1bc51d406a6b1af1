//go:build !windows

package rollout

import (
	"fmt"
	"os"
	"syscall"
)

// lock marks the journal of a run that goes on. The mark ends with the process,
// however that ends.
func lock(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("lock the journal %s: %w", file.Name(), err)
	}
	return nil
}
