package automation

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/stacks/catalog"
)

// bootstrapped puts a bootstrap stack with these addons into the backend.
func bootstrapped(b *bench, addons string) {
	d := deployed("demo-bootstrap")
	d.Resources = append(d.Resources, apitype.ResourceV3{
		URN: "urn:pulumi:s::tombolo::kubernetes:core/v1:ConfigMap::g", Type: "kubernetes:core/v1:ConfigMap", Custom: true, ID: "g",
		Inputs: map[string]any{"metadata": map[string]any{"annotations": map[string]any{catalog.AddonsAnnotation: addons}}},
	})
	b.cli.states["demo-bootstrap"] = d
}

func TestUpRefusesBeforeItStartsWhenTheClusterCannotBeAsked(t *testing.T) {
	b := newBench(t)
	bootstrapped(b, "external-dns")
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	assert.Check(t, err != nil, "up went on")
	ops := b.cli.operations()
	assert.Check(t, len(ops) == 0, "the CLI was asked to %v", ops)
}

func TestPreviewNotesWhatIsTurnedOff(t *testing.T) {
	b := newBench(t)
	bootstrapped(b, "external-dns")
	b.mustPreview(t, demo(), PreviewOptions{})
	if said := strings.Join(b.seen.notes(), "\n"); !strings.Contains(said, "note demo: turns off external-dns: up waits until Flux has removed the releases") {
		t.Errorf("observer was told %q", said)
	}
}

// TestIdentityOfGitIsDeletedWithANote: who goes back to a token hears of it before core deletes the identity.
func TestIdentityOfGitIsDeletedWithANote(t *testing.T) {
	for id, want := range map[string]bool{"": false, "00000000-0000-4000-8000-0000000000c1": true} {
		b := newBench(t)
		core := deployed("demo-core")
		core.Resources[0].Outputs["gitClientId"] = id
		b.cli.states["demo-core"] = core
		b.mustPreview(t, demo(), PreviewOptions{})
		said := strings.Join(b.seen.notes(), "\n")
		assert.Check(t, strings.Contains(said, "note demo: core deletes the identity demo-git, by which Flux reads Git, and bootstrap then gives Flux the credentials") == want, said)
	}
}
