package core

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/recorder"
	"tombolo/config"
)

func TestUnknownCloud(t *testing.T) {
	err := new(recorder.Recorder).Run("demo-core", func(ctx *pulumi.Context) error {
		return Run(ctx, &config.Cluster{Name: "demo", Cloud: config.Cloud{Provider: "acme"}}, nil, "")
	})
	if want := `core of demo: cloud provider "acme" is not known; use aws`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
