//go:build tools

// Package tools pins kwok, which is built by its own path.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
