package process

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHTTPHealthy(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"ok":             {200, "ok", ""},
		"failing checks": {500, "[+]ping ok\n[-]etcd failed: reason withheld\n[-]rbac failed\n", ": 500 Internal Server Error: [-]etcd failed: reason withheld, [-]rbac failed"},
		"plain":          {503, "starting\nmore", ": 503 Service Unavailable: starting"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			}))
			defer s.Close()
			err := HTTPHealthy(s.URL, nil)(t.Context())
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || err.Error() != "GET "+s.URL+test.want):
				t.Errorf("error %v, want …%s", err, test.want)
			}
		})
	}
}
