package arm

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// serve is a Resource Manager with an answer for each method and address; it notes what it
// is asked.
func serve(t *testing.T, answer func(w http.ResponseWriter, asked string)) (Client, *[]string) {
	t.Helper()
	asked := new([]string)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Check(t, is.Equal(r.Header.Get("Authorization"), "Bearer secret"))
		*asked = append(*asked, r.Method+" "+r.URL.RequestURI())
		answer(w, r.Method+" "+r.URL.RequestURI())
	}))
	t.Cleanup(server.Close)
	return Client{Endpoint: server.URL, Token: "secret", HTTP: server.Client(), Poll: time.Millisecond}, asked
}

func TestList(t *testing.T) {
	var c Client
	c, asked := serve(t, func(w http.ResponseWriter, asked string) {
		if asked == "GET /next" {
			fmt.Fprint(w, `{"value": [3]}`)
			return
		}
		fmt.Fprintf(w, `{"value": [1, 2], "nextLink": %q}`, c.Endpoint+"/next")
	})
	got, err := List[int](t.Context(), c, "/subscriptions/s/resources", "2021-04-01", Tagged("tombolo:owner", "o'1"))
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []int{1, 2, 3})
	assert.DeepEqual(t, *asked, []string{
		"GET /subscriptions/s/resources?api-version=2021-04-01&$filter=tagName+eq+%27tombolo%3Aowner%27+and+tagValue+eq+%27o%27%271%27", "GET /next",
	})
}

// TestListElsewhere: the token is not sent to another server.
func TestListElsewhere(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, _ string) {
		fmt.Fprint(w, `{"value": [1], "nextLink": "https://evil.example/next"}`)
	})
	_, err := List[int](t.Context(), c, "/x", "1", "")
	assert.Error(t, err, "list /x: the answer leads to https://evil.example/next, away from "+c.Endpoint)
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		status  int
		body    string
		want    string
		missing bool
	}{
		{403, `{"error": {"code": "AuthorizationFailed", "message": "no right"}}`, "get /x: AuthorizationFailed: no right", false},
		{404, `{"error": {"code": "ResourceNotFound", "message": "none"}}`, "get /x: ResourceNotFound: none", true},
		{400, "<html>\nbad", "get /x: status 400: <html>", false},
		{401, "", "get /x: status 401: Unauthorized", false},
		{200, "{", "get /x: read the answer: unexpected end of JSON input", false},
	} {
		c, asked := serve(t, func(w http.ResponseWriter, _ string) {
			w.WriteHeader(test.status)
			fmt.Fprint(w, test.body)
		})
		err := c.Get(t.Context(), "/x", "1", &struct{}{})
		assert.Error(t, err, test.want)
		assert.Check(t, is.Equal(IsMissing(err), test.missing))
		assert.Check(t, is.Len(*asked, 1))
	}
}

// TestSlowsDown: what Azure asks to slow down is asked again, and not forever.
func TestSlowsDown(t *testing.T) {
	for _, test := range []struct {
		refusals, asks int
		want           string
	}{{1, 2, ""}, {5, 3, "get /x: after 3 tries: TooManyRequests: slower"}} {
		left := test.refusals
		c, asked := serve(t, func(w http.ResponseWriter, _ string) {
			if left--; left >= 0 {
				w.WriteHeader(http.StatusTooManyRequests)
				fmt.Fprint(w, `{"error": {"code": "TooManyRequests", "message": "slower"}}`)
				return
			}
			fmt.Fprint(w, `{}`)
		})
		err := c.Get(t.Context(), "/x", "1", &struct{}{})
		if test.want == "" {
			assert.NilError(t, err)
		} else {
			assert.Error(t, err, test.want)
		}
		assert.Check(t, is.Len(*asked, test.asks))
	}
}

// TestUnanswered: a connection that ends without an answer is tried again, to delete as well.
func TestUnanswered(t *testing.T) {
	left := 1
	c, asked := serve(t, func(w http.ResponseWriter, _ string) {
		if left--; left >= 0 {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, `{}`)
	})
	assert.NilError(t, c.Delete(t.Context(), "/x", "1"))
	assert.Check(t, is.Len(*asked, 2))
	left = 5
	err := c.Get(t.Context(), "/x", "1", &struct{}{})
	assert.ErrorContains(t, err, "get /x: after 3 tries: ")
	assert.Check(t, IsPassing(err))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, c.Get(ctx, "/x", "1", &struct{}{}), context.Canceled)
}

func TestDelete(t *testing.T) {
	for _, test := range []struct {
		name, header string
		answers      []string
		status       int
		want         string
		looks        int
	}{
		{"at once", "", nil, 200, "", 0},
		{"gone", "", nil, 404, "", 0},
		{"an operation", "Azure-AsyncOperation", []string{`{"status": "InProgress"}`, `{"status": "Succeeded"}`}, 202, "", 2},
		{"one that fails", "Azure-AsyncOperation", []string{`{"status": "Failed", "error": {"code": "InUse", "message": "still used"}}`}, 202, "delete /x: InUse: still used", 1},
		{"a location", "Location", []string{"202", "204"}, 202, "", 2},
		{"refused", "", nil, 409, "delete /x: status 409: Conflict", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c Client
			look := 0
			c, asked := serve(t, func(w http.ResponseWriter, asked string) {
				if asked == "DELETE /x?api-version=1" {
					if test.header != "" {
						w.Header().Set(test.header, c.Endpoint+"/operation")
					}
					w.WriteHeader(test.status)
					return
				}
				answer := test.answers[look]
				look++
				if test.header == "Location" {
					status := 0
					_, err := fmt.Sscan(answer, &status)
					assert.NilError(t, err)
					w.WriteHeader(status)
					return
				}
				fmt.Fprint(w, answer)
			})
			err := c.Delete(t.Context(), "/x", "1")
			if test.want == "" {
				assert.NilError(t, err)
			} else {
				assert.Error(t, err, test.want)
			}
			assert.Check(t, is.Len(*asked, 1+test.looks))
		})
	}
}

// TestNoTokenAfterARedirect: the token goes nowhere that the Resource Manager redirects to.
func TestNoTokenAfterARedirect(t *testing.T) {
	elsewhere, asked := serve(t, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, `{}`) })
	c, _ := serve(t, func(w http.ResponseWriter, _ string) {
		w.Header().Set("Location", elsewhere.Endpoint+"/got")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	var got any
	err := c.Get(t.Context(), "/x", "1", &got)
	assert.Error(t, err, "get /x: status 307: the answer leads to "+elsewhere.Endpoint+"/got, away from "+c.Endpoint)
	assert.Check(t, is.Len(*asked, 0))
}
