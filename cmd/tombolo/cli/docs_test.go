package cli

import (
	"cmp"
	"slices"
	"testing"

	"gotest.tools/v3/golden"

	"tombolo/cmd/tombolo/cli/docs"
)

// reference is where the generated pages are, seen from testdata.
const reference = "../../../../docs/reference"

func TestReferenceOfCommands(t *testing.T) {
	golden.Assert(t, docs.Commands(testRoot(t)), reference+"/cli.md")
}

func TestReferenceOfExitCodes(t *testing.T) {
	codes := []docs.ExitCode{{Code: 0, Name: "ok", Meaning: "Done"}}
	for _, c := range append(exitClasses(), unexpected()) {
		codes = append(codes, docs.ExitCode{Code: c.code, Name: c.name, Meaning: c.meaning, Remedy: c.remedy})
	}
	slices.SortFunc(codes, func(a, b docs.ExitCode) int { return cmp.Compare(a.Code, b.Code) })
	golden.Assert(t, docs.ExitCodes(codes), reference+"/exit-codes.md")
}
