package cli

import (
	"cmp"
	"slices"
	"testing"

	"gotest.tools/v3/golden"

	"tombolo/cmd/tombolo/cli/docs"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/streams"
	"tombolo/cmd/tombolo/render"
)

// reference is where the generated pages are, seen from testdata.
const reference = "../../../../docs/reference"

func TestReferenceOfCommands(t *testing.T) {
	s, _, _, _ := streams.Test()
	f := &factory.Factory{Streams: s, Globals: &factory.Globals{Output: render.Text}}
	golden.Assert(t, docs.Commands(tombolo.newRoot(f, new(bool))), reference+"/cli.md")
}

func TestReferenceOfExitCodes(t *testing.T) {
	codes := []docs.ExitCode{{Code: 0, Name: "ok", Meaning: "Done"}}
	for _, c := range append(exitClasses(), unexpected()) {
		codes = append(codes, docs.ExitCode{Code: c.code, Name: c.name, Meaning: c.meaning, Remedy: c.remedy})
	}
	slices.SortFunc(codes, func(a, b docs.ExitCode) int { return cmp.Compare(a.Code, b.Code) })
	golden.Assert(t, docs.ExitCodes(codes), reference+"/exit-codes.md")
}
