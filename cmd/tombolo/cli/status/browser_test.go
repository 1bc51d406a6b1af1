//go:build browser

package status

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/browser"
)

// visit is a script that a person's hands stand for: it looks for a cluster by
// its name, then for those with problems, and writes down what it saw.
const visit = `(function () {
    ` + browser.Readable + `
    const seen = [];
    const note = (what) => seen.push(what + ": " + document.getElementById("shown").textContent);
    note("all");
    const find = document.getElementById("find");
    find.value = "DEMO";
    find.dispatchEvent(new Event("input"));
    note("named demo");
    find.value = "";
    find.dispatchEvent(new Event("input"));
    document.getElementById("trouble").click();
    note("in trouble");
    document.getElementById("trouble").click();
    document.querySelectorAll("summary").forEach((e) => e.click());
    seen.push("unreadable: " + unreadable());
    const page = document.documentElement;
    seen.push("too wide: " + (page.scrollWidth > page.clientWidth));
    seen.push("loaded: " + performance.getEntriesByType("resource").length);
    document.body.dataset.seen = seen.join("; ");
  })();`

// TestPageInABrowser opens the page in a real browser, narrow and wide: its
// script works, nothing is loaded from elsewhere, nothing is wider than the
// window, and the browser has nothing to complain of.
func TestPageInABrowser(t *testing.T) {
	page := browser.Visited(t, writtenPage(t), visit)
	for _, width := range []int{browser.Narrow, browser.Wide} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			dom, complaints := browser.Open(t, page, width)
			want := `data-seen="all: 11 of 11 shown; named demo: 1 of 11 shown; in trouble: 7 of 11 shown; ` +
				`unreadable: 0; too wide: false; loaded: 0"`
			if !strings.Contains(dom, want) {
				_, seen, _ := strings.Cut(dom, "data-seen=")
				t.Errorf("want %s, got %.300s", want, seen)
			}
			assert.Check(t, is.Equal(complaints, ""))
		})
	}
}
