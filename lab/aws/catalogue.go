package aws

import (
	"fmt"
	"maps"
)

// catalogue lists the types and functions that the stand-in knows. A type is
// added by an entry in its service's file.
func catalogue() (map[string]*resourceType, map[string]*function, error) {
	types := map[string]*resourceType{}
	for _, service := range []map[string]*resourceType{
		networkTypes(), routingTypes(), endpointTypes(), firewallTypes(), computeTypes(),
		iamTypes(), oidcTypes(), eksClusterTypes(), eksNodeTypes(), eksAddonTypes(), eksAccessTypes(),
		kmsTypes(), logTypes(), taggingTypes(), queueTypes(), eventTypes(), dnsTypes(), certificateTypes(),
		fileSystemTypes(), bucketTypes(), loadBalancingTypes(), diskTypes(), instanceTypes(), interfaceTypes(),
	} {
		maps.Copy(types, service)
	}
	for token, typ := range types {
		var err error
		if typ.schema, err = resourceSchema(typ.constructor); err != nil {
			return nil, nil, fmt.Errorf("derive the schema of %s: %w", token, err)
		}
		typ.token = token
	}
	functions := map[string]*function{}
	for _, service := range []map[string]*function{
		accountFunctions(), networkFunctions(), interfaceFunctions(), iamFunctions(), eksFunctions(), taggingFunctions(), dnsFunctions(), quotaFunctions(),
		loadBalancingFunctions(), diskFunctions(), instanceFunctions(), logFunctions(),
	} {
		maps.Copy(functions, service)
	}
	for _, f := range functions {
		f.schema = functionSchema(f.sdk)
	}
	return types, functions, nil
}
