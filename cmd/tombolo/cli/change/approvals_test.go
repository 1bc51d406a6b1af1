package change

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
)

func TestApprovals(t *testing.T) {
	for text, want := range map[string]Approvals{"0": {}, "2": {Number: 2}, "auto": {Auto: true}} {
		var a Approvals
		if err := a.Set(text); err != nil || a != want || a.String() != text {
			t.Errorf("%q is %+v, %v", text, a, err)
		}
	}
	for _, text := range []string{"-1", "two", ""} {
		assert.Check(t, new(Approvals).Set(text) != nil, "%q was taken", text)
	}
}

// TestUntoldApprovals: a preview is shown also where the host does not tell who has committed;
// nobody has approved it then. Where the host fails, nothing goes on.
func TestUntoldApprovals(t *testing.T) {
	f := clitest.New(t, render.Text)
	for answer, want := range map[string]string{`{"head":{"sha":"h","repo":null}}`: "", "": "403 Forbidden"} {
		server := clitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case answer == "":
				w.WriteHeader(http.StatusForbidden)
			case strings.HasSuffix(r.URL.Path, "/reviews"):
				fmt.Fprint(w, `[{"user":{"id":1},"state":"APPROVED","commit_id":"h"},{"user":{"id":2},"state":"APPROVED","commit_id":"h"}]`)
			default:
				fmt.Fprint(w, answer)
			}
		}))
		env := map[string]string{
			"GITHUB_ACTIONS": "true", "GITHUB_TOKEN": "t", "GITHUB_API_URL": server.URL, "GITHUB_REPOSITORY": "acme/clusters", "GITHUB_REF": "refs/pull/7/merge",
		}
		j := Judge{Approvals: Approvals{Auto: true}, Lookup: clitest.Env(env)}
		n, err := j.approvals(t.Context(), f.Status())("demo")
		assert.Equal(t, n, 0)
		if want != "" {
			assert.ErrorContains(t, err, want)
			continue
		}
		assert.NilError(t, err)
		assert.Check(t, is.Contains(f.ErrOut.String(), "nobody is known to have approved the change: request 7: the branch that it comes from is gone"))
	}
}
