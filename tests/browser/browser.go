// Package browser opens pages in a real browser, for the tests of pages, which
// have the build tag browser.
package browser

import (
	"context"
	"fmt"
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

// Narrow and Wide are widths of windows, in pixels; Chromium's least is 500.
const (
	Narrow = 500
	Wide   = 1280
)

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
