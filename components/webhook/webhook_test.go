package webhook

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/internal/names"
)

const (
	secretType = "kubernetes:core/v1:Secret"
	token      = "hunter2-hunter2-hunter2"
)

func run(args Args, token string) (r *recorder.Recorder, path internals.UnsafeAwaitOutputResult, err error) {
	r = &recorder.Recorder{}
	err = r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		args.Token = pulumi.ToSecret(pulumi.String(token)).(pulumi.StringOutput)
		made, err := NewWebhook(ctx, "demo", &args)
		if err != nil {
			return err
		}
		path, err = internals.UnsafeAwaitOutput(ctx.Context(), made.Path)
		return err
	})
	return r, path, err
}

// TestNewWebhook: the engine finds the token where it reads, and the path is a secret where it is all that
// a caller has to know.
func TestNewWebhook(t *testing.T) {
	for name, c := range map[string]struct {
		args                   Args
		namespace, label, path string
		secret                 bool
	}{
		"Flux":                  {Args{Flux: true, Type: "github"}, "flux-system", "", names.FluxWebhook(token), false},
		"Flux and Azure DevOps": {Args{Flux: true, Type: "azure-devops"}, "flux-system", "", names.FluxWebhook(token), true},
		"Argo CD":               {Args{Type: "azure-devops"}, "argocd", "argocd", "/api/webhook", false},
	} {
		r, path, err := run(c.args, token)
		r.Sound(t, err)
		made, ok := r.Named(secretType, "demo-webhook")
		assert.Assert(t, ok, name)
		made.Expect(t, map[string]string{
			"metadata.name": "platform-webhook", "metadata.namespace": c.namespace, `metadata.labels["app.kubernetes.io/part-of"]`: c.label,
		})
		assert.DeepEqual(t, made.SecretData(t), map[string]string{"token": token})
		assert.Check(t, path.Value == c.path && path.Secret == c.secret, "%s: %+v", name, path)
	}
}

func TestATokenThatIsRefused(t *testing.T) {
	_, _, err := run(Args{Flux: true, Type: "github"}, "hunter2")
	assert.Check(t, is.ErrorContains(err, "gitops.webhook.secret: it is too short to be safe; make one with `openssl rand -hex 32`"))
	assert.Check(t, !strings.Contains(err.Error(), "hunter2"))
}
