package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/plugins"
)

// TestComplete: a digest that is known stays as it is, what is missing is fetched, and
// what nobody needs goes.
func TestComplete(t *testing.T) {
	mirror := t.TempDir()
	for _, platform := range plugins.Platforms()[1:] {
		assert.NilError(t, os.WriteFile(filepath.Join(mirror, "pulumi-resource-aws-v1.0.0-"+platform+".tar.gz"), []byte(platform), 0o600))
	}
	known := plugins.Digest{Name: "aws", Version: "1.0.0", Platform: plugins.Platforms()[0], SHA256: "known", Source: "a list"}
	lock := plugins.Lock{known, {Name: "aws", Version: "0.9.0", Platform: known.Platform}}
	f, needed := plugins.Fetcher{Mirror: mirror, Client: http.DefaultClient}, []plugins.Plugin{{Name: "aws", Version: "1.0.0"}}
	var out bytes.Buffer
	got, err := complete(t.Context(), f, lock, needed, &out)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(got, len(plugins.Platforms())))
	assert.DeepEqual(t, got[0], known)
	for i, platform := range plugins.Platforms()[1:] {
		assert.Check(t, got[i+1].SHA256 != "" && got[i+1].Platform == platform, "%v", got[i+1])
	}
	assert.Check(t, is.Contains(out.String(), "► fetching aws 1.0.0 for linux/amd64\n"))
	assert.Check(t, is.Contains(out.String(), "has the digests of 4 archives"))
	_, err = complete(t.Context(), f, nil, needed, &out)
	assert.Check(t, is.ErrorContains(err, "fetch the plugin aws 1.0.0: "))
}
