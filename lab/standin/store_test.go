package standin

import (
	"os"
	"syscall"
	"testing"
)

func TestDiskFullIsNamed(t *testing.T) {
	err := explainDisk(&os.PathError{Op: "write", Path: "x.json", Err: syscall.ENOSPC})
	if got := err.Error(); got != "the disk is full: write x.json: no space left on device; free some space and run again" {
		t.Error(got)
	}
}
