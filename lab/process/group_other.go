//go:build !linux

package process

import "syscall"

// ownGroup puts a child into a process group of its own. Where the kernel has
// no parent-death signal, Reap clears up by the pid files at the next start.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
