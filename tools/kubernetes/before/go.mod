// The Flux release before, whose install manifest tests upgrade from. Nothing of it is
// compiled.
module tombolo/tools/kubernetes/before

go 1.26

require (
	github.com/fluxcd/flux2/v2 v2.7.5
	github.com/fluxcd/helm-controller v1.4.3
	github.com/fluxcd/kustomize-controller v1.7.3
	github.com/fluxcd/source-controller v1.7.3
)
