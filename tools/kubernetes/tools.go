//go:build tools

// Package tools pins the Flux controllers and kwok, which are built by their own paths.
package tools

import (
	_ "github.com/fluxcd/helm-controller"
	_ "github.com/fluxcd/kustomize-controller"
	_ "github.com/fluxcd/notification-controller"
	_ "github.com/fluxcd/source-controller"
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
