package cloudmanager

// The schemas of specs: the names, types and values that there are in v2/api/dbforpostgresql/v1api20240801 of
// https://github.com/Azure/azure-service-operator, version 2.13.0. The API server drops, or refuses for whoever asks it
// to, what is not among them.
var (
	serverSpec = needing([]string{"location", "owner"}, map[string]any{
		"administratorLogin": text(), "administratorLoginPassword": keyOf(), "availabilityZone": text(),
		"authConfig": fieldsOf(map[string]any{"activeDirectoryAuth": switched(), "passwordAuth": switched(), "tenantId": text()}),
		"azureName":  named(3, 63, "^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*"),
		"backup":     fieldsOf(map[string]any{"backupRetentionDays": integer(), "geoRedundantBackup": switched()}),
		"createMode": text("Create", "Default", "GeoRestore", "PointInTimeRestore", "Replica", "ReviveDropped", "Update"),
		"highAvailability": fieldsOf(map[string]any{
			"mode": text("Disabled", "SameZone", "ZoneRedundant"), "standbyAvailabilityZone": text(),
		}),
		"location":          text(),
		"maintenanceWindow": fieldsOf(map[string]any{"customWindow": text(), "dayOfWeek": integer(), "startHour": integer(), "startMinute": integer()}),
		"network": fieldsOf(map[string]any{
			"delegatedSubnetResourceReference": reference(), "privateDnsZoneArmResourceReference": reference(), "publicNetworkAccess": switched(),
		}),
		"operatorSpec": operatorSpec("fullyQualifiedDomainName"), "owner": owner(),
		"sku": needing([]string{"name", "tier"}, map[string]any{"name": text(), "tier": text("Burstable", "GeneralPurpose", "MemoryOptimized")}),
		"storage": fieldsOf(map[string]any{
			"autoGrow": switched(), "iops": integer(), "storageSizeGB": integer(), "throughput": integer(), "type": text("PremiumV2_LRS", "Premium_LRS"),
			"tier": text("P1", "P10", "P15", "P2", "P20", "P3", "P30", "P4", "P40", "P50", "P6", "P60", "P70", "P80"),
		}),
		"tags":    map[string]any{"type": "object", "additionalProperties": text()},
		"version": text("11", "12", "13", "14", "15", "16"),
	})
	databaseSpec = needing([]string{"owner"}, map[string]any{
		"azureName": matching("^[-\\w\\._]+$"), "charset": matching("^[a-zA-Z]+\\w*$"), "collation": matching("^[a-zA-Z\\-]+([. ]|\\w)*$"),
		"operatorSpec": operatorSpec(), "owner": owner(),
	})
	firewallRuleSpec = needing([]string{"endIpAddress", "owner", "startIpAddress"}, map[string]any{
		"azureName": matching("^[-\\w\\._]+$"), "operatorSpec": operatorSpec(), "owner": owner(),
		"endIpAddress": matching(address), "startIpAddress": matching(address),
	})
)

const address = `^(([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])\.){3}([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])$`

// text is a text, of the values if there are any.
func text(values ...string) map[string]any {
	out := map[string]any{"type": "string"}
	if len(values) > 0 {
		all := make([]any, len(values))
		for i, value := range values {
			all[i] = value
		}
		out["enum"] = all
	}
	return out
}

func switched() map[string]any { return text("Disabled", "Enabled") }
func integer() map[string]any  { return map[string]any{"type": "integer"} }

func matching(pattern string) map[string]any {
	return map[string]any{"type": "string", "pattern": pattern}
}

func named(shortest, longest int64, pattern string) map[string]any {
	return map[string]any{"type": "string", "pattern": pattern, "minLength": shortest, "maxLength": longest}
}

func fieldsOf(fields map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": fields}
}

func needing(required []string, fields map[string]any) map[string]any {
	out, all := fieldsOf(fields), make([]any, len(required))
	for i, name := range required {
		all[i] = name
	}
	out["required"] = all
	return out
}

// keyOf is a key of a Secret or ConfigMap.
func keyOf() map[string]any {
	return needing([]string{"key", "name"}, map[string]any{"key": text(), "name": text()})
}

func owner() map[string]any { return fieldsOf(map[string]any{"armId": text(), "name": text()}) }

func reference() map[string]any {
	return fieldsOf(map[string]any{"armId": text(), "group": text(), "kind": text(), "name": text()})
}

// operatorSpec writes the fields as Secrets and as ConfigMaps.
func operatorSpec(fields ...string) map[string]any {
	expressions := map[string]any{
		"type": "array", "items": needing([]string{"name", "value"}, map[string]any{"name": text(), "key": text(), "value": text()}),
	}
	out := map[string]any{"configMapExpressions": expressions, "secretExpressions": expressions}
	if len(fields) > 0 {
		written := map[string]any{}
		for _, field := range fields {
			written[field] = keyOf()
		}
		out["configMaps"], out["secrets"] = fieldsOf(written), fieldsOf(written)
	}
	return fieldsOf(out)
}
