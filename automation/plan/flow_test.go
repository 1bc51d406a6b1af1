package plan

import (
	"slices"
	"testing"

	"tombolo/automation/value"
)

func TestSources(t *testing.T) {
	key := func(object, key string) *Published { return &Published{Object: object, Key: key} }
	outputs := []Output{
		{Name: "clusterVersion", Before: "1.34", After: "1.35"},
		{Name: "clusterName", After: "blue"},
		{Name: "region", After: "eu-central-1"},
		{Name: "privateSubnetIds", Before: []any{"subnet-1", "subnet-2"}, After: []any{"subnet-3", "subnet-4"}},
		{Name: "token", Before: value.Masked, After: value.Masked},
		{Name: "vpcId", After: value.Unknown{}},
		{Name: "addonOutputs.karpenter/queue_name", After: value.Unknown{}},
	}
	for _, test := range []struct {
		name string
		diff Diff
		want []string
	}{
		{"the value", Diff{Before: "1.34", After: "1.35"}, []string{"clusterVersion"}},
		{"a text around the value", Diff{Before: "v1.34.2", After: "v1.35.1"}, []string{"clusterVersion"}},
		{"the new value where the old one was not", Diff{Before: "latest", After: "1.35"}, nil},
		{"all of a list", Diff{Before: "subnet-1,subnet-2", After: "subnet-3,subnet-4"}, []string{"privateSubnetIds"}},
		{"some of a list", Diff{Before: "subnet-1,subnet-2", After: "subnet-3"}, nil},
		{"what is new, by its key", Diff{After: "blue", Published: key("flux-system/infra-config", "cluster_name")}, []string{"clusterName"}},
		{"what is new, of another key", Diff{After: "blue", Published: key("flux-system/infra-config", "colour")}, nil},
		{"what is new, with a short text in it", Diff{After: "blueprint"}, nil},
		{"what is new, with a long text in it", Diff{After: "eu-central-1a"}, []string{"region"}},
		{"a secret", Diff{Before: value.Masked, After: value.Masked}, nil},
		{"unknown, by its key", Diff{After: value.Unknown{}, Published: key("flux-system/infra-config", "vpc_id")}, []string{"vpcId"}},
		{"unknown, of an addon", Diff{After: value.Unknown{}, Published: key("kube-system/karpenter-values", "values.yaml")}, []string{"addonOutputs.karpenter/queue_name"}},
		{"unknown, of something else", Diff{After: value.Unknown{}}, []string{"vpcId", "addonOutputs.karpenter/queue_name"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := sources(test.diff, outputs); !slices.Equal(got, test.want) {
				t.Errorf("%v follows %v, want %v", test.diff, got, test.want)
			}
		})
	}
	many := append(slices.Clone(outputs), Output{Name: "a", After: value.Unknown{}}, Output{Name: "b", After: value.Unknown{}})
	if got := sources(Diff{After: value.Unknown{}}, many); !slices.Equal(got, []string{Several}) {
		t.Errorf("of four unknown outputs it follows %v", got)
	}
}
