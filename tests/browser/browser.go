// Package browser opens pages in a real browser, for the tests of pages, which
// have the build tag browser.
package browser

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// openTimeout is the longest that a page may take: the browser starts anew for
// each, which takes seconds.
const openTimeout = 2 * time.Minute

// Narrow and Wide are widths of windows, in pixels: a phone's and a laptop's.
const (
	Narrow = 400
	Wide   = 1200
)

// leastWindow is Chromium's narrowest window, in pixels. A narrower one is a frame in it.
const leastWindow = 500

// find finds the browser: TOMBOLO_BROWSER, or Chromium by its usual names.
func find(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("TOMBOLO_BROWSER"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Fatal("no browser found: install chromium, or name one by TOMBOLO_BROWSER")
	return ""
}

// Open opens a page in a window of a width. It returns the page as the browser
// has it after its scripts, and what it has written to the console: "" when it
// has nothing to complain of.
func Open(t *testing.T, page string, width int) (dom, complaints string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if width < leastWindow {
		page = framed(page, width)
	}
	assert.NilError(t, os.WriteFile(path, []byte(page), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), openTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, find(t), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
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

// framed is a page in a frame of a width. What a script has written down of the page as
// data-seen is written down of the frame.
func framed(page string, width int) string {
	return fmt.Sprintf(`<!DOCTYPE html><html><body style="margin: 0"><iframe id="frame" style="width: %dpx; height: 900px; border: 0" srcdoc="%s"></iframe>`+
		`<script>addEventListener("load", () => {
		const seen = document.getElementById("frame").contentDocument.body.dataset.seen;
		if (seen !== undefined) document.body.dataset.seen = seen;
	});</script></body></html>`, width, html.EscapeString(page))
}

// Readable is a function in JavaScript that counts the cells of tables that cannot be read
// well: those that are narrower than what they hold and narrower than 6 rem, or that have
// no heading to be seen, neither above the column nor in the cell.
const Readable = `function unreadable() {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    return Array.from(document.querySelectorAll("td, tbody th")).filter((cell) => {
      if (!cell.checkVisibility() || !cell.textContent.trim()) return false;
      const range = document.createRange();
      range.selectNodeContents(cell);
      const lines = new Set(Array.from(range.getClientRects()).map((r) => Math.round(r.top / 8))).size;
      const headed = cell.tagName === "TH" || getComputedStyle(cell, "::before").content !== "none" ||
        cell.closest("table").querySelector("thead th")?.checkVisibility();
      return cell.scrollWidth > cell.clientWidth + 1 || lines > 2 && cell.clientWidth < 6 * rem || !headed;
    }).length;
  }`

// Visited is a page with a script at its end, which stands for a person's hands
// and eyes.
func Visited(t *testing.T, page, script string) string {
	t.Helper()
	const end = "</body>"
	if strings.Count(page, end) != 1 {
		t.Fatalf("the page has %q not once", end)
	}
	return strings.Replace(page, end, "<script>"+script+"</script>"+end, 1)
}
