//go:build unix

package file

import "syscall"

// nonBlocking has the opening of a pipe return without somebody who writes to it.
const nonBlocking = syscall.O_NONBLOCK
