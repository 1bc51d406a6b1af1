package config_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
)

func registered() *config.Cluster {
	return &config.Cluster{
		Name: "demo", Environment: "dev", Wave: 2,
		Labels:      map[string]string{"logging": "on", "environment": "overridden"},
		Annotations: map[string]string{"contact": "team platform", "vpc_id": "the cluster's own is published"},
		Values:      map[string]config.Value{"chart_repository": {Text: "http://charts.lab.test"}},
		Cloud:       config.Cloud{Provider: config.AWS},
		Addons:      addon.Selection{"aws-efs-csi-driver": nil, "promtail": nil},
	}
}

func TestRegistrationLabels(t *testing.T) {
	want := map[string]string{
		"logging": "on", "environment": "dev", "wave": "2", "tombolo/cluster": "demo",
		"addon-aws-efs-csi-driver": "on", "addon-promtail": "on",
	}
	assert.Check(t, is.DeepEqual(registered().RegistrationLabels(), want))
}

func TestRegistrationAnnotationKeys(t *testing.T) {
	got := registered().RegistrationAnnotationKeys()
	want := append(names.InfraKeyNames(names.AWSCloud), "tombolo/values", "tombolo/repository", "tombolo/revision", "contact", "chart_repository", "efs_file_system_id")
	slices.Sort(want)
	assert.Check(t, is.DeepEqual(got, want))
}
