// Package kubeversion reads versions of Kubernetes.
package kubeversion

import "strings"

// Minor is a version without its patch, major.minor, such as 1.35 of 1.35.2; "" of "".
func Minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
