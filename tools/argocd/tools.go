//go:build tools

// Package tools pins Argo CD and the commands it renders with, which are built
// by their own paths.
package tools

import (
	_ "github.com/argoproj/argo-cd/v3/cmd"
	_ "helm.sh/helm/v4/cmd/helm"
	_ "sigs.k8s.io/kustomize/kustomize/v5"
)
