package redacted

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// secret is a secret as a state has it; nobody here can decrypt it.
const secret = `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"v1:AAAA"}`

const state = `{
  "manifest": {"time": "2026-01-02T03:04:05Z"},
  "secrets_providers": {"type": "cloud", "state": {"encryptedkey": "BBBB"}},
  "metadata": {"any": ` + secret + `},
  "pending_operations": [{"type": "creating", "resource": {"inputs": {"x": ` + secret + `}}}],
  "resources": [
    {"urn": "urn:pulumi:s::p::pulumi:pulumi:Stack::p-s", "type": "pulumi:pulumi:Stack", "outputs": {"token": ` + secret + `, "n": 12345678901234567890}},
    {"urn": "urn:pulumi:s::p::pulumi:providers:kubernetes::hub", "id": "1", "type": "pulumi:providers:kubernetes", "inputs": {"kubeconfig": ` + secret + `}},
    {"urn": "urn:pulumi:s::p::kubernetes:core/v1:ConfigMap::c", "type": "kubernetes:core/v1:ConfigMap",
     "provider": "urn:pulumi:s::p::pulumi:providers:kubernetes::hub::1", "inputs": {"data": {"a": "b"}}},
    {"urn": "urn:pulumi:s::p::kubernetes:core/v1:Secret::s", "type": "kubernetes:core/v1:Secret", "ignoreChanges": ["metadata.x"],
     "inputs": {"data": ` + secret + `, "metadata": {"annotations": {"a.b/c": ` + secret + `}}}, "outputs": {"data": ` + secret + `}},
    {"urn": "urn:pulumi:s::p::a:b:C::l", "type": "a:b:C", "inputs": {"list": ["x", ` + secret + `]}, "replacementTrigger": ` + secret + `}
  ]
}`

// TestNothingEncryptedIsLeft, wherever it was, nor what says how to decrypt it.
func TestNothingEncryptedIsLeft(t *testing.T) {
	c, err := Of([]byte(state))
	assert.NilError(t, err)
	for _, gone := range []string{"ciphertext", "AAAA", "BBBB", "secrets_providers"} {
		assert.Check(t, !strings.Contains(string(c.Deployment), gone), "%s is in the copy: %s", gone, c.Deployment)
	}
	assert.Check(t, is.Contains(string(c.Deployment), "12345678901234567890"))
	var is struct {
		Resources []struct {
			Inputs        map[string]any
			IgnoreChanges []string
		}
	}
	assert.NilError(t, json.Unmarshal(c.Deployment, &is))
	assert.DeepEqual(t, is.Resources[3].Inputs["data"], map[string]any{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "{}"})
	assert.DeepEqual(t, is.Resources[3].IgnoreChanges, []string{"metadata.x", "data", `metadata.annotations["a.b/c"]`})
	assert.DeepEqual(t, is.Resources[4].IgnoreChanges, []string{"list[1]"})
}

// TestPlainSecretsAreReplaced: a state that was exported with its secrets shown, and imported.
func TestPlainSecretsAreReplaced(t *testing.T) {
	c, err := Of([]byte(strings.ReplaceAll(state, `"ciphertext":"v1:AAAA"`, `"plaintext":"\"AAAA\""`)))
	assert.NilError(t, err)
	assert.Check(t, !strings.Contains(string(c.Deployment), "AAAA"), "%s", c.Deployment)
}

func TestWhatCannotBeRead(t *testing.T) {
	c, err := Of([]byte(state))
	assert.NilError(t, err)
	assert.DeepEqual(t, c.Unreadable, []string{"urn:pulumi:s::p::kubernetes:core/v1:ConfigMap::c", "urn:pulumi:s::p::kubernetes:core/v1:Secret::s"})
	assert.DeepEqual(t, c.Held, []string{
		"urn:pulumi:s::p::a:b:C::l", "urn:pulumi:s::p::kubernetes:core/v1:Secret::s", "urn:pulumi:s::p::pulumi:providers:kubernetes::hub",
	})
}

func TestNoState(t *testing.T) {
	c, err := Of(nil)
	assert.NilError(t, err)
	assert.Check(t, c.Deployment == nil)
	_, err = Of([]byte("[]"))
	assert.Check(t, is.ErrorContains(err, "read a state to copy it without its secrets"))
}

// TestSecretsThatNothingMarks: the data of a Secret, what an option of the resource names, and a value
// of the newer form.
func TestSecretsThatNothingMarks(t *testing.T) {
	c, err := Of([]byte(`{"resources": [
    {"urn": "urn:pulumi:s::p::kubernetes:core/v1:Secret::s", "type": "kubernetes:core/v1:Secret",
     "inputs": {"data": {"a": "AAAA"}}, "outputs": {"data": {"a": "AAAA"}, "stringData": {"b": "AAAA"}}},
    {"urn": "urn:pulumi:s::p::a:b:C::o", "type": "a:b:C", "additionalSecretOutputs": ["key"],
     "outputs": {"key": "AAAA", "other": {"d0e6a833031e9bbcd3f4e8bde6ca49a4": "x"}},
     "inputs": {"v": {"4dabf18193072939515e22adb298388d": "d0e6a833031e9bbcd3f4e8bde6ca49a4", "secret": true, "value": "AAAA"}}}]}`))
	assert.NilError(t, err)
	assert.Check(t, !strings.Contains(string(c.Deployment), "AAAA"), "%s", c.Deployment)
	assert.DeepEqual(t, c.Held, []string{"urn:pulumi:s::p::a:b:C::o", "urn:pulumi:s::p::kubernetes:core/v1:Secret::s"})
}

// TestStatesThatAreRefused: what is left encrypted, and a secret of which nobody can say whose it is.
func TestStatesThatAreRefused(t *testing.T) {
	resource := func(parent, inputs string) string {
		return `{"urn": "urn:pulumi:s::p::` + parent + `a:b:C::x", "type": "a:b:C", "inputs": ` + inputs + `}`
	}
	for text, want := range map[string]string{
		`{"resources": [` + resource("", `{"s": `+secret+`}`) + `,` + resource("p:q:R$", `{}`) + `]}`: "two resources of the type a:b:C have the name x",
		`{"resources": {"odd": ` + secret + `}}`:                                                      "something encrypted is left",
	} {
		_, err := Of([]byte(text))
		assert.Check(t, is.ErrorContains(err, want))
	}
}
