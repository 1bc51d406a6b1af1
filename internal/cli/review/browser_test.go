//go:build browser

package review

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/tests/browser"
)

// unfold is a script that a person's hands stand for: it counts what is seen,
// unfolds everything, counts again, and writes down what it saw.
const unfold = `(function () {
    const seen = [];
    const note = (what) => {
      const shown = (of) => Array.from(document.querySelectorAll(of)).filter((e) => e.checkVisibility()).length;
      seen.push(what + ": " + shown("td.after") + " values, " + shown(".note") + " notes");
    };
    seen.push("alarms: " + document.querySelectorAll(".alarm li").length);
    note("folded");
    document.querySelectorAll("summary").forEach((e) => e.click());
    note("unfolded");
    const page = document.documentElement;
    seen.push("too wide: " + (page.scrollWidth > page.clientWidth));
    seen.push("loaded: " + performance.getEntriesByType("resource").length);
    document.body.dataset.seen = seen.join("; ");
  })();`

// The page forbids all scripts; the test's own is let in.
const (
	strict  = `default-src 'none'; `
	lenient = `default-src 'none'; script-src 'unsafe-inline'; `
)

// TestPageInABrowser opens the page in a real browser, narrow and wide, with a
// change that has all there may be: everything can be unfolded, nothing is wider
// than the window, nothing is loaded, and the browser has nothing to complain of.
func TestPageInABrowser(t *testing.T) {
	all := changesOfRequests()
	set := all["upgrade"]
	for _, name := range []string{"addon", "node-group"} {
		set.Clusters = append(set.Clusters, all[name].Clusters...)
	}
	set.Removed = all["removed-file"].Removed
	policy := &config.Policy{File: config.PolicyFile, Rules: []config.PolicyRule{
		{Name: "nodes", Match: config.PolicyMatch{Dangers: []string{config.AnyDanger}}, Decision: config.SecondApproval},
	}}
	assert.NilError(t, set.Judge(policy, 1))
	text, err := Page(set)
	assert.NilError(t, err)
	page := string(text)
	assert.Assert(t, strings.Count(page, strict) == 1, "the page's policy is not %q", strict)
	visited := strings.Replace(browser.Visited(t, page, unfold), strict, lenient, 1)
	for _, width := range []int{browser.Narrow, browser.Wide} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			if _, complaints := browser.Open(t, page, width); complaints != "" {
				t.Errorf("the browser complains of the page:\n%s", complaints)
			}
			dom, complaints := browser.Open(t, visited, width)
			want := fmt.Sprintf(`data-seen="alarms: 1; folded: 0 values, 0 notes; unfolded: %d values, %d notes; too wide: false; loaded: 0"`,
				strings.Count(page, `<td class="after">`), strings.Count(page, `<span class="note">`))
			if !strings.Contains(dom, want) {
				_, seen, _ := strings.Cut(dom, "data-seen=")
				t.Errorf("want %s, got %.300s", want, seen)
			}
			assert.Check(t, is.Equal(complaints, ""))
		})
	}
}
