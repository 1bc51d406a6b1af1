package cli

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tombolo/internal/cli/docs"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/streams"
	"tombolo/internal/render"
)

var update = flag.Bool("update", false, "rewrite golden files and the reference")

// reference is where the generated pages are.
const reference = "../../docs/reference"

func TestReferenceOfCommands(t *testing.T) {
	s, _, _, _ := streams.Test()
	f := &factory.Factory{Streams: s, Globals: &factory.Globals{Output: render.Text}}
	page(t, "cli.md", docs.Commands(newRoot(f, new(bool))))
}

func TestReferenceOfExitCodes(t *testing.T) {
	codes := []docs.ExitCode{{Code: 0, Name: "ok", Meaning: "Done"}}
	for _, c := range append(exitClasses(), unexpected()) {
		codes = append(codes, docs.ExitCode{Code: c.code, Name: c.name, Meaning: c.meaning, Remedy: c.remedy})
	}
	slices.SortFunc(codes, func(a, b docs.ExitCode) int { return cmp.Compare(a.Code, b.Code) })
	page(t, "exit-codes.md", docs.ExitCodes(codes))
}

// page compares a generated page with the one that is committed.
func page(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(reference, name)
	if *update {
		if err := os.MkdirAll(reference, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not current (-committed +generated); run with -update:\n%s", path, diff)
	}
}
