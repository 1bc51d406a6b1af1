package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestEmptyValuesAreRefused: no flag of any command takes an empty value for none at all: a
// variable of CI that is not set would turn off what the flag is for.
func TestEmptyValuesAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"up", "demo", "--plan", "p", "--plan-digest", ""},
		{"up", "demo", "--yes", "--plan="},
		{"up", "--yes", "--all", "--selector", ""},
		{"up", "demo", "--yes", "--backend", " "},
		{"preview", "demo", "--changed-since", ""},
		{"push", "demo", "--branch", ""},
		{"verify", "demo", "--revision", ""},
		{"up", "--all", "--status", ""},
		{"destroy", "--all", "--yes-destroy", "demo,,"},
	} {
		f, _, errOut := testFactory(t)
		assert.Check(t, is.Equal(tombolo.run(t.Context(), f, args), 2), "%q: %s", args, errOut)
		assert.Check(t, is.Contains(errOut.String(), "is empty"), "%q", args)
	}
	strings := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			own := pflag.NewFlagSet("", pflag.ContinueOnError)
			own.AddFlag(flag)
			if own.Set(flag.Name, "") != nil {
				return // it refuses it by itself
			}
			strings++
			assert.Check(t, is.ErrorContains(refuseEmpty(own), "the value of --"+flag.Name+" is empty"), cmd.Name())
		})
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	f, _, _ := testFactory(t)
	walk(tombolo.newRoot(f, new(bool)))
	assert.Check(t, strings > 40, "%d flags take texts: the test sees nothing", strings)
}
