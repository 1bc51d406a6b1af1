// Package scenario is what the scenarios of the command line share.
package scenario

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"gotest.tools/v3/golden"

	"tombolo/automation/clouds"
	"tombolo/check"
	lab "tombolo/cmd/tombolo-lab/commands"
	"tombolo/cmd/tombolo/cli"
	"tombolo/cmd/tombolo/cli/commands"
	"tombolo/cmd/tombolo/cli/labprogram"
	"tombolo/config"
	"tombolo/stacks/programs"
)

// today is the day on which scenarios take place: no version of Kubernetes from 1.34 on has
// a warning then.
var today = time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC)

// Main runs a package's tests with tombolo as a command of its scenarios. It is
// what a TestMain does, and does not return; exit is os.Exit. The tests and the command,
// which is the same program, judge cluster files by one day: what they print does not
// change when AWS ends its support of a version.
func Main(m testscript.TestingM, exit func(code int)) {
	config.Today = func() time.Time { return today }
	testscript.Main(m, map[string]func(){
		"tombolo": func() {
			exit(cli.Main(cli.Program{Commands: commands.Add, Programs: programs.All(), Clouds: clouds.All(), CheckTree: check.Check}))
		},
		labprogram.Name: func() { exit(cli.Main(cli.Program{Commands: lab.Add})) },
	})
}

// Command is a command of scenarios that is not tombolo.
type Command = func(*testscript.TestScript, bool, []string)

// Run runs the scenarios in testdata/script; with -update it rewrites the output
// that they expect. setup prepares the directory of each. Beside the given
// commands, scenarios have one of their own:
//
//	exits <code> <command>...   runs a command that must end with the exit code
func Run(t *testing.T, setup func(*testscript.Env) error, commands map[string]Command) {
	p := params(setup, commands)
	p.Dir = "testdata/script"
	testscript.Run(t, p)
}

// RunFile runs one scenario, which may run several times with another setup.
func RunFile(t *testing.T, file string, setup func(*testscript.Env) error, commands map[string]Command) {
	p := params(setup, commands)
	p.Files = []string{file}
	testscript.Run(t, p)
}

func params(setup func(*testscript.Env) error, commands map[string]Command) testscript.Params {
	all := map[string]Command{"exits": exits}
	maps.Copy(all, commands)
	return testscript.Params{
		UpdateScripts:       golden.FlagUpdate(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                all,
		Setup: func(env *testscript.Env) error {
			env.Setenv("LANG", "C.UTF-8")
			env.Setenv("TZ", "UTC")
			return setup(env)
		},
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits <code> <command>...")
	}
	got, err := code(ts.Exec(args[1], args[2:]...))
	if err != nil {
		ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
	}
	if got != args[0] {
		ts.Fatalf("%s ends with exit code %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// code returns the exit code of a command, or why it has none.
func code(err error) (string, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "0", nil
	case errors.As(err, &exit):
		return fmt.Sprint(exit.ExitCode()), nil
	}
	return "", err
}
