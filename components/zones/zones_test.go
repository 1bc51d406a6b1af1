package zones

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

// account answers for Z1, the public zone example.com, and Z2, the private zone
// internal.example.com.
func account() *recorder.Recorder {
	return &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:route53/getZone:getZone": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			switch args["zoneId"].StringValue() {
			case "Z1":
				return resource.PropertyMap{"name": resource.NewProperty("example.com"), "privateZone": resource.NewProperty(false)}, nil
			case "Z2":
				return resource.PropertyMap{"name": resource.NewProperty("internal.example.com."), "privateZone": resource.NewProperty(true)}, nil
			default:
				return nil, errors.New("NoSuchHostedZone")
			}
		},
	}}
}

func check(zones ...Zone) error {
	return account().Run("demo-core", func(ctx *pulumi.Context) error { return Check(ctx, zones) })
}

func TestCheckTakesTheRightZones(t *testing.T) {
	assert.Check(t, check(Zone{ID: "Z1", Name: "Example.com.", Public: true}, Zone{ID: "Z2", Name: "internal.example.com"}))
}

func TestCheckNamesEveryWrongZone(t *testing.T) {
	err := check(
		Zone{ID: "Z1", Name: "example.org"},
		Zone{ID: "Z2", Name: "internal.example.com", Public: true},
		Zone{ID: "Z3", Name: "example.net"},
	)
	for _, want := range []string{
		"hosted zone Z1 is example.com, not example.org; give the id of the zone example.org, or correct the name",
		"hosted zone Z2 (internal.example.com) is private; give the id of the public zone of that name",
		"look up hosted zone Z3 (example.net): ",
		"NoSuchHostedZone",
	} {
		assert.Check(t, is.ErrorContains(err, want))
	}
}
