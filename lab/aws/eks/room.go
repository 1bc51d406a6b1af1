// Package eks is Elastic Kubernetes Service in the stand-in. Its clusters are
// real control planes.
package eks

import (
	"maps"

	"tombolo/lab/standin"
)

// Types are clusters, their nodes and addons, and the access to them.
func Types() map[string]*standin.Type {
	types := eksClusterTypes()
	maps.Copy(types, eksNodeTypes())
	maps.Copy(types, eksAddonTypes())
	maps.Copy(types, eksAccessTypes())
	maps.Copy(types, eksIdentityProviderTypes())
	return types
}
