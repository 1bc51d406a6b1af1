package handoff

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

func TestPredict(t *testing.T) {
	err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		had, _ := sample(false)
		h, err := Predict(ctx, had, map[string]any{
			"clusterVersion":   "1.36",
			"vpcId":            plugin.UnknownStringValue,
			"privateSubnetIds": []any{"subnet-1", plugin.UnknownStringValue},
			"publicSubnetIds":  []any{"subnet-2"},
			"addonOutputs":     map[string]any{"karpenter/role_arn": plugin.UnknownStringValue, "external-dns/role_arn": "arn:dns"},
			"serviceRoleArns":  map[string]any{"new": plugin.UnknownStringValue, "old": "arn:old"},
			"somebodyElses":    "is not looked at",
		})
		if err != nil {
			return err
		}
		for _, test := range []struct {
			name string
			got  pulumi.Output
			want any // nil is unknown
		}{
			{"told", h.ClusterVersion, "1.36"},
			{"told to be unknown", h.AWS.VPCID, nil},
			{"unknown in part", h.AWS.PrivateSubnetIDs, nil},
			{"a list", h.AWS.PublicSubnetIDs, []string{"subnet-2"}},
			{"not told", h.Region, "region"},
			{"a map that is unknown in part", h.AddonOutputs, nil},
			{"an addon's part that is unknown", entriesFor(h, "karpenter"), nil},
			{"an addon's part", entriesFor(h, "external-dns"), map[string]string{"role_arn": "arn:dns"}},
			{"an addon's part that is empty", entriesFor(h, "reloader"), map[string]string{}},
			{"a service's role", h.ServiceIdentity("old"), "arn:old"},
			{"a service's role that is unknown", h.ServiceIdentity("new"), nil},
			{"a service without a role", h.ServiceIdentity("none"), ""},
		} {
			value, known, _, err := await(ctx, test.got)
			if err != nil || known != (test.want != nil) || known && !reflect.DeepEqual(value, test.want) {
				t.Errorf("%s: got %v (known %t, %v), want %v", test.name, value, known, err, test.want)
			}
		}
		return nil
	}, recorder.Preview)
	assert.NilError(t, err)
}

func entriesFor(h Handoff, addon string) pulumi.Output {
	entries, _ := h.AddonEntries(addon)
	return entries.ToStringMapOutput()
}

// TestOf: without a program, what is missing is empty, and a text may stand for a list.
func TestOf(t *testing.T) {
	h, err := Of("aws", map[string]any{
		"clusterVersion": "1.36", "privateSubnetIds": "unknown", "publicSubnetIds": []any{"subnet-2"},
		"addonOutputs": map[string]any{"karpenter/role_arn": "arn:k"}, "serviceRoleArns": map[string]any{"old": "arn:old"},
	})
	assert.NilError(t, err)
	for _, test := range []struct {
		got  pulumi.Output
		want any
	}{
		{h.ClusterVersion, "1.36"},
		{h.Region, ""},
		{h.AWS.PrivateSubnetIDs, []string{"unknown"}},
		{h.AWS.PublicSubnetIDs, []string{"subnet-2"}},
		{entriesFor(h, "karpenter"), map[string]string{"role_arn": "arn:k"}},
		{h.ServiceIdentity("old"), "arn:old"},
		{h.ServiceIdentity("new"), ""},
	} {
		found, err := internals.UnsafeAwaitOutput(t.Context(), test.got)
		assert.NilError(t, err)
		assert.DeepEqual(t, found.Value, test.want)
	}
	_, err = Of("aws", map[string]any{"clusterVersion": 1.36})
	assert.Error(t, err, "read hand-off: output clusterVersion of stack core is float64, expected string: run up for core again")
}

func TestPredictedCannotBeApplied(t *testing.T) {
	err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		h, _ := sample(false)
		if _, err := Predict(ctx, h, nil); err != nil {
			return err
		}
		_, err := Predict(ctx, h, map[string]any{"vpcId": "vpc-1"})
		return err
	})
	want := "import hand-off: what a preview of core predicts cannot be applied: deploy core first, then run on its outputs"
	assert.Check(t, is.ErrorContains(err, want))
}

func TestPredictOfAnotherType(t *testing.T) {
	err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		h, _ := sample(false)
		_, err := Predict(ctx, h, map[string]any{"vpcId": 1.0})
		return err
	}, recorder.Preview)
	assert.Check(t, is.ErrorContains(err, "import what a preview of core predicts: output vpcId of stack core is float64, expected string"))
}

// TestPredictedByAnEarlierVersion: a preview goes on with what is predicted; without
// that, and in an up, the earlier version is refused.
func TestPredictedByAnEarlierVersion(t *testing.T) {
	older := resource.PropertyMap{versionKey: resource.NewProperty(float64(SchemaVersion - 1)), "vpcId": resource.NewProperty("vpc-1")}
	told := map[string]any{versionKey: float64(SchemaVersion), "vpcId": "vpc-2", "region": plugin.UnknownStringValue}
	refused := fmt.Sprintf("stack demo-core has hand-off version %d, this tombolo needs %d", SchemaVersion-1, SchemaVersion)
	for _, test := range []struct {
		name string
		told map[string]any
		mode []pulumi.RunOption
		want string
	}{
		{"a preview", told, []pulumi.RunOption{recorder.Preview}, ""},
		{"a preview that is told nothing", nil, []pulumi.RunOption{recorder.Preview}, refused},
		{"an up", told, nil, "placeholders stand for outputs"},
		{"an up that is told nothing", nil, nil, refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := core(older).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
				h, err := ImportPredicted(ctx, "demo-core", "aws", false, test.told)
				if err != nil {
					return err
				}
				if vpc, known, _, err := await(ctx, h.AWS.VPCID); !known || err != nil || vpc != "vpc-2" {
					t.Errorf("the VPC is %v (known %t), error %v", vpc, known, err)
				}
				for _, o := range []pulumi.Output{h.Region, h.ClusterName} {
					if _, known, _, err := await(ctx, o); known || err != nil {
						t.Errorf("what was not told is known, error %v", err)
					}
				}
				return nil
			}, test.mode...)
			assert.Check(t, (err == nil) == (test.want == "") && strings.Contains(fmt.Sprint(err), test.want), "error %v, want %q", err, test.want)
		})
	}
}
