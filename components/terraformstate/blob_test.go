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

// storage plays Azure's Get Blob.
type storage struct{ asked []string }

func (s *storage) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, r.URL.String()+" "+r.Header.Get("x-ms-version"))
	answer := httptest.NewRecorder()
	switch {
	case r.Header.Get("Authorization") != "Bearer hidden":
		answer.WriteHeader(http.StatusUnauthorized)
	case strings.HasSuffix(r.URL.Path, "/denied"):
		answer.WriteHeader(http.StatusForbidden)
	case strings.HasSuffix(r.URL.Path, "/none"):
		answer.WriteHeader(http.StatusNotFound)
	case strings.HasSuffix(r.URL.Path, "/moved"):
		answer.Header().Set("Location", "https://elsewhere.example/")
		answer.WriteHeader(http.StatusFound)
	default:
		write(answer, state)
	}
	return answer.Result(), nil
}

// TestReadBlob: a state in Azure's storage, read as whom az is signed in.
func TestReadBlob(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	played := &storage{}
	r := Reader{Getenv: func(string) string { return "" }, Transport: played}
	outputs := func(key string) (map[string]Output, error) {
		return r.Outputs(t.Context(), "azblob://states/"+key+"?storage_account=acme")
	}
	_, err := outputs("network.tfstate")
	assert.Check(t, is.ErrorContains(err, "ask az for a token of Azure's storage (az login signs in)"))

	script := "#!/bin/sh\n[ \"$*\" = 'account get-access-token --resource https://storage.azure.com/ --output json' ] && echo '{\"accessToken\": \"hidden\"}'\n"
	assert.NilError(t, os.WriteFile(filepath.Join(bin, "az"), []byte(script), 0o700)) //nolint:gosec // a program
	got, err := outputs("prod/network.tfstate")
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got["vpc_id"].Value, "vpc-1"))
	assert.Check(t, is.DeepEqual(played.asked, []string{"https://acme.blob.core.windows.net/states/prod/network.tfstate 2019-12-12"}))
	_, err = outputs("none")
	assert.Check(t, errors.Is(err, ErrMissing))
	_, err = outputs("denied")
	assert.Check(t, is.ErrorContains(err, "needs the role Storage Blob Data Reader"))
	_, err = outputs("moved")
	assert.Check(t, is.Error(err, "the storage answers 302 Found"))
	assert.Check(t, is.Len(played.asked, 4))
}
