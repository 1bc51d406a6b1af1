package live

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

// TestRead reads the outputs that are asked for, and none that are secret or references.
func TestRead(t *testing.T) {
	r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		readFunction: func(resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.NewPropertyMapFromMap(map[string]any{"outputs": map[string]any{
				"urn:pulumi:s::p::aws:ec2/vpc:Vpc::demo-vpc": map[string]any{"type": "aws:ec2/vpc:Vpc", "outputs": map[string]any{
					"cidrBlock": "10.0.0.0/16", "config": map[string]any{"size": 2}, "secret": resource.MakeSecret(resource.NewProperty("s")),
				}},
			}}), nil
		},
	}}
	err := r.Run("demo-core", func(ctx *pulumi.Context) error {
		all, err := Read(ctx, []string{"cidrBlock", "config", "other"})
		assert.NilError(t, err)
		found := all.Named("aws:ec2/vpc:Vpc", "demo-vpc").Outputs
		assert.Equal(t, found.Text("cidrBlock"), "10.0.0.0/16")
		assert.Equal(t, found.In("config").Number("size"), 2)
		assert.Equal(t, len(found), 2)
		return nil
	})
	assert.NilError(t, err)
}

// TestReadWhileTheStateIsWritten: plain Pulumi writes the state in a directory while the program
// reads it.
func TestReadWhileTheStateIsWritten(t *testing.T) {
	for name, test := range map[string]struct {
		failure string
		asked   int
		read    bool
	}{
		"being written": {"failed to load checkpoint: EOF", 3, true},
		"anything else": {"access denied", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
				readFunction: func(resource.PropertyMap) (resource.PropertyMap, error) {
					if asked++; asked < 3 {
						return nil, errors.New(test.failure)
					}
					return resource.NewPropertyMapFromMap(map[string]any{"outputs": map[string]any{}}), nil
				},
			}}
			err := r.Run("demo-core", func(ctx *pulumi.Context) error {
				_, err := Read(ctx, []string{"cidrBlock"})
				return err
			})
			assert.Check(t, is.Equal(asked, test.asked))
			if assert.Check(t, is.Equal(err == nil, test.read), "%v", err); err != nil {
				assert.ErrorContains(t, err, test.failure)
			}
		})
	}
}
