package aws

import (
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ssm"
)

func parameter(name, value string) props {
	return props{"name": name, "type": "String", "value": value}
}

func TestParameterRefusals(t *testing.T) {
	with := func(more props) props {
		in := parameter("/shop/zone", "a")
		for key, v := range more {
			in[key] = v
		}
		return in
	}
	refused(t, emptyWorld, []attempt{
		{"type", ssm.ParameterType, with(props{"type": "Text"}), `expected type to be one of ["String" "StringList" "SecureString"], got Text`},
		{"tier", ssm.ParameterType, with(props{"tier": "Advanced"}), "the stand-in does not play tier of aws:ssm/parameter:Parameter"},
		{"no value", ssm.ParameterType, props{"name": "a", "type": "String"}, "must be specified"},
		{"taken", ssm.ParameterType, func(w *world) props {
			w.Make(ssm.ParameterType, "first", parameter("/shop/zone", "a"))
			return parameter("/shop/zone", "b")
		}, "creating SSM Parameter (/shop/zone): operation error SSM: PutParameter"},
		{"taken, code", ssm.ParameterType, func(w *world) props {
			w.Make(ssm.ParameterType, "first", parameter("/shop/zone", "a"))
			return parameter("/shop/zone", "b")
		}, "ParameterAlreadyExists: The parameter already exists."},
		{"not absolute", ssm.ParameterType, parameter("shop/zone", "a"), "ValidationException: Parameter name must be a fully qualified name."},
		{"reserved path", ssm.ParameterType, parameter("/aws/zone", "a"), "AccessDeniedException: No access to reserved parameter name: /aws/zone."},
		{"reserved name", ssm.ParameterType, parameter("SSMzone", "a"), `ValidationException: Parameter name: can't be prefixed with "aws" or "ssm" (case-insensitive).`},
		{"character", ssm.ParameterType, parameter("/shop/a zone", "a"), "each sub-path can be formed as a mix of letters, numbers and the following 3 symbols .-_"},
		{"empty level", ssm.ParameterType, parameter("/shop//zone", "a"), "ValidationException: Parameter name:"},
		{"levels", ssm.ParameterType, parameter(strings.Repeat("/a", 16), "a"), "HierarchyLevelLimitExceededException: A hierarchy can have a maximum of 15 levels."},
		{"4 KB", ssm.ParameterType, parameter("a", strings.Repeat("x", 4097)), "ValidationException: Standard tier parameters support a maximum parameter value of 4096 characters."},
		{"nested", ssm.ParameterType, parameter("a", "{{ssm:b}}"), "ValidationException: Parameter value can't nest another parameter."},
	})
}

func TestParameter(t *testing.T) {
	w := emptyWorld(t)
	p := w.Add(ssm.ParameterType, "zone", parameter("/shop/zone", "a"))
	arn := "arn:aws:ssm:eu-central-1:111122223333:parameter/shop/zone"
	assert.Check(t, is.Equal(p.ID+" "+p.Out.Str("arn")+" "+p.Out.Str("tier"), "/shop/zone "+arn+" Standard"))
	got, err := w.Invoke("aws:ssm/getParameter:getParameter", props{"name": "/shop/zone", "withDecryption": false})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got.Str("type")+got.Str("value")+got.Str("insecureValue")+got.Str("arn"), "Stringaa"+arn))

	assert.NilError(t, w.Update(p, parameter("/shop/zone", "b")))
	assert.Check(t, is.DeepEqual(p.Out["version"], 2.0))
	got, _ = w.Invoke("aws:ssm/getParameter:getParameter", props{"name": "/shop/zone"})
	assert.Check(t, is.Equal(got.Str("value"), "b"))
	err = w.Update(p, props{"name": "/shop/zone", "type": "SecureString", "value": "b"})
	assert.Check(t, is.ErrorContains(err, "HierarchyTypeMismatchException"))
	d := w.Diff(p, parameter("/shop/other", "b"))
	assert.Check(t, d.Changes == pulumirpc.DiffResponse_DIFF_SOME && len(d.Replaces) == 1)

	_, err = w.Invoke("aws:ssm/getParameter:getParameter", props{"name": "/shop/none"})
	assert.Check(t, is.ErrorContains(err, "couldn't find resource"))
}

// A SecureString is told only to who asks for its decryption.
func TestSecureString(t *testing.T) {
	w := emptyWorld(t)
	p := w.Add(ssm.ParameterType, "secret", props{"name": "/shop/password", "type": "SecureString", "value": "hunter2"})
	assert.Check(t, is.Equal(p.Out.Str("keyId"), "alias/aws/ssm"))
	for asked, want := range map[bool]bool{true: true, false: false} {
		got, err := w.Invoke("aws:ssm/getParameter:getParameter", props{"name": "/shop/password", "withDecryption": asked})
		assert.NilError(t, err)
		assert.Check(t, is.Equal(got.Str("type"), "SecureString"))
		assert.Check(t, strings.Contains(got.Str("value"), "hunter2") == want && got.Str("value") != "" && !got.Has("insecureValue"))
	}
	got, _ := w.Invoke("aws:ssm/getParameter:getParameter", props{"name": "/shop/password"})
	assert.Check(t, is.Equal(got.Str("value"), "hunter2"), "the provider decrypts by default")
}
