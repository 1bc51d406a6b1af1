//go:build !windows

package pulumicli

import (
	"os/exec"
	"syscall"

	"tombolo/automation/process"
)

func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killTree takes a process and what it started. The CLI gives each plugin a
// group of its own, so its own group is not all of it: a provider left alone
// would go on with its calls.
func killTree(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGSTOP) // it starts nothing while its children are listed
	children := process.Below(pid)
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	for _, child := range children {
		_ = syscall.Kill(-child, syscall.SIGKILL)
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
}
