//go:build lab

package automation

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/approved"
	"tombolo/lab/secretskey"
	"tombolo/stacks"
	"tombolo/stacks/state"
	"tombolo/tests/tier"
)

// keys counts what the lab's key is asked for.
type keys struct {
	*secretskey.Key
	mu    sync.Mutex
	asked []string
}

// serveKeys serves a key until the test ends, and returns its URL as a secrets provider.
func serveKeys(t *testing.T) (k *keys, provider string) {
	t.Helper()
	key, err := secretskey.New(t.Name())
	assert.NilError(t, err)
	k = &keys{Key: key}
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	return k, secretskey.URL(secretskey.Alias, "eu-central-1", server.Listener.Addr().String())
}

func (k *keys) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	k.mu.Lock()
	k.asked = append(k.asked, action)
	k.mu.Unlock()
	k.Key.ServeHTTP(w, r)
}

// times is how often the key was asked to do something.
func (k *keys) times(action string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for _, a := range k.asked {
		if a == action {
			n++
		}
	}
	return n
}

// TestSecretsByAKey: what encrypts the secrets is given by a URL, and stays with
// the stack: another machine, that has no settings of it, goes on with the key.
func TestSecretsByAKey(t *testing.T) {
	tier.Short(t, "a key encrypts the secrets, and another machine goes on with it")
	t.Parallel()
	k, provider := serveKeys(t)
	backend := inDirectory(t)
	d, _ := realBenchIn(t, backend, exporting)
	d.pulumi.Secrets = provider
	delete(d.env, "PULUMI_CONFIG_PASSPHRASE")
	if _, err := d.Preview(t.Context(), demo(), PreviewOptions{}); err != nil || k.times("Encrypt") > 0 {
		t.Fatalf("a preview of what does not exist: error %v, the key was asked for %q", err, k.asked)
	}
	_, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	if k.times("Encrypt") != len(stacks.Kinds()) {
		t.Errorf("the key was asked for %q, want one data key for each stack", k.asked)
	}
	settings, err := os.ReadFile(filepath.Join(d.opts.WorkDir, "clusters", "Pulumi.demo-core.yaml"))
	assert.Check(t, err == nil && strings.Contains(string(settings), "secretsprovider: awskms://"+secretskey.Alias),
		"the stack's settings are %s, error %v", settings, err)

	other, _ := realBenchIn(t, backend, exporting)
	other.pulumi.Secrets = ""
	delete(other.env, "PULUMI_CONFIG_PASSPHRASE")
	result, err := other.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.Assert(t, err == nil && result.Stacks[0].Changes.Total() == 0,
		"on another machine an up changes %v, error %v", result.Stacks, err)
	_, err = other.Destroy(t.Context(), demo(), DestroyOptions{})
	assert.NilError(t, err)
	_, err = other.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	state, err := os.ReadFile(filepath.Join(strings.TrimPrefix(backend, "file://"), ".pulumi", "stacks", stacks.Project, "demo-core.json"))
	if text := string(state); err != nil || strings.Contains(text, "hidden") || !strings.Contains(text, "awskms://"+secretskey.Alias) || !strings.Contains(text, "ciphertext") {
		t.Errorf("after an up on another machine the state is %s, error %v", state, err)
	}
	if k.times("Encrypt") != len(stacks.Kinds()) {
		t.Errorf("the other machine made another data key: %q", k.asked)
	}
	outputs, err := other.StackOutputs(t.Context(), demo(), stacks.Core)
	assert.Check(t, err == nil && outputs["secret"] == (Output{Value: "hidden", Secret: true}), "outputs are %v, error %v", outputs, err)
}

// TestWrongSecretsProvider: the first stack is not made.
func TestWrongSecretsProvider(t *testing.T) {
	tier.Short(t, "no stack is made with secrets that nobody can encrypt")
	t.Parallel()
	_, provider := serveKeys(t)
	for given, want := range map[string][]string{
		"vault://key": {
			"open demo-core: unknown secrets provider type 'vault' (supported values: ",
			"; give --secrets-provider passphrase, or the URL of a key, such as awskms://alias/<name>?region=<region>",
		},
		strings.Replace(provider, secretskey.Alias, "alias/nobodys", 1): {
			"Alias alias/nobodys is not found.",
			"; make sure that the key which --secrets-provider names exists, and that the credentials in use may encrypt and decrypt with it",
		},
	} {
		d, _ := realBench(t, exporting)
		d.pulumi.Secrets = given
		_, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
		for _, part := range want {
			assert.ErrorContains(t, err, part)
		}
		st, err := d.backend.State(t.Context(), "demo-core")
		assert.Check(t, st == nil && err == nil, "with %s there is a stack: %v, error %v", given, st, err)
	}
}

// dataKey is what the secrets of core's state are encrypted with, encrypted itself.
func dataKey(t *testing.T, d *Driver) string {
	t.Helper()
	st, err := d.backend.State(t.Context(), "demo-core")
	assert.NilError(t, err)
	return string(st.Deployment.SecretsProviders.State)
}

// TestWithoutSecrets: what only looks asks the key for nothing, and sees all that is no secret. An
// up of what it has planned applies a secret that nobody has seen, and nothing else besides.
func TestWithoutSecrets(t *testing.T) {
	tier.Short(t, "a preview, a plan and a look for drift decrypt nothing")
	t.Parallel()
	k, provider := serveKeys(t)
	secret, plain := "", "one"
	d, _ := realBenchIn(t, inDirectory(t), func(p *pulumi.Context) error {
		given := pulumi.ToSecret(pulumi.String(secret))
		if secret == "" { // as object.Known has it
			given = pulumi.UnsafeUnknownOutput(nil)
		}
		value := pulumi.Map{"secret": given, "plain": pulumi.String(plain)}
		p.Export("secret", given)
		_, _, err := state.Keep(p, "kept", value)
		return err
	})
	d.pulumi.Secrets = provider
	delete(d.env, "PULUMI_CONFIG_PASSPHRASE")
	c := demo()
	c.File = filepath.Join(t.TempDir(), "demo.yaml")
	assert.NilError(t, os.WriteFile(c.File, []byte("version: 1\n"), 0o600))
	_, err := d.Preview(t.Context(), c, PreviewOptions{WithoutSecrets: true, Plan: true})
	assert.NilError(t, err, "a plan of what does not exist, with a secret that is not known")
	assert.Check(t, is.Len(k.asked, 0))
	secret = "one"
	_, err = d.Up(t.Context(), c, UpOptions{Force: true})
	assert.NilError(t, err)

	look := func(want int) *approved.Cluster {
		t.Helper()
		before := len(k.asked)
		var plan *approved.Cluster
		for _, o := range []PreviewOptions{{WithoutSecrets: true}, {WithoutSecrets: true, Refresh: true, Plan: true}} {
			r, err := d.Preview(t.Context(), c, o)
			assert.NilError(t, err)
			for _, s := range r.Stacks {
				assert.Check(t, is.Equal(s.Changes["update"], want), "%s would change %v", s.Stack, s.Changes)
			}
			plan = r.Plan
		}
		_, err := d.Drift(t.Context(), c, DriftOptions{WithoutSecrets: true})
		assert.NilError(t, err)
		assert.Check(t, is.Len(k.asked[before:], 0), "the key was asked")
		for _, s := range plan.Stacks {
			assert.Check(t, is.Len(s.Steps, want), "%v", s.Steps)
			assert.Check(t, is.Len(s.Unseen, 1), "%v", s.Unseen)
		}
		return plan
	}
	look(0)
	// Whoever has unwrapped the data key of a stack once needs the key no more: the guide to security
	// has people make another one by the same provider.
	before := dataKey(t, d)
	_, err = d.pulumi.Manage(t.Context(), "demo-core", "give another data key to", "stack", "change-secrets-provider", "--stack", "demo-core", provider)
	assert.NilError(t, err)
	assert.Check(t, dataKey(t, d) != before, "it is the same data key")
	secret = "two"
	plan := look(0)
	r, err := d.Up(t.Context(), c, UpOptions{Approved: plan})
	assert.NilError(t, err)
	for _, s := range r.Stacks {
		assert.Check(t, is.Equal(s.Changes["update"], 1), "%s has changed %v", s.Stack, s.Changes)
	}
	outputs, err := d.StackOutputs(t.Context(), c, stacks.Core)
	assert.NilError(t, err)
	assert.DeepEqual(t, outputs["secret"].Value, "two")

	plan = look(0)
	plain = "two"
	look(1)
	_, err = d.Up(t.Context(), c, UpOptions{Approved: plan})
	assert.ErrorContains(t, err, "it would update pulumi:index:Stash kept, which is not in the plan")
}
