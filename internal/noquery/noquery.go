// Package noquery keeps libraries from asking the terminal for its colours while a program
// starts: bubbletea, which Pulumi's SDK imports, does so before main, and waits five seconds
// where a terminal does not answer.
package noquery

// No more is imported than os: Go initialises the first package, by path, whose imports are
// ready (https://go.dev/ref/spec#Program_initialization). os needs no "unicode", and strings
// does, so that this package comes before "unicode", and both before all that imports strings,
// as bubbletea and its libraries do.
import "os"

// variable tells termenv that a job's log is behind the terminal, so that it asks nothing.
const variable = "CI"

var before, wasSet = hide()

// Restore gives back the environment that the program was started with: main calls it first.
func Restore() {
	if wasSet {
		_ = os.Setenv(variable, before)
		return
	}
	_ = os.Unsetenv(variable)
}

func hide() (before string, wasSet bool) {
	before, wasSet = os.LookupEnv(variable)
	_ = os.Setenv(variable, "true")
	return before, wasSet
}
