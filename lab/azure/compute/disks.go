// Package compute is Azure's managed disks in the stand-in.
package compute

import (
	"regexp"
	"strings"
	"time"

	compute "github.com/pulumi/pulumi-azure-native-sdk/compute/v2/v20240302"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// DiskType is the type of managed disks.
const DiskType = "azure-native:compute/v20240302:Disk"

const namespace = "Microsoft.Compute"

// disk is what Resource Manager knows of disks. Names are by
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
var disk = arm.Kind{
	Token: DiskType, ARM: namespace + "/disks", Provider: namespace,
	Path:     "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.Compute/disks/{diskName}",
	Name:     regexp.MustCompile(`^[-\w.]{1,80}$`),
	NameRule: "The name can be up to 80 characters long, and may contain letters, numbers, '_', '-' or '.'.",
}

// Types are disks.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		DiskType: disk.Type(standin.Type{
			Constructor: compute.NewDisk,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"creationData", "location"},
			Put:      describe,
			// The words of https://github.com/cloud-barista/cb-spider/issues/1558, and the quota of
			// https://learn.microsoft.com/en-us/rest/api/compute/usage/list
			LimitExceeded: standin.Refusal{Code: "OperationNotAllowed", Status: 409, Message: "Operation could not be completed as it results in exceeding approved StandardSSDDiskCount quota."},
			Takes:         standin.Timing{Create: 3 * time.Second, Update: 3 * time.Second, Remove: 3 * time.Second},
		}),
	}
}

// largest size of a disk in GiB: https://learn.microsoft.com/en-us/azure/virtual-machines/disks-types
const largest = 65536

// describe refuses a disk that Azure does not make. Of sizes and kinds it publishes the limits,
// and no words. A disk that is full of somebody's data does not shrink:
// https://learn.microsoft.com/en-us/azure/virtual-machines/expand-disks
func describe(c *standin.Call) error {
	in, out := c.In(), c.Out()
	kind, size := in.Sub("sku").Str("name"), in.Integer("diskSizeGB")
	if kind == "" {
		kind = "Standard_LRS"
		out["sku"] = map[string]any{"name": kind}
	}
	if from := in.Sub("creationData").Str("createOption"); from != "Empty" {
		return c.Refusef("InvalidParameter", "The Azure stand-in makes empty disks only, and not by the createOption '%s'.", from)
	}
	if size < 1 || size > largest {
		return c.Refusef("InvalidParameter", "The value '%d' of parameter 'disk.diskSizeGB' is out of range. Value must be between '1' and '%d' inclusive.", size, largest)
	}
	if zones := in.List("zones"); len(zones) > 1 || strings.HasSuffix(kind, "_ZRS") && len(zones) > 0 {
		return c.Refusef("InvalidAvailabilityZone", "The disk '%s' of kind %s cannot be in the zones %s.", armid.NameOf(c.Record.ID), kind, strings.Join(zones, ", "))
	}
	if c.Old != nil && size < c.Old.Outputs.Integer("diskSizeGB") {
		return c.Refusef("InvalidParameter", "The disk '%s' cannot be made smaller.", armid.NameOf(c.Record.ID))
	}
	out.SetDefaults(standin.Props{
		"diskState": "Unattached", "publicNetworkAccess": "Enabled", "networkAccessPolicy": "AllowAll",
		"encryption": map[string]any{"type": "EncryptionAtRestWithPlatformKey"},
	})
	out["provisioningState"], out["diskSizeBytes"] = "Succeeded", float64(size)*(1<<30)
	out["sku"] = map[string]any{"name": kind, "tier": strings.Split(kind, "_")[0]}
	out["uniqueId"], out["timeCreated"] = arm.UUID(), c.Record.Created.UTC().Format(time.RFC3339)
	if c.Old != nil {
		out["uniqueId"] = c.Old.Outputs["uniqueId"]
	}
	return nil
}
