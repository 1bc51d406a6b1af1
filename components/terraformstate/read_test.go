package terraformstate

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// state is as OpenTofu 1.10 writes one.
const state = `{"version": 4, "terraform_version": "1.10.6", "serial": 3, "lineage": "0b1d", "outputs": {
  "vpc_id": {"value": "vpc-1", "type": "string"},
  "subnets": {"value": ["subnet-1", "subnet-2"], "type": ["list", "string"]},
  "password": {"value": "hidden", "type": "string", "sensitive": true}
}, "resources": [], "check_results": null}`

func TestParse(t *testing.T) {
	outputs, err := Parse([]byte(state))
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(outputs["subnets"], Output{Value: []any{"subnet-1", "subnet-2"}}))
	assert.Check(t, outputs["password"].Sensitive)
	for text, want := range map[string]string{
		"":                 "it is no state of Terraform",
		"<html>secret":     "it is no state of Terraform",
		`{"serial": 1}`:    "it is no state of Terraform",
		`{"version": 3}`:   "it has version 3 of the format, and 4 is read",
		`{"version": "4"}`: "it is no state of Terraform",
		`{"serial": 1, "encrypted_data": "x", "encryption_version": "v0"}`: "OpenTofu has encrypted it",
	} {
		_, err := Parse([]byte(text))
		assert.Check(t, is.Error(err, want), text)
	}
}

// TestRead: a state in a file, in a bucket and behind HTTP, each with what is wrong there.
func TestRead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(serve))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "network.tfstate"), []byte(state), 0o600))
	assert.NilError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "away.tfstate")))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), nil, 0o600))
	bucket := "?region=eu-central-1&use_path_style=true&endpoint=" + server.URL
	env := map[string]string{
		"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hidden", "TF_HTTP_ADDRESS": server.URL + "/private", "TF_HTTP_USERNAME": "me", "TF_HTTP_PASSWORD": "hidden",
	}
	r := Reader{Dir: dir, Getenv: func(name string) string { return env[name] }}
	for address, want := range map[string]string{
		"network.tfstate":                      "",
		"none.tfstate":                         "there is no state",
		"away.tfstate":                         "is a link out of the project",
		"s3://states/network.tfstate" + bucket: "",
		"s3://states/none" + bucket:            "there is no state",
		"s3://states/denied" + bucket:          "AccessDenied",
		server.URL + "/network":                "",
		server.URL + "/private":                "",
		server.URL + "/private?other=1":        "the server answers 401",
		server.URL + "/none":                   "there is no state",
		server.URL + "/elsewhere":              "the server answers 302",
		server.URL + "/page":                   "it is no state of Terraform",
	} {
		outputs, err := r.Outputs(t.Context(), address)
		if want == "" {
			assert.Check(t, err == nil && outputs["vpc_id"].Value == "vpc-1", "%s: %v, %v", address, outputs, err)
			continue
		}
		assert.Check(t, is.ErrorContains(err, want), address)
		assert.Check(t, !strings.Contains(err.Error(), "hidden"), "%s: %v", address, err)
		assert.Check(t, errors.Is(err, ErrMissing) == (want == "there is no state"), "%s: %v", address, err)
	}
}

// serve plays S3's GetObject, and a server of states.
func serve(w http.ResponseWriter, r *http.Request) {
	_, password, _ := r.BasicAuth()
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/states/") && !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=key/"):
		w.WriteHeader(http.StatusBadRequest)
	case path == "/states/none":
		w.WriteHeader(http.StatusNotFound)
		write(w, `<Error><Code>NoSuchKey</Code></Error>`)
	case path == "/states/denied":
		w.WriteHeader(http.StatusForbidden)
		write(w, `<Error><Code>AccessDenied</Code></Error>`)
	case path == "/private" && (password != "hidden" || r.URL.RawQuery != ""):
		w.WriteHeader(http.StatusUnauthorized)
	case path == "/none":
		w.WriteHeader(http.StatusNoContent)
	case path == "/elsewhere":
		http.Redirect(w, r, "/network", http.StatusFound)
	case path == "/page":
		write(w, "<html>hidden</html>")
	default:
		write(w, state)
	}
}

func write(w http.ResponseWriter, text string) {
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
}
