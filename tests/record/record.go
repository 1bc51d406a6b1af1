// Package record remembers which test of the lab passed with which inputs, so that it need not
// run again with the same. The records are in the user's cache, a file for each.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tombolo/internal/file"
)

// age is how long a record counts. What the system has, such as Git and Node.js, is not among
// the inputs.
const age = 14 * 24 * time.Hour

// Record is that of one test with its inputs.
type Record struct {
	dir, key, test string
	now            func() time.Time
}

// Of is the record of a test with all that decides how it ends.
func Of(test string, inputs ...string) (Record, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Record{}, fmt.Errorf("finding a place for the records of tests: %w", err)
	}
	sum := sha256.Sum256([]byte(test + "\n" + strings.Join(inputs, "\n")))
	return Record{dir: filepath.Join(cache, "tombolo", "tests"), key: hex.EncodeToString(sum[:]), test: test, now: time.Now}, nil
}

// Passed is when the test passed with these inputs.
func (r Record) Passed() (at time.Time, ok bool) {
	text, err := os.ReadFile(filepath.Join(r.dir, r.key))
	if err != nil {
		return time.Time{}, false
	}
	test, when, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	at, err = time.Parse(time.RFC3339, when)
	return at, err == nil && test == r.test && r.now().Sub(at) < age
}

// Keep writes down that the test has passed, as a whole file: two runs at once do no harm to
// each other. What no longer counts is removed.
func (r Record) Keep() error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return fmt.Errorf("keeping the record of %s: %w", r.test, err)
	}
	r.removeOld()
	text := r.test + " " + r.now().UTC().Format(time.RFC3339) + "\n"
	if err := file.Replace(filepath.Join(r.dir, r.key), []byte(text), 0o600); err != nil {
		return fmt.Errorf("keeping the record of %s: %w", r.test, err)
	}
	return nil
}

func (r Record) removeOld() {
	entries, _ := os.ReadDir(r.dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && r.now().Sub(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(r.dir, entry.Name()))
		}
	}
}
