package debuglog

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// secret is in every place that could be logged.
const secret = "hunter2"

// logged is what f logs, without the times.
func logged(t *testing.T, f func()) string {
	t.Helper()
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	var out bytes.Buffer
	slog.SetDefault(Logger(&out))
	f()
	slog.SetDefault(before)
	return regexp.MustCompile(`time=\S+ |took=\S+ ?`).ReplaceAllString(out.String(), "")
}

func TestRequests(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", secret)
		http.Error(w, secret, http.StatusTeapot)
	}))
	defer server.Close()
	client := http.Client{Transport: Transport(nil)}
	host := strings.TrimPrefix(server.URL, "http://")
	out := logged(t, func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://ada:"+secret+"@"+host+"/api/v1?token="+secret+"#"+secret, strings.NewReader(secret))
		assert.NilError(t, err)
		request.Header.Set("Authorization", "Bearer "+secret)
		response, err := client.Do(request)
		assert.NilError(t, err)
		response.Body.Close()
	})
	assert.Check(t, is.Equal(out, strings.ReplaceAll(`level=DEBUG msg="request begins" method=POST host=HOST path=/api/v1
level=DEBUG msg="request ends" method=POST host=HOST path=/api/v1 status=418 
`, "HOST", host)))
}

func TestRequestsThatFail(t *testing.T) {
	refused := errors.New("the proxy " + secret + " refuses")
	client := http.Client{Transport: Transport(roundTripper(func(*http.Request) (*http.Response, error) { return nil, refused }))}
	out := logged(t, func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/a?sig="+secret, nil)
		assert.NilError(t, err)
		_, err = client.Do(request)
		assert.Check(t, errors.Is(err, refused))
	})
	assert.Check(t, is.Contains(out, "error=*errors.errorString"))
	assert.Check(t, !strings.Contains(out, secret), out)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestCommand(t *testing.T) {
	for want, args := range map[string][]string{
		"pulumi up --stack demo-core --json --message …": {"up", "--stack", "demo-core", "--json", "--message", secret},
		"pulumi config set --secret …":                   {"config", "set", "tombolo:token", "--secret", "--", secret},
		"pulumi config set …":                            {"config", "set", "token", secret},
		"pulumi stack select --stack=demo-core …":        {"stack", "select", "--stack=demo-core", secret},
		"pulumi --passphrase …":                          {"--passphrase=" + secret, "up"},
		"pulumi --passphrase --force …":                  {"--passphrase", secret, "--force"},
		"pulumi push …":                                  {"push", "https://ada:" + secret + "@example.com/a.git"},
		"pulumi …":                                       {"-p" + secret},
		"pulumi":                                         nil,
	} {
		got := Command("/usr/local/bin/pulumi", args...)
		assert.Check(t, is.Equal(got, want))
		assert.Check(t, !strings.Contains(got, secret))
	}
}

func TestProcess(t *testing.T) {
	out := logged(t, func() {
		Process(t.Context(), "git", "fetch", "https://"+secret+"@example.com")(errors.New(secret))
		Process(t.Context(), "git", "status")(context.DeadlineExceeded)
	})
	assert.Check(t, is.Equal(out, `level=DEBUG msg="process begins" command="git fetch …"
level=DEBUG msg="process ends" command="git fetch …" error=*errors.errorString
level=DEBUG msg="process begins" command="git status"
level=DEBUG msg="process ends" command="git status" error=timeout
`))
}

// TestNobodyLooks: without Logger nothing is logged.
func TestNobodyLooks(t *testing.T) {
	assert.Check(t, !Enabled(t.Context()))
	Begin(t.Context(), "stage")(nil)
}
