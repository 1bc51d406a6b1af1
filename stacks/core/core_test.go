package core

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
)

func TestUnknownCloud(t *testing.T) {
	err := new(recorder.Recorder).Run("demo-core", func(ctx *pulumi.Context) error {
		return Run(ctx, &config.Cluster{Name: "demo", Cloud: config.Cloud{Provider: "acme"}}, nil, "")
	})
	assert.Check(t, is.ErrorContains(err, `core of demo: cloud provider "acme" is not known; use aws or azure`))
}
