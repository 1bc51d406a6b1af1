// Package ec2 is EC2 in the stand-in: networks, and the machines, disks and
// interfaces in them.
package ec2

import (
	"maps"

	"tombolo/lab/standin"
)

// Types are networks, and what is in them.
func Types(n Neighbours) map[string]*standin.Type {
	types := n.networkTypes()
	for _, more := range []map[string]*standin.Type{
		routingTypes(), endpointTypes(), flowLogTypes(), firewallTypes(), computeTypes(), taggingTypes(), diskTypes(), instanceTypes(), interfaceTypes(),
	} {
		maps.Copy(types, more)
	}
	return types
}

// Functions look up networks, and what is in them.
func Functions(n Neighbours) map[string]*standin.Function {
	functions := n.interfaceFunctions()
	maps.Copy(functions, networkFunctions())
	maps.Copy(functions, diskFunctions())
	maps.Copy(functions, instanceFunctions())
	return functions
}
