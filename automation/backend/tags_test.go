package backend

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const otherTags = `{"version": 1, "tags": {"team": "shop"}}`

// TestTags: the tags of a stack in a directory and in a bucket, which others have written, too,
// and in a backend that the CLI knows.
func TestTags(t *testing.T) {
	directory := newBench(t)
	file := filepath.Join(directory.dir, ".pulumi", "stacks", "tombolo", "demo-bootstrap.pulumi-tags")
	assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(directory.dir, ".pulumi", "meta.yaml"), []byte("version: 1\n"), 0o600))
	inBucket, _ := newBucketBench(t)
	cloud := newBench(t)
	cloud.URL = "azblob://state"
	for name, test := range map[string]struct {
		*bench
		put func(text string)
	}{
		"a directory": {directory, func(text string) { assert.NilError(t, os.WriteFile(file, []byte(text), 0o600)) }},
		"a bucket": {inBucket, func(text string) {
			assert.NilError(t, inBucket.bucket(t.Context()).write(t.Context(), tagsKey("demo-bootstrap"), []byte(text)))
		}},
		"the CLI": {cloud, nil},
	} {
		t.Run(name, func(t *testing.T) {
			get := func(name string) string {
				value, err := test.Tag(t.Context(), "demo-bootstrap", name)
				assert.NilError(t, err)
				return value
			}
			assert.Check(t, is.Equal(get("tombolo:up"), ""))
			assert.NilError(t, test.SetTag(t.Context(), "demo-bootstrap", "tombolo:up", "first"))
			assert.Check(t, is.Equal(get("tombolo:up"), "first"))
			if test.put == nil {
				assert.Check(t, is.Equal(test.cli.tag, "demo-bootstrap tombolo:up first"))
				return
			}
			test.put(otherTags)
			assert.Check(t, is.Equal(get("tombolo:up"), ""))
			assert.NilError(t, test.SetTag(t.Context(), "demo-bootstrap", "tombolo:up", "second"))
			assert.Check(t, is.Equal(get("tombolo:up"), "second"))
			assert.Check(t, is.Equal(get("team"), "shop"))
			for text, want := range map[string]string{"{": "unexpected end of JSON input", `{"version": 2}`: "version 2 of their file is unknown"} {
				test.put(text)
				_, err := test.Tag(t.Context(), "demo-bootstrap", "team")
				assert.Check(t, is.ErrorContains(err, want))
				assert.Check(t, is.ErrorContains(test.SetTag(t.Context(), "demo-bootstrap", "tombolo:up", "third"), want))
			}
		})
	}
	left, err := filepath.Glob(filepath.Dir(file) + "/*")
	assert.NilError(t, err)
	assert.DeepEqual(t, left, []string{file})
}
