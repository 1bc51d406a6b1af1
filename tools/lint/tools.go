//go:build tools

// Package tools pins the linter, which is built by its own path.
package tools

import _ "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"
