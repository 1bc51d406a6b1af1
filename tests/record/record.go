// Package record remembers which test of the lab passed with which inputs, so that it need not
// run again with the same. The records are in the user's cache, a file for each.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// read are the files and directories of the checkout that the lab's tests copy, read or build.
// What the programs in bin are built from is in them. Where Go writes the commit into programs,
// as it does without -buildvcs=false, another commit is another input.
func read() []string {
	return []string{
		"Pulumi.yaml", "go.mod", "go.sum", "clusters", "cmd", "platform", "lab/charts", "lab/systems",
		"tools/logrules", "tools/rules", "tools/state", "bin/tombolo", "bin/tombolo-lab", "bin/lab-aws",
	}
}

// unused are the tools that no test uses.
var unused = map[string]bool{"golangci-lint": true}

// Inputs identifies what the tests of a package depend on, in the checkout at root: the tests'
// own program, which has all packages that they import; the package's testdata; the tools, by
// the names of their directories, which are those of what they were built from; and read. The
// working directory is the package's, as Go has it for tests.
func Inputs(root string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the tests' own program: %w", err)
	}
	sum := sha256.New()
	paths := []string{self, "testdata"}
	for _, name := range read() {
		paths = append(paths, filepath.Join(root, filepath.FromSlash(name)))
	}
	for _, path := range paths {
		if err := digest(sum, path); err != nil {
			return "", fmt.Errorf("reading what tests depend on: %w", err)
		}
	}
	if err := digest(sum, filepath.Join(root, ".tools")); err != nil {
		return "", fmt.Errorf("reading which tools there are: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// digest adds the names and contents of a file, or of all files of a directory, and where links
// lead to. What is not there is an input too.
func digest(sum io.Writer, path string) error {
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || unused[entry.Name()] || left(entry.Name()) {
			return err
		}
		inside, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		content, err := digestOf(name, entry)
		fmt.Fprintf(sum, "%s %s\n", inside, content)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(sum, "nothing")
		return nil
	}
	return err
}

// left says that a file is not what the lab's tests read: other tests, and settings of stacks,
// which are the user's own.
func left(name string) bool {
	settings, _ := filepath.Match("Pulumi.*-*.yaml", name)
	return settings || strings.HasSuffix(name, "_test.go")
}

func digestOf(path string, entry fs.DirEntry) (string, error) {
	if entry.Type()&fs.ModeSymlink != 0 {
		return os.Readlink(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}
