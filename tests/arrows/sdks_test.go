//go:build lint

package arrows

import (
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestNoSDKs: the driver and the commands are given what takes the SDK of a provider along.
// With it, the test of every command would link 200 MB. Only the commands of the lab have it.
func TestNoSDKs(t *testing.T) {
	wanted := []string{"tombolo/automation"}
	for _, p := range goList(t, "{{.ImportPath}}", "tombolo/cmd/tombolo/cli/...") {
		if p != "tombolo/cmd/tombolo/cli" && p != "tombolo/cmd/tombolo/cli/lab" {
			wanted = append(wanted, p)
		}
	}
	all := `{{$p := .ImportPath}}{{range .Deps}}{{$p}} imports {{.}}{{"\n"}}{{end}}`
	for _, line := range goList(t, all, wanted...) {
		for _, sdk := range append(sdks(), "github.com/pulumi/pulumi-kubernetes") {
			assert.Check(t, !strings.Contains(line, " imports "+sdk+"/"),
				"%s, by one of its imports: give it to the factory, as main does with stacks/programs", line)
		}
	}
}

// goList are the lines that go list prints.
func goList(t *testing.T, format string, packages ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-f", format}, packages...)...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	assert.NilError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
