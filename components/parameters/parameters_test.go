package parameters

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

// read reads a parameter that the store has as this type and value.
func read(t *testing.T, answer resource.PropertyMap, refusal error) (found any, err error) {
	t.Helper()
	r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:ssm/getParameter:getParameter": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			assert.Check(t, is.DeepEqual(args.Mappable(), map[string]any{"name": "/shop/zone", "withDecryption": false}))
			return answer, refusal
		},
	}}
	assert.NilError(t, r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		found, err = Read(ctx, "/shop/zone")
		return nil
	}))
	return found, err
}

func of(kind, value string) resource.PropertyMap {
	return resource.PropertyMap{"type": resource.NewProperty(kind), "value": resource.NewProperty(value)}
}

func TestRead(t *testing.T) {
	found, err := read(t, of("String", "a,b"), nil)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(found, "a,b"))
	found, err = read(t, of("StringList", "a,b"), nil)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(found, []any{"a", "b"}))
	found, err = read(t, of("SecureString", "AQICAHcipher"), nil)
	assert.Check(t, is.ErrorIs(err, ErrSecret))
	assert.Check(t, found == nil)
	_, err = read(t, nil, errors.New("reading SSM Parameter (/shop/zone): couldn't find resource"))
	assert.Check(t, is.ErrorIs(err, ErrMissing))
	_, err = read(t, nil, errors.New("AccessDeniedException: not authorized to perform: ssm:GetParameter"))
	assert.Check(t, is.ErrorContains(err, "look up parameter /shop/zone"))
	assert.Check(t, is.ErrorContains(err, "not authorized"))
}
