//go:build lab

package automation

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/stacks"
	"tombolo/tests/tier"
)

// keys is as much of AWS KMS as the CLI uses of it: it has one key, and what it
// encrypts cannot be read.
type keys struct {
	mu    sync.Mutex
	asked []string
}

const keyID = "alias/tombolo"

func serveKeys(t *testing.T) (k *keys, endpoint string) {
	t.Helper()
	k = &keys{}
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	return k, server.URL
}

func (k *keys) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		KeyID                     string `json:"KeyId"`
		Plaintext, CiphertextBlob []byte
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	k.mu.Lock()
	k.asked = append(k.asked, action)
	k.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if action == "Encrypt" && in.KeyID != keyID {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": "NotFoundException", "message": "Alias " + in.KeyID + " is not found."})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"KeyId": keyID, "CiphertextBlob": turned(in.Plaintext), "Plaintext": turned(in.CiphertextBlob),
	})
}

// turned hides what is given, and shows what it has hidden.
func turned(text []byte) []byte {
	out := slices.Clone(text)
	for i := range out {
		out[i] ^= 0x5a
	}
	return out
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

func providerURL(key, endpoint string) string {
	return "awskms://" + key + "?" + url.Values{"region": {"eu-central-1"}, "endpoint": {endpoint}}.Encode()
}

// TestSecretsByAKey: what encrypts the secrets is given by a URL, and stays with
// the stack: another machine, that has no settings of it, goes on with the key.
func TestSecretsByAKey(t *testing.T) {
	tier.Short(t, "a key encrypts the secrets, and another machine goes on with it")
	k, endpoint := serveKeys(t)
	backend := inDirectory(t)
	d, _ := realBenchIn(t, backend, exporting)
	d.pulumi.Secrets = providerURL(keyID, endpoint)
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
	if err != nil || !strings.Contains(string(settings), "secretsprovider: awskms://"+keyID) {
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
	if text := string(state); err != nil || strings.Contains(text, "hidden") || !strings.Contains(text, "awskms://"+keyID) || !strings.Contains(text, "ciphertext") {
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
	_, endpoint := serveKeys(t)
	for given, want := range map[string][]string{
		"vault://key": {
			"open demo-core: unknown secrets provider type 'vault' (supported values: ",
			"; give --secrets-provider passphrase, or the URL of a key, such as awskms://alias/<name>?region=<region>",
		},
		providerURL("alias/nobodys", endpoint): {
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
