package programs

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/tests/samples"
)

// everyAddon is the sample cluster with every addon on.
func everyAddon(t *testing.T) *config.Cluster {
	t.Helper()
	key, certificate := samples.SealingKey()
	t.Setenv("TOMBOLO_GIT_TOKEN", "hunter2")
	t.Setenv("TOMBOLO_SEALING_KEY", key)
	t.Setenv("TOMBOLO_SEALING_CERTIFICATE", certificate)
	t.Setenv("TOMBOLO_CHANNEL", "https://hooks.example.com/hunter2")
	c, err := config.Load("../../clusters/full.yaml")
	assert.NilError(t, err)
	c.GitOps.Distribution.Path = "../stacks/programs/testdata/clusters/install.yaml"
	return c
}

// withZone answers like Route 53, too, for the zone that the sample names.
func withZone(r *recorder.Recorder, name string) *recorder.Recorder {
	r.Invokes["aws:route53/getZone:getZone"] = func(args resource.PropertyMap) (resource.PropertyMap, error) {
		return resource.NewPropertyMapFromMap(map[string]any{
			"id": args["zoneId"].StringValue(), "zoneId": args["zoneId"].StringValue(), "name": name, "privateZone": false,
			"arn": "arn:aws:route53:::hostedzone/Z1", "callerReference": "x", "comment": "", "nameServers": []any{}, "primaryNameServer": "ns",
			"resourceRecordSetCount": 2, "tags": map[string]any{},
		}), nil
	}
	return r
}

func TestCoreMakesWhatAddonsNeed(t *testing.T) {
	c := everyAddon(t)
	r := withZone(account(c.Cloud.Account), "lab.test")
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	assert.Check(t, is.Len(r.Problems(), 0))
	for typ, want := range map[string]int{
		"aws:sqs/queue:Queue": 1, "aws:cloudwatch/eventRule:EventRule": 5, "aws:acm/certificate:Certificate": 1,
		"aws:s3/bucketV2:BucketV2": 1, "aws:efs/fileSystem:FileSystem": 1, "aws:efs/mountTarget:MountTarget": 2,
		"aws:iam/instanceProfile:InstanceProfile": 1, "aws:ec2/tag:Tag": 1,
	} {
		if got := len(r.OfType(typ)); got != want {
			t.Errorf("%d of %s, expected %d", got, typ, want)
		}
	}
	for _, subnet := range r.OfType("aws:ec2/subnet:Subnet") {
		want := ""
		if strings.Contains(subnet.Name, "private") {
			want = "full"
		}
		if got := subnet.String(`tags["karpenter.sh/discovery"]`); got != want {
			t.Errorf("%s has the discovery tag %q, expected %q", subnet.Name, got, want)
		}
	}
}

func TestCoreRefusesAZoneOfAnotherName(t *testing.T) {
	c := everyAddon(t)
	err := run(t, withZone(account(c.Cloud.Account), "example.org"), c, stacks.Core, Options{}, recorder.Preview)
	assert.Check(t, is.ErrorContains(err, "hosted zone Z01234567LABTEST00000 is example.org, not lab.test"))
}

// TestAnAddonAddsTwoObjects keeps bootstrap small: a namespace and a ConfigMap
// for each addon, and no more.
func TestAnAddonAddsTwoObjects(t *testing.T) {
	c := everyAddon(t)
	objects := func() []string {
		r := &recorder.Recorder{}
		assert.NilError(t, run(t, r, c, stacks.Bootstrap, Options{Placeholders: true}, recorder.Preview))
		var names []string
		for _, res := range r.All() {
			if strings.HasPrefix(res.Type, "kubernetes:core/v1:") {
				names = append(names, res.Type+" "+res.Name)
			}
		}
		return names
	}
	with, addons := objects(), len(c.Addons)
	for _, want := range []string{"kubernetes:core/v1:ConfigMap full-addon-karpenter", "kubernetes:core/v1:Namespace full-external-dns"} {
		assert.Check(t, slices.Contains(with, want), "no %s among\n%s", want, strings.Join(with, "\n"))
	}
	c.Addons = nil
	if without := objects(); len(with) <= len(without) || len(with) > len(without)+2*addons {
		t.Errorf("%d addons make %d objects of %d", addons, len(with), len(without))
	}
}
