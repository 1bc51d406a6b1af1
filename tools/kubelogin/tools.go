//go:build tools

// Package tools pins kubelogin, which is built by its own path.
package tools

import _ "github.com/Azure/kubelogin"
