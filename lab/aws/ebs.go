package aws

import (
	"fmt"
	"slices"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ebs"
)

const (
	volumeType   = "aws:ebs/volume:Volume"
	snapshotType = "aws:ebs/snapshot:Snapshot"
)

func diskTypes() map[string]*resourceType {
	return map[string]*resourceType{
		volumeType: {
			constructor: ebs.NewVolume,
			noun:        "EBS Volume",
			api:         api{service: "EC2", create: "CreateVolume", update: "ModifyVolume", remove: "DeleteVolume"},
			// internal/service/ec2/ebs_volume.go
			forceNew: []string{"availabilityZone", "encrypted", "kmsKeyId", "multiAttachEnabled", "outpostArn", "snapshotId"},
			defaults: props{"finalSnapshot": false},
			references: []reference{{path: []string{"snapshotId"}, to: snapshotType, weak: true, missing: refusal{
				code: "InvalidSnapshot.NotFound", message: "The snapshot '%s' does not exist.",
			}}},
			validate: func(in props) []problem {
				return oneOf(in, "type", "gp2", "gp3", "io1", "io2", "sc1", "st1", "standard")
			},
			create: createVolume,
			takes:  timing{create: 5 * time.Second, update: 10 * time.Second, remove: 5 * time.Second},
		},
		snapshotType: {
			constructor: ebs.NewSnapshot,
			noun:        "EBS Snapshot",
			api:         api{service: "EC2", create: "CreateSnapshot", update: "ModifySnapshotTier", remove: "DeleteSnapshot"},
			// internal/service/ec2/ebs_snapshot.go
			forceNew: []string{"description", "outpostArn", "volumeId"},
			// A snapshot outlives its volume.
			references: []reference{{path: []string{"volumeId"}, to: volumeType, weak: true, missing: refusal{
				code: "InvalidVolume.NotFound", message: "The volume '%s' does not exist.",
			}}},
			create: createSnapshot,
			takes:  timing{create: 30 * time.Second, remove: time.Second},
		},
	}
}

func createVolume(c *call) (string, error) {
	in, out := c.in(), c.out()
	zone := in.str("availabilityZone")
	if !slices.Contains(zones(c.region), zone) {
		return "", c.refusef("InvalidZone.NotFound", "The zone '%s' does not exist.", zone)
	}
	if !in.has("size") && !in.has("snapshotId") {
		return "", c.refusef("MissingParameter", "The request must contain the parameter size/snapshot")
	}
	if size := in.integer("size"); in.has("size") && (size < 1 || size > 65536) {
		return "", c.refusef("InvalidParameterValue", "Volume of %dGiB is outside of the allowed range of 1GiB to 65536GiB", size)
	}
	if key := in.str("kmsKeyId"); key != "" {
		if _, err := c.usableKey(key); err != nil {
			return "", err
		}
	}
	if snapshot := c.find(snapshotType, in.str("snapshotId")); snapshot != nil {
		out.setDefault("size", snapshot.Outputs["volumeSize"])
	}
	id := newID("vol")
	out["arn"] = c.arn("ec2", "volume/"+id)
	out["createTime"] = c.r.Created.UTC().Format(time.RFC3339)
	out.setDefault("type", "gp2") // EC2's default, not the console's
	out.setDefault("iops", 100)
	out.setDefault("throughput", 0)
	for _, flag := range []string{"encrypted", "multiAttachEnabled"} {
		out.setDefault(flag, false)
	}
	return id, nil
}

func createSnapshot(c *call) (string, error) {
	id, out := newID("snap"), c.out()
	out["arn"] = fmt.Sprintf("arn:%s:ec2:%s::snapshot/%s", partition(c.region), c.region, id)
	out["ownerId"] = c.cloud.options.Account
	volume := c.find(volumeType, c.in().str("volumeId"))
	out["volumeSize"], out["encrypted"] = volume.Outputs["size"], volume.Outputs["encrypted"]
	out.setDefault("description", "")
	out.setDefault("storageTier", "standard")
	return id, nil
}

func diskFunctions() map[string]*function {
	return map[string]*function{
		"aws:ebs/getEbsVolumes:getEbsVolumes": {sdk: ebs.GetEbsVolumes, run: func(q *query) (props, error) {
			ids := []any{}
			for r := range q.cloud.each(volumeType, q.region) {
				if q.matches(r) {
					ids = append(ids, r.ID)
				}
			}
			return props{"id": q.region, "ids": ids}, nil
		}},
		"aws:ebs/getVolume:getVolume": {sdk: ebs.LookupVolume, run: func(q *query) (props, error) {
			r, err := q.one(volumeType, "EC2 EBS Volume")
			if err != nil {
				return nil, err
			}
			return merged(withID(r), props{"volumeId": r.ID, "volumeType": r.Outputs["type"]}), nil
		}},
	}
}
