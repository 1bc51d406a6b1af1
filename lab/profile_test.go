package lab

import (
	"errors"
	"os"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/control"
)

func TestProfile(t *testing.T) {
	l := Open(t.TempDir())
	t.Setenv(control.ProfileVariable, "")
	if p, err := l.Profile(); p != Full || err != nil {
		t.Errorf("by default: %s, %v", p, err)
	}
	t.Setenv(control.ProfileVariable, "light-engine")
	if p, err := l.Profile(); p != LightEngine || err != nil {
		t.Errorf("by the environment: %s, %v", p, err)
	}
	t.Setenv(control.ProfileVariable, "tiny")
	_, err := l.Profile()
	if want := `read TOMBOLO_LAB_PROFILE: "tiny" is no profile of the lab; use one of full, light, light-engine`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := os.Stat(l.paths().dir()); !os.IsNotExist(err) {
		t.Errorf("asking made the lab: %v", err)
	}
}

// TestProfileIsKept: what runs under a profile cannot go on under another.
func TestProfileIsKept(t *testing.T) {
	l := Open(t.TempDir())
	for range 2 {
		assert.NilError(t, l.ChooseProfile(Light))
	}
	t.Setenv(control.ProfileVariable, "full")
	if p, err := l.Profile(); p != Light || err != nil {
		t.Errorf("the environment has its way with a lab that exists: %s, %v", p, err)
	}
	err := l.ChooseProfile(Full)
	const want = "choose the profile full: the lab's is light; a lab keeps its profile: run `tombolo lab down`, which removes it, first"
	if !errors.Is(err, ErrOtherProfile) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	assert.Check(t, is.Error(l.ChooseProfile("tiny"), `"tiny" is no profile of the lab; use one of full, light, light-engine`))
	assert.NilError(t, os.WriteFile(l.paths().profile(), []byte("huge\n"), 0o600))
	_, err = l.Profile()
	if want := "read the lab's profile: \"huge\" is no profile of the lab; use one of full, light, light-engine; run `tombolo lab down`"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
