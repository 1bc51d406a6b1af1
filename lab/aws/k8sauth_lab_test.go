//go:build lab

package aws

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	clientauthentication "k8s.io/client-go/pkg/apis/clientauthentication/v1beta1"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/sts"
	"tombolo/lab/pki"
	"tombolo/lab/proxy"
	"tombolo/tests/tier"
)

// TestArgoCDsProgram has the real argocd-k8s-auth make a token for a spoke, by
// STS behind a proxy like the lab's.
func TestArgoCDsProgram(t *testing.T) {
	tier.Short(t, "the real argocd-k8s-auth gets a token for a spoke")
	f := newFleet(t)
	dir := t.TempDir()
	authority, err := pki.Open(dir, "test")
	assert.NilError(t, err)
	assert.NilError(t, authority.Issue("sts", pki.Subject{DNSNames: sts.Hosts()}))
	trust, err := authority.TLS("sts")
	assert.NilError(t, err)
	tunnel := proxy.NewTunnel(sts.Hosts()...)
	sts := &http.Server{Handler: sts.Handler(f.Cloud), TLSConfig: trust}
	go sts.ServeTLS(tunnel, "", "")
	t.Cleanup(func() { sts.Close() })
	front := httptest.NewServer(proxy.Handler(nil, tunnel))
	t.Cleanup(front.Close)
	file := filepath.Join(dir, "token")
	assert.NilError(t, os.WriteFile(file, []byte(f.accountToken(nil)), 0o600))
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", "..", ".tools", "bin", "argocd-k8s-auth"),
		"aws", "--cluster-name", "spoke", "--role-arn", f.spokeRole.Out.Str("arn"))
	cmd.Env = []string{
		"HOME=" + dir, "HTTPS_PROXY=" + front.URL, "AWS_CA_BUNDLE=" + authority.CertFile("ca"), "AWS_STS_REGIONAL_ENDPOINTS=regional",
		"AWS_REGION=" + fleetRegion, "AWS_ROLE_ARN=" + f.hubRole.Out.Str("arn"), "AWS_WEB_IDENTITY_TOKEN_FILE=" + file,
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	assert.NilError(t, err)
	var credential clientauthentication.ExecCredential
	assert.NilError(t, json.Unmarshal(out, &credential))
	user, groups, err := authenticator.Authenticate(f.Cloud, "spoke", credential.Status.Token)
	if err != nil || !strings.HasPrefix(user, "arn:aws:sts::111122223333:assumed-role/spoke-argocd-spoke/") || len(groups) != 1 || groups[0] != "tombolo:argocd" {
		t.Errorf("got %s %v %v", user, groups, err)
	}
	_, _, err = authenticator.Authenticate(f.Cloud, "demo", credential.Status.Token)
	assert.Check(t, err != nil && strings.Contains(err.Error(), "SignatureDoesNotMatch"), "another cluster takes it: %v", err)
}
