package ec2

import (
	"fmt"
	"slices"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ebs"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/kms"
	"tombolo/lab/standin"
)

// The types of EBS.
const (
	VolumeType   = "aws:ebs/volume:Volume"
	SnapshotType = "aws:ebs/snapshot:Snapshot"
)

func diskTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		VolumeType: {
			Constructor: ebs.NewVolume,
			Noun:        "EBS Volume",
			API:         standin.API{Service: "EC2", Create: "CreateVolume", Update: "ModifyVolume", Remove: "DeleteVolume"},
			// internal/service/ec2/ebs_volume.go
			ForceNew: []string{"availabilityZone", "encrypted", "kmsKeyId", "multiAttachEnabled", "outpostArn", "snapshotId"},
			Defaults: standin.Props{"finalSnapshot": false},
			References: []standin.Reference{{Path: []string{"snapshotId"}, To: SnapshotType, Weak: true, Missing: standin.Refusal{
				Code: "InvalidSnapshot.NotFound", Message: "The snapshot '%s' does not exist.",
			}}},
			Validate: func(in standin.Props) []standin.Problem {
				return standin.OneOf(in, "type", "gp2", "gp3", "io1", "io2", "sc1", "st1", "standard")
			},
			Create: createVolume,
			Takes:  standin.Timing{Create: 5 * time.Second, Update: 10 * time.Second, Remove: 5 * time.Second},
		},
		SnapshotType: {
			Constructor: ebs.NewSnapshot,
			Noun:        "EBS Snapshot",
			API:         standin.API{Service: "EC2", Create: "CreateSnapshot", Update: "ModifySnapshotTier", Remove: "DeleteSnapshot"},
			// internal/service/ec2/ebs_snapshot.go
			ForceNew: []string{"description", "outpostArn", "volumeId"},
			// A snapshot outlives its volume.
			References: []standin.Reference{{Path: []string{"volumeId"}, To: VolumeType, Weak: true, Missing: standin.Refusal{
				Code: "InvalidVolume.NotFound", Message: "The volume '%s' does not exist.",
			}}},
			Create: createSnapshot,
			Takes:  standin.Timing{Create: 30 * time.Second, Remove: time.Second},
		},
	}
}

func createVolume(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	zone := in.Str("availabilityZone")
	if !slices.Contains(account.Zones(c.Region), zone) {
		return "", c.Refusef("InvalidZone.NotFound", "The zone '%s' does not exist.", zone)
	}
	if !in.Has("size") && !in.Has("snapshotId") {
		return "", c.Refusef("MissingParameter", "The request must contain the parameter size/snapshot")
	}
	if size := in.Integer("size"); in.Has("size") && (size < 1 || size > 65536) {
		return "", c.Refusef("InvalidParameterValue", "Volume of %dGiB is outside of the allowed range of 1GiB to 65536GiB", size)
	}
	if key := in.Str("kmsKeyId"); key != "" {
		if _, err := kms.UsableKey(c, key); err != nil {
			return "", err
		}
	}
	if snapshot := c.Find(SnapshotType, in.Str("snapshotId")); snapshot != nil {
		out.SetDefault("size", snapshot.Outputs["volumeSize"])
	}
	id := account.NewID("vol")
	out["arn"] = account.ARN(c, "ec2", "volume/"+id)
	out["createTime"] = c.Record.Created.UTC().Format(time.RFC3339)
	out.SetDefault("type", "gp2") // EC2's default, not the console's
	out.SetDefault("iops", 100)
	out.SetDefault("throughput", 0)
	for _, flag := range []string{"encrypted", "multiAttachEnabled"} {
		out.SetDefault(flag, false)
	}
	return id, nil
}

func createSnapshot(c *standin.Call) (string, error) {
	id, out := account.NewID("snap"), c.Out()
	out["arn"] = fmt.Sprintf("arn:%s:ec2:%s::snapshot/%s", account.Partition(c.Region), c.Region, id)
	out["ownerId"] = c.Cloud.Account
	volume := c.Find(VolumeType, c.In().Str("volumeId"))
	out["volumeSize"], out["encrypted"] = volume.Outputs["size"], volume.Outputs["encrypted"]
	out.SetDefault("description", "")
	out.SetDefault("storageTier", "standard")
	return id, nil
}

func diskFunctions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:ebs/getEbsVolumes:getEbsVolumes": {SDK: ebs.GetEbsVolumes, Run: func(q *standin.Query) (standin.Props, error) {
			return standin.Props{"id": q.Region, "ids": IDs(q, VolumeType)}, nil
		}},
		"aws:ebs/getVolume:getVolume": {SDK: ebs.LookupVolume, Run: func(q *standin.Query) (standin.Props, error) {
			volume, err := Found(q, VolumeType, "EC2 EBS Volume", nil)
			if err == nil {
				volume["volumeId"], volume["volumeType"] = volume["id"], volume["type"]
			}
			return volume, err
		}},
	}
}
