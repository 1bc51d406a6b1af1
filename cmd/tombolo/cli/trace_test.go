package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"tombolo/cmd/tombolo/cli/clitest"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/trace/tracetest"
)

// TestTraceOfACommand: its span says how it ended, and commands that work on no stacks have none.
func TestTraceOfACommand(t *testing.T) {
	c := tracetest.NewHTTP(t)
	c.Setenv(t)
	f, _, errOut := testFactory(t)
	f.Lookup = os.LookupEnv
	assert.Equal(t, tombolo.run(t.Context(), f, []string{"up", "demo", "--yes"}), 4)
	assert.Equal(t, c.Tree(t), "tombolo up ! "+strings.TrimSuffix(strings.TrimLeft(errOut.String(), "✗x "), "\n")+"\n")
	root := c.Named("tombolo up")[0]
	assert.Check(t, is.Equal(root.Attributes["error.type"], "precondition"))
	assert.Check(t, is.Equal(root.Attributes["process.exit.code"], "4"))
	for _, args := range [][]string{{"list"}, {"up", "--no-such-flag"}, {"pipelines", "up", "x"}} {
		tombolo.run(t.Context(), f, args)
	}
	assert.Check(t, is.Len(c.Spans(), 1))
}

// TestNoVariablesNoTrace: nothing is sent, whatever else of OpenTelemetry is set.
func TestNoVariablesNoTrace(t *testing.T) {
	var asked atomic.Int32
	server := clitest.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	for _, env := range []map[string]string{
		{},
		{"OTEL_SERVICE_NAME": "x", "TRACEPARENT": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_TRACES_EXPORTER": "none"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_SDK_DISABLED": "true"},
	} {
		t.Run("", func(t *testing.T) {
			for name, value := range env {
				t.Setenv(name, value)
			}
			f, _, errOut := testFactory(t)
			f.Lookup = os.LookupEnv
			f.StartTrace(t.Context(), "up", "")
			assert.Check(t, f.Trace() == nil, "nothing is set up")
			assert.Equal(t, tombolo.run(t.Context(), f, []string{"up", "demo", "--yes"}), 4)
			assert.Check(t, !strings.Contains(errOut.String(), "trace"), errOut.String())
		})
	}
	assert.Check(t, is.Equal(asked.Load(), int32(0)))
}

// TestATraceThatCannotBeMade is a line for people, and the command goes on.
func TestATraceThatCannotBeMade(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "console")
	f, _, errOut := testFactory(t)
	f.Lookup = os.LookupEnv
	assert.Equal(t, tombolo.run(t.Context(), f, []string{"up", "demo", "--yes"}), 4)
	assert.Check(t, is.Contains(errOut.String(), "warning: no trace is made: OTEL_TRACES_EXPORTER is \"console\"; set it to otlp or none\n"))
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	gone := httptest.NewServer(nil)
	gone.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", gone.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	errOut.Reset()
	assert.Equal(t, tombolo.run(t.Context(), f, []string{"up", "demo", "--yes"}), 4)
	assert.Check(t, is.Equal(strings.Count(errOut.String(), "warning: the trace is not complete: "), 1), errOut.String())
}

// TestAnInterruptedCommandSendsItsTrace before the process ends.
func TestAnInterruptedCommandSendsItsTrace(t *testing.T) {
	c := tracetest.NewHTTP(t)
	c.Setenv(t)
	f, _, errOut := testFactory(t)
	f.Lookup = os.LookupEnv
	minimal, err := os.ReadFile("../../../config/testdata/good/minimal.yaml")
	assert.NilError(t, err)
	write(t, filepath.Join(f.Dir, "Pulumi.yaml"), "name: tombolo\n")
	assert.NilError(t, os.Mkdir(filepath.Join(f.Dir, "clusters"), 0o755))
	write(t, filepath.Join(f.Dir, "clusters", "minimal.yaml"), string(minimal))
	signals := hangingCLI(t, syscall.SIGTERM, syscall.SIGTERM)
	code := supervise(f, signals, func(ctx context.Context) int { return tombolo.run(ctx, f, []string{"up", "minimal", "--yes"}) })
	assert.Check(t, is.Equal(code, 130), errOut)
	root := c.Named("tombolo up")[0]
	assert.Check(t, root.Failed)
	assert.Check(t, is.Equal(root.Attributes["error.type"]+" "+root.Attributes["process.exit.code"], "interrupted 130"))
}

// TestCommandsWithATrace are those that there are.
func TestCommandsWithATrace(t *testing.T) {
	f, _, _ := testFactory(t)
	started := false
	var names []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if hasTrace(cmd) {
			names = append(names, cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(tombolo.newRoot(f, &started))
	assert.DeepEqual(t, names, []string{"tombolo destroy", "tombolo drift", "tombolo preview", "tombolo rebuild", "tombolo up", "tombolo upgrade"})
}
