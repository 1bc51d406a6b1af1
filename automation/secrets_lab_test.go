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

	"gotest.tools/v3/assert"

	"tombolo/lab/secretskey"
	"tombolo/stacks"
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
	if err != nil || !strings.Contains(string(settings), "secretsprovider: awskms://"+secretskey.Alias) {
		t.Errorf("the stack's settings are %s, error %v", settings, err)
	}

	other, _ := realBenchIn(t, backend, exporting)
	other.pulumi.Secrets = ""
	delete(other.env, "PULUMI_CONFIG_PASSPHRASE")
	result, err := other.Up(t.Context(), demo(), UpOptions{Force: true})
	if err != nil || result.Stacks[0].Changes.Total() > 0 {
		t.Fatalf("on another machine an up changes %v, error %v", result.Stacks, err)
	}
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
	if err != nil || outputs["secret"] != (Output{Value: "hidden", Secret: true}) {
		t.Errorf("outputs are %v, error %v", outputs, err)
	}
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
		if st, err := d.backend.State(t.Context(), "demo-core"); st != nil || err != nil {
			t.Errorf("with %s there is a stack: %v, error %v", given, st, err)
		}
	}
}
