package addon

import "maps"

// linkerd's certificates are cert-manager's, and its trust anchor is spread by trust-manager:
// no key is in Git or in the state.
var _ = register(Addon{
	Name:            "linkerd",
	Summary:         "Secures traffic between pods of the mesh, and balances requests among them.",
	Namespace:       "linkerd",
	NamespaceLabels: linkerdLabels(),
	Stage:           Others,
	Requires:        []string{"cert-manager"},
}, definition[none]{})

// linkerdLabels are the labels that Linkerd's chart gives its namespace where the command makes
// it. Its webhooks leave out pods of its own by the second one, and their init container needs
// NET_ADMIN and NET_RAW, which the level baseline refuses:
// https://github.com/linkerd/linkerd2/blob/edge-26.8.3/charts/linkerd-control-plane/templates/namespace.yaml
func linkerdLabels() map[string]string {
	labels := map[string]string{
		"linkerd.io/is-control-plane":          "true",
		"config.linkerd.io/admission-webhooks": "disabled",
		"linkerd.io/control-plane-ns":          "linkerd",
	}
	maps.Copy(labels, podSecurity("privileged"))
	return labels
}
