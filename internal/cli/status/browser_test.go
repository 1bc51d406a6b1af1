//go:build browser

package status

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// visit is a script that a person's hands stand for: it looks for a cluster by
// its name, then for those that need a look, and writes down what it saw.
const visit = `<script>
  (function () {
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
    const page = document.documentElement;
    seen.push("too wide: " + (page.scrollWidth > page.clientWidth));
    seen.push("picture: " + (document.querySelector("svg").getBoundingClientRect().width > 100));
    seen.push("loaded: " + performance.getEntriesByType("resource").length);
    document.body.dataset.seen = seen.join("; ");
  })();
</script>`

// browser finds the browser: TOMBOLO_BROWSER, or Chromium by its usual names.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("TOMBOLO_BROWSER"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Fatal("no browser found: install chromium, or name one by TOMBOLO_BROWSER")
	return ""
}

// TestPageInABrowser opens the page in a real browser, narrow and wide: its
// script works, nothing is loaded from elsewhere, nothing is wider than the
// window, and the browser has nothing to complain of.
func TestPageInABrowser(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "status.html"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "status.html")
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "</body>", visit+"</body>", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{500, 1280} { // Chromium's least is 500
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			dom, complaints := open(t, path, width)
			want := `data-seen="all: 6 of 6 shown; named demo: 1 of 6 shown; in trouble: 4 of 6 shown; ` +
				`too wide: false; picture: true; loaded: 0"`
			if !strings.Contains(dom, want) {
				_, seen, _ := strings.Cut(dom, "data-seen=")
				t.Errorf("want %s, got %.300s", want, seen)
			}
			if complaints != "" {
				t.Errorf("the browser complains:\n%s", complaints)
			}
		})
	}
}

// open returns the page as the browser has it after its scripts, and what the
// page has written to the console.
func open(t *testing.T, path string, width int) (dom, complaints string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser(t), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
		"--user-data-dir="+t.TempDir(), fmt.Sprintf("--window-size=%d,900", width), "--dump-dom", "file://"+path)
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("opening the page: %v\n%s", err, log.String())
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			complaints += line
		}
	}
	return out.String(), complaints
}
