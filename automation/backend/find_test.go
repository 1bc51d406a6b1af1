package backend

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestForCLI: the CLI writes a directory without attributes, unless the URL says otherwise,
// and the backend stays the same one.
func TestForCLI(t *testing.T) {
	for at, want := range map[string]string{
		"file:///state":                    "file:///state?metadata=skip",
		"file://~":                         "file://~?metadata=skip",
		"file:///a%20b?no_tmp_dir=true":    "file:///a%20b?no_tmp_dir=true&metadata=skip",
		"file:///state?metadata=":          "file:///state?metadata=",
		"file:///state?%zz":                "file:///state?%zz",
		"s3://state?region=eu-central-1":   "s3://state?region=eu-central-1",
		"https://api.pulumi.com":           "https://api.pulumi.com",
		"azblob://state?storage_account=x": "azblob://state?storage_account=x",
	} {
		assert.Check(t, is.Equal(ForCLI(at), want))
		assert.Check(t, is.Equal(Identity(ForCLI(at), "/w"), Identity(at, "/w")))
	}
}
