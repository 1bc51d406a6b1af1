//go:build !unix

package file

const nonBlocking = 0
