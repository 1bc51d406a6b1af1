// Package pagetest compares the pages of commands with golden files.
package pagetest

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"testing"

	"gotest.tools/v3/golden"
)

// fixed are the parts of a page that its template has word for word.
var fixed = regexp.MustCompile(`(?s)^.*<body>\n|<form .*?</thead>\n|<script>.*</script>\n|</body>.*$`)

// Golden compares the body of a page with a golden file. The parts that are fixed
// are left out; the file ends with the sum of the whole page, so that no change
// of it goes unnoticed.
func Golden(t *testing.T, page, file string) {
	t.Helper()
	body := fixed.ReplaceAllString(page, "")
	golden.Assert(t, fmt.Sprintf("%s<!-- SHA-256 of the page: %x -->\n", body, sha256.Sum256([]byte(page))), file)
}
