//go:build tools

// Package tools pins what is built by its own path.
package tools

import _ "github.com/bitnami/sealed-secrets/cmd/kubeseal"
