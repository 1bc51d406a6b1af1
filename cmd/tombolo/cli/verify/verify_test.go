package verify

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/health"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/readiness"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

type driver struct {
	v   health.Verification
	err error
	got health.Options
}

func (d *driver) Verify(_ context.Context, _ *config.Cluster, o health.Options) (health.Verification, error) {
	d.got = o
	return d.v, d.err
}

func run(t *testing.T, d *driver, format render.Format, args ...string) (out, errOut string, err error) {
	t.Helper()
	f := clitest.New(t, format)
	cmd := NewCmdVerify(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = clitest.Clusters(&config.Cluster{Name: "demo"})
		o.Driver = func(context.Context, automation.Observer) (readiness.Driver, error) { return d, nil }
		return verifyRun(ctx, o)
	})
	return f.Run(t, cmd, args...)
}

func failing() *driver {
	cause := health.Check{Kind: "Kustomization", Namespace: "flux-system", Name: "apps", Revision: "main@sha1:abc", Message: "no such variable"}
	return &driver{
		v: health.Verification{
			Checks: []health.Check{
				{Kind: "GitRepository", Namespace: "flux-system", Name: "platform", Ready: true, Revision: "main@sha1:abc", Message: "stored artifact"},
				cause,
			},
			Cause: &cause, Waited: 3 * time.Second,
		},
		err: errors.New("first cause: no such variable"),
	}
}

func TestVerifyReady(t *testing.T) {
	d := &driver{v: health.Verification{Checks: []health.Check{{Kind: "ConfigMap", Name: "infra-config", Ready: true}}, Waited: time.Second}}
	out, errOut, err := run(t, d, render.Text, "demo", "--timeout", "30s", "--revision", "abc")
	assert.NilError(t, err)
	if d.got.Timeout != 30*time.Second || d.got.Revision != "abc" {
		t.Errorf("the driver was asked for %+v", d.got)
	}
	assert.Check(t, is.Equal(errOut, "✔ demo: 1 object is ready, after 1s\n"))
	assert.Check(t, is.Contains(out, "ConfigMap   infra-config   yes"))
}

func TestVerifyShowsWhatFailed(t *testing.T) {
	d := failing()
	out, _, err := run(t, d, render.Text, "demo")
	assert.Check(t, errors.Is(err, d.err), "got %v, want %v", err, d.err)
	want := `KIND            NAME                   READY   REVISION        MESSAGE
GitRepository   flux-system/platform   yes     main@sha1:abc
Kustomization   flux-system/apps       no      main@sha1:abc   no such variable
`
	assert.Check(t, is.Equal(out, want))
}

// TestVerifySaysAllOfAMessage: controllers say what is wrong in later lines of a message.
func TestVerifySaysAllOfAMessage(t *testing.T) {
	message := "ReconciliationFailed: ConfigMap/flux-system/facts dry-run failed: errors:\n  .data.K8S: expected string, got &value.valueUnstructured{Value:1.36}\n  .data.ACCOUNT: expected string"
	d := failing()
	d.v.Checks[1].Message = message
	out, _, _ := run(t, d, render.Text, "demo")
	assert.Check(t, is.Contains(out, "   ReconciliationFailed: ConfigMap/flux-system/facts dry-run failed: errors: .data.K8S: expected string, got &value.valueUnstructured{Value:1.36} .data.ACCOUNT: expected string\n"))

	var b bytes.Buffer
	o := readiness.Output{Out: &b, Status: render.Status{W: io.Discard}, Table: render.TableOptions{Width: 80}, Timeout: time.Second}
	assert.Check(t, readiness.Cluster(t.Context(), d, &config.Cluster{Name: "demo"}, o) != nil)
	want := `KIND            NAME                   READY   REVISION
GitRepository   flux-system/platform   yes     main@sha1:abc
Kustomization   flux-system/apps       no      main@sha1:abc

Kustomization flux-system/apps: ReconciliationFailed:
  ConfigMap/flux-system/facts dry-run failed: errors: .data.K8S: expected
  string, got &value.valueUnstructured{Value:1.36} .data.ACCOUNT: expected
  string
`
	assert.Check(t, is.Equal(b.String(), want))
}

func TestVerifyDocument(t *testing.T) {
	out, errOut, err := run(t, failing(), render.JSON, "demo")
	if err == nil || strings.Count(out, "\n") != 1 {
		t.Errorf("got %v and %q", err, out)
	}
	for _, want := range []string{`"type":"verification"`, `"ready":false`, `"cause":{"kind":"Kustomization"`, `"seconds":3`} {
		assert.Check(t, is.Contains(out, want))
	}
	assert.Check(t, is.Equal(errOut, ""))
}

func TestVerifyTimeout(t *testing.T) {
	_, _, err := run(t, &driver{}, render.Text, "demo", "--timeout", "0s")
	assert.Check(t, is.Error(err, "--timeout is 0s; give a duration such as 30s or 5m"))
}
