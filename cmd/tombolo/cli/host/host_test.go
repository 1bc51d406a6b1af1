package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tombolo/cmd/tombolo/cli/clitest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// answer is what a host says once.
type answer struct {
	code   int
	header map[string]string
	body   string
}

// hostThat gives the answers one after the other, and the last one from then on.
func hostThat(t *testing.T, answers ...answer) (c Client, asked *int) {
	t.Helper()
	asked = new(int)
	server := clitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a := answers[min(*asked, len(answers)-1)]
		*asked++
		for name, value := range a.header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(a.code)
		fmt.Fprint(w, a.body)
	}))
	return GitHub(server.URL, "t0ken"), asked
}

func TestBackoff(t *testing.T) {
	fine := answer{code: 200, body: `{"id":1}`}
	anHour := answer{code: 403, header: map[string]string{"Retry-After": "3600"}, body: `{"message":"slow down"}`}
	for _, test := range []struct {
		name    string
		answers []answer
		asked   int
		want    string // of the error; "" for none
	}{
		{"fine at once", []answer{fine}, 1, ""},
		{"a restart", []answer{{code: 502}, {code: 503}, fine}, 3, ""},
		{"too many requests", []answer{{code: 429}, fine}, 2, ""},
		{"GitHub's secondary limit", []answer{{code: 403, header: map[string]string{"Retry-After": "0"}}, fine}, 2, ""},
		{"an hour's limit", []answer{anHour, fine}, 1, "GET /x: the host answers 403 Forbidden: slow down, and asks to wait 1h0m0s"},
		{"down for long", []answer{{code: 500, body: `{"error":"out of order"}`}}, 3, "GET /x: the host answers 500 Internal Server Error: out of order"},
		{"forbidden", []answer{{code: 403, body: `{"message":"no"}`}, fine}, 1, "GET /x: the host answers 403 Forbidden: no"},
		{"not there", []answer{{code: 404, body: "<html>"}, fine}, 1, "GET /x: the host answers 404 Not Found"},
		{"no JSON", []answer{{code: 200, body: "<html>"}, fine}, 1, "GET /x: the answer is not what the host's API promises: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, asked := hostThat(t, test.answers...)
			told := 0
			err := Backoff{0, 0}.Do(t.Context(), func(error) { told++ }, func() error {
				var got struct{ ID int }
				_, err := client.Call(t.Context(), http.MethodGet, "/x", nil, &got)
				if err == nil && got.ID != 1 {
					t.Errorf("read %+v", got)
				}
				return err
			})
			if *asked != test.asked || told != test.asked-1 {
				t.Errorf("asked %d times and told of %d failures, want %d times", *asked, told, test.asked)
			}
			if text := fmt.Sprint(err); test.want == "" && err != nil || !strings.HasPrefix(text, test.want) && test.want != "" {
				t.Errorf("error %q, want %q", text, test.want)
			}
		})
	}
}

// A host that is not there is asked again; one whose asker gives up is not.
func TestBackoffWithoutAHost(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	client := GitLab(server.URL, "t0ken")
	server.Close()
	told := 0
	work := func(ctx context.Context) func() error {
		return func() error {
			_, err := client.Call(ctx, http.MethodGet, "/x", nil, nil)
			return err
		}
	}
	if err := (Backoff{0, 0}).Do(t.Context(), func(error) { told++ }, work(t.Context())); told != 2 || err == nil || !strings.Contains(err.Error(), "ask the host: ") {
		t.Errorf("told %d times, error %v", told, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told = 0
	err := Backoff{time.Hour, time.Hour}.Do(ctx, func(error) { told++; cancel() }, work(ctx))
	if told != 1 || err == nil {
		t.Errorf("after it was given up, told %d times, error %v", told, err)
	}
}

// The token goes to the host alone.
func TestTokenStays(t *testing.T) {
	elsewhere, asked := hostThat(t, answer{code: 200})
	client := GitHub("https://api.example.com", "t0ken")
	_, err := client.Call(t.Context(), http.MethodGet, elsewhere.Base+"/x", nil, nil)
	want := "which is not at https://api.example.com: the token is not sent there"
	if err == nil || !strings.Contains(err.Error(), want) || *asked != 0 {
		t.Errorf("error %v, want %q; asked %d times", err, want, *asked)
	}
}

func TestRefused(t *testing.T) {
	for want, err := range map[bool]error{
		true:  fmt.Errorf("wrapped: %w", &Error{Code: 403}),
		false: errors.Join(&Error{Code: 403, Limited: true}),
	} {
		assert.Check(t, is.Equal(Refused(err), want))
	}
}

// TestNoTokenAfterARedirect: the token of each host goes nowhere that the host redirects to:
// not to another host, nor to another port or scheme of it. What changes something is not sent
// anew at all: it would be sent as a question, whose answer looks like success.
func TestNoTokenAfterARedirect(t *testing.T) {
	var seen []string
	note := func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Path+r.Header.Get("Authorization")+r.Header.Get("Private-Token"))
		fmt.Fprint(w, `{}`)
	}
	elsewhere := clitest.Serve(t, http.HandlerFunc(note))
	host := clitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL+"/got", http.StatusTemporaryRedirect)
		case "/moved":
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
		default:
			note(w, r)
		}
	}))
	for _, client := range []Client{GitHub(host.URL, "t"), GitLab(host.URL, "t"), Azure(host.URL, "Bearer t"), {HTTP: &http.Client{}, Base: host.URL, Header: http.Header{"Private-Token": {"t"}}}} {
		seen = nil
		_, err := client.Call(t.Context(), http.MethodGet, "/away", nil, nil)
		assert.ErrorContains(t, err, "the host redirects to "+elsewhere.URL+"/got, which is not at "+host.URL+": the token is not sent there")
		_, err = client.Call(t.Context(), http.MethodPost, "/moved", map[string]string{"body": "x"}, nil)
		assert.ErrorContains(t, err, "the host answers 301 Moved Permanently")
		assert.Check(t, is.Len(seen, 0))
		_, err = client.Call(t.Context(), http.MethodGet, "/moved", nil, nil)
		assert.NilError(t, err)
		assert.Check(t, is.Len(seen, 1))
	}
}
