package lab

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
)

func TestDriftArguments(t *testing.T) {
	for _, test := range []struct {
		args []string
		want map[string]any
		err  string
	}{
		{args: []string{"Vpc", "demo", "tags.Owner=me", "a=3", "b=null", `c={"d":["e"]}`, "f==g"}, want: map[string]any{
			"tags.Owner": "me", "a": 3.0, "b": nil, "c": map[string]any{"d": []any{"e"}}, "f": "=g",
		}},
		{args: []string{"Vpc", "demo", "tags.Owner"}, err: `"tags.Owner" changes nothing; write <property>=<value>, such as tags.Owner=me`},
		{args: []string{"Vpc", "demo"}, err: "requires at least 3 arg(s), only received 2"},
	} {
		var got *DriftOptions
		err := clitest.Execute(t, NewCmdDriftChange(testFactory(t), func(_ context.Context, o *DriftOptions) error { got = o; return nil }), test.args...)
		if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%q: %v, want %q", test.args, err, test.err)
			continue
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(test.want, got.Changes); diff != "" || got.Type != "Vpc" || got.Name != "demo" {
			t.Errorf("%+v\n%s", got, diff)
		}
	}
}

func testFactory(t *testing.T) *Given {
	t.Helper()
	return &Given{Factory: clitest.New(t, render.Text).Factory}
}

func TestDriftRun(t *testing.T) {
	f, errOut, out := &fake{}, &bytes.Buffer{}, &bytes.Buffer{}
	o := &DriftOptions{Options: f.options(out, errOut, false), Type: "T", Name: "n", Changes: map[string]any{"a": "b"}}
	assert.NilError(t, driftRun(t.Context(), o))
	o.Changes, o.Options = nil, f.options(out, errOut, true)
	assert.NilError(t, driftRun(t.Context(), o))
	assert.Check(t, is.Equal(errOut.String(), "✔ changed T n behind Pulumi's back\n"))
	want := `{"type":"lab-drift","done":"deleted","resource":{"type":"T","id":"n","name":"","region":"","created":"0001-01-01T00:00:00Z"}}` + "\n"
	assert.Check(t, is.Equal(out.String(), want))
	if diff := cmp.Diff([]string{"change T n map[a:b]", "delete T n"}, f.calls); diff != "" {
		t.Error(diff)
	}
	f.err = errors.New("delete T n: there is none")
	if err := driftRun(t.Context(), o); err == nil || err.Error() != "delete T n: there is none" {
		t.Errorf("error %v", err)
	}
}
