// The Argo CD release before, whose install manifest tests upgrade from. Nothing of it is
// compiled.
module tombolo/tools/argocd/before

go 1.26

require github.com/argoproj/argo-cd/v3 v3.2.0
