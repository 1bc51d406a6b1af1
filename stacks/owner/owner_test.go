package owner

import (
	"regexp"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/recorder"
	"tombolo/internal/names"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// made runs a program that makes an identity.
func made(t *testing.T, r *recorder.Recorder, o ...pulumi.RunOption) Owner {
	t.Helper()
	var own Owner
	r.Sound(t, r.Run("demo-core", func(ctx *pulumi.Context) (err error) {
		own, err = New(ctx, "file:///state")
		return err
	}, o...))
	return own
}

// TestNew makes an identity that no other cluster has, and keeps the one of a state.
func TestNew(t *testing.T) {
	first, second := &recorder.Recorder{}, &recorder.Recorder{}
	a, b := made(t, first), made(t, second)
	assert.Check(t, regexp.MustCompile(`^[a-z2-7]{26}$`).MatchString(a.ID) && a.ID != b.ID && a.New,
		"two clusters have the identities %v and %v", a, b)
	tags := a.Tags()
	assert.Check(t, tags[names.OwnerTag] == a.ID && tags[names.BackendTag] == Fingerprint("file:///state"), "the tags are %v", tags)
	kept, _ := first.Named(Type, ResourceName)
	assert.Check(t, len(kept.IgnoreChanges) == 1 && kept.IgnoreChanges[0] == "input",
		"changes of %v are ignored, and an identity is to stay as it is", kept.IgnoreChanges)
	stays := &recorder.Recorder{Outputs: map[string]resource.PropertyMap{Type: resource.NewPropertyMapFromMap(map[string]any{
		"output": map[string]any{"id": "kept", "backend": "b0"},
	})}}
	if got := made(t, stays); got.ID != "kept" || got.Backend != "b0" || got.New {
		t.Errorf("the state has kept and b0, the program %v", got)
	}
	if got := made(t, &recorder.Recorder{}, recorder.Preview); got.ID != Unborn || !got.New {
		t.Errorf("a preview of a cluster that does not exist has the identity %v", got)
	}
}

func TestBrokenState(t *testing.T) {
	r := &recorder.Recorder{Outputs: map[string]resource.PropertyMap{Type: resource.NewPropertyMapFromMap(map[string]any{"output": "nonsense"})}}
	err := r.Run("demo-core", func(ctx *pulumi.Context) error {
		_, err := New(ctx, "")
		return err
	})
	assert.Check(t, is.ErrorContains(err, "the cluster's identity in the state has no "))
}

func TestFingerprint(t *testing.T) {
	one := Fingerprint("postgres://me:secret@db.example:5432/state?sslmode=require")
	assert.Check(t, regexp.MustCompile(`^[0-9a-f]{8}$`).MatchString(one), "the fingerprint is %q", one)
	for _, same := range []string{"postgres://db.example:5432/state", "postgres://other@db.example:5432/state/"} {
		assert.Check(t, is.Equal(Fingerprint(same), one), same)
	}
	for _, other := range []string{"postgres://db.example:5432/other", "s3://state"} {
		assert.Check(t, Fingerprint(other) != one, "%s has the fingerprint of another backend", other)
	}
	assert.Check(t, is.Equal(Fingerprint(""), "unknown"))
}

func TestIDOf(t *testing.T) {
	for want, outputs := range map[string]map[string]any{
		"q5zk": {"output": map[string]any{"id": "q5zk"}},
		"":     {"output": map[string]any{"id": 5}},
	} {
		assert.Check(t, is.Equal(IDOf(outputs), want), outputs)
	}
	assert.Check(t, is.Equal(IDOf(nil), ""))
}
