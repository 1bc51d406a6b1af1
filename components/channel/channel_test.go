package channel

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const secretType = "kubernetes:core/v1:Secret"

func run(address string) (*recorder.Recorder, error) {
	r := &recorder.Recorder{}
	return r, r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		_, err := NewChannel(ctx, "demo", &Args{
			Namespaces: []string{"flux-system", "monitoring"},
			Address:    pulumi.ToSecret(pulumi.String(address)).(pulumi.StringOutput),
		})
		return err
	})
}

// TestNewChannel: who writes finds the address in its own namespace, and the state has it
// encrypted.
func TestNewChannel(t *testing.T) {
	r, err := run("https://hooks.example.com/hunter2")
	r.Sound(t, err)
	for _, namespace := range []string{"flux-system", "monitoring"} {
		secret, ok := r.Named(secretType, "demo-channel-"+namespace)
		assert.Assert(t, ok, namespace)
		secret.Expect(t, map[string]string{"metadata.name": "channel", "metadata.namespace": namespace})
		assert.DeepEqual(t, secret.SecretData(t), map[string]string{"address": "https://hooks.example.com/hunter2"})
	}
}

func TestAnAddressThatIsRefused(t *testing.T) {
	_, err := run("http://hooks.example.com/hunter2")
	assert.Check(t, is.ErrorContains(err, "gitops.channel.address: it is http://, and who listens could write to the channel; use https://"))
	assert.Check(t, !strings.Contains(err.Error(), "hunter2"))
}
