package flux

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/components/distribution"
)

func filesArgs(t *testing.T) *FilesArgs {
	t.Helper()
	manifest, err := os.ReadFile("testdata/install.yaml")
	assert.NilError(t, err)
	return &FilesArgs{Manifest: manifest, Substitution: SubstituteStrictly, Follow: follow(), Private: true}
}

func files(t *testing.T, args *FilesArgs) map[string][]byte {
	t.Helper()
	got, err := Files(args)
	assert.NilError(t, err)
	return got
}

func TestFiles(t *testing.T) {
	for name, content := range files(t, filesArgs(t)) {
		golden.Assert(t, string(content), name)
	}
}

func documents(t *testing.T, content []byte) []distribution.Object {
	t.Helper()
	var out []distribution.Object
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var o map[string]any
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return out
		}
		assert.NilError(t, err)
		if o != nil {
			out = append(out, o)
		}
	}
}

// TestFilesAddOnlyDirections: what Git has is what bootstrap applies, but for
// annotations.
func TestFilesAddOnlyDirections(t *testing.T) {
	args := filesArgs(t)
	want := documents(t, args.Manifest)
	assert.NilError(t, SubstituteStrictly.apply(want))
	got := documents(t, files(t, args)[ComponentsFile])
	for _, o := range got {
		meta := o["metadata"].(map[string]any)
		for _, key := range []string{pruneAnnotation, substituteAnnotation} {
			if value := meta["annotations"].(map[string]any)[key]; value != disabled {
				t.Errorf("%s: %s is %v", o.Identity(), key, value)
			}
		}
		delete(meta, "annotations")
	}
	assert.Check(t, is.DeepEqual(got, want))
}

func TestFilesHoldNoSecret(t *testing.T) {
	for name, content := range files(t, filesArgs(t)) {
		for _, o := range documents(t, content) {
			assert.Check(t, o.Kind() != "Secret", "%s holds %s", name, o.Identity())
		}
	}
	args := filesArgs(t)
	args.Private = false
	if sync := files(t, args)[SyncFile]; bytes.Contains(sync, []byte("secretRef")) {
		t.Errorf("the repository refers to a Secret that does not exist:\n%s", sync)
	}
}

func TestFilesRefuse(t *testing.T) {
	for want, change := range map[string]func(*FilesArgs){
		"files for Flux: branch is required": func(a *FilesArgs) { a.Branch = "" },
		"files for Flux: the distribution has no kustomize-controller, which the platform tree needs": func(a *FilesArgs) {
			a.Manifest = []byte(strings.ReplaceAll(string(a.Manifest), "kustomize-controller", "x"))
		},
		"files for Flux: deployment kustomize-controller has no container named manager": func(a *FilesArgs) {
			a.Manifest = []byte(strings.ReplaceAll(string(a.Manifest), "name: manager", "name: x"))
		},
		"files for Flux: the distribution has no Deployment": func(a *FilesArgs) { a.Manifest = nil },
	} {
		args := filesArgs(t)
		change(args)
		if _, err := Files(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

func TestDigest(t *testing.T) {
	manifest := []byte("a: 1\n")
	digest := Digest(manifest, SubstituteStrictly)
	if len(digest) != 64 || digest == Digest(manifest, SubstituteAsReleased) || digest == Digest([]byte("a: 2\n"), SubstituteStrictly) || digest != Digest(manifest, SubstituteStrictly) {
		t.Errorf("digest %s", digest)
	}
}

func TestControllers(t *testing.T) {
	names, err := Product().Controllers(filesArgs(t).Manifest)
	assert.Check(t, err == nil && strings.Join(names, " ") == "kustomize-controller source-controller", "%v, %v", names, err)
}
