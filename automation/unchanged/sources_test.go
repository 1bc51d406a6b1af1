package unchanged

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// surroundings are functions by which a program learns of more than its arguments.
var surroundings = map[string][]string{
	"os":       {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "ReadFile", "Open", "OpenFile", "ReadDir", "DirFS", "Hostname", "Getwd", "UserHomeDir", "Executable"},
	"file":     {"Read", "ReadInside", "Matching"},
	"files":    {"Read", "ReadInside"}, // the same, where a variable is a file
	"user":     {"Current"},
	"time":     {"Now", "Since"},
	"http":     {"NewRequest", "NewRequestWithContext", "Get", "Post", "Head"},
	"exec":     {"Command", "CommandContext", "LookPath"},
	"rand":     {"Text", "Read", "Int", "IntN", "Reader"},
	"net":      {"Dial", "Listen", "LookupHost"},
	"filepath": {"Glob", "Walk", "WalkDir"},
	"uuid":     {"New", "NewString"},
}

// inputs say which input of an up has what a place of the programs' source learns.
var inputs = map[string]string{
	"components/distribution/source.go http.NewRequestWithContext": "Cluster: the file has the checksum of what is at the URL",
	"components/distribution/source.go file.Read":                  "Files: the distribution",
	"components/terraformstate/blob.go exec.CommandContext":        "none: an up with values from a state of Terraform starts the engine",
	"components/terraformstate/blob.go http.NewRequestWithContext": "none: an up with values from a state of Terraform starts the engine",
	"components/terraformstate/read.go file.Read":                  "none: an up with values from a state of Terraform starts the engine",
	"components/terraformstate/read.go http.NewRequestWithContext": "none: an up with values from a state of Terraform starts the engine",
	"config/account.go file.Matching":                              "none: files of accounts are for the stacks of pipelines",
	"config/clock.go time.Now":                                     "none: what is judged by the date is refused, or told, before an up",
	"config/hub.go file.Matching":                                  "none: the names of others are for what an error says",
	"config/load.go os.ReadDir":                                    "none: the names of others are for what an error says",
	"config/load.go file.Read":                                     "Cluster and Hub, with what they share",
	"config/shared.go os.ReadDir":                                  "none: files that no cluster has are for what an error says",
	"config/policy/policy.go files.ReadInside":                     "none: policies judge plans",
	"config/stackfile/stackfile.go files.ReadInside":               "none: own stacks are run by each up of their cluster",
	"config/secret/secret.go os.Getenv":                            "none: where secrets may be is refused before an up",
	"stacks/bootstrap/preflight.go os.Getenv":                      "none: the lab's own copy of a release, by the checksum that the file has",
	"stacks/bootstrap/secrets.go os.Getenv":                        "Secrets",
	"stacks/bootstrap/secrets.go file.Read":                        "Secrets",
	"components/terraformstate/read.go os.Getenv":                  "none: the way to a state of Terraform",
	"stacks/handoff/restconfig.go exec.LookPath":                   "none: the way to the cluster",
	"stacks/handoff/restconfig.go os.Getenv":                       "none: the way to the cluster",
	"stacks/owner/owner.go rand.Text":                              "States: a cluster keeps its first identity",
	"stacks/programs/plain.go os.Getenv":                           "Cluster, and Backend",
}

// TestNoInputIsForgotten: what the programs of the stacks learn of their surroundings is in the
// digest. Who has them read something new says here which input has it.
func TestNoInputIsForgotten(t *testing.T) {
	const root = "../.."
	found := map[string]bool{}
	for _, dir := range []string{"stacks", "components", "config"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			for _, call := range learns(file) {
				found[filepath.ToSlash(name)+" "+call] = true
			}
			return err
		})
		assert.NilError(t, err)
	}
	for _, place := range slices.Sorted(maps.Keys(found)) {
		assert.Check(t, inputs[place] != "", "%s: which input of an up has this? Add it to Inputs, and say so in this test", place)
	}
	for place := range inputs {
		assert.Check(t, found[place], "%s is not there any more: remove it", place)
	}
}

// learns are the functions of surroundings that a file uses.
func learns(file *ast.File) []string {
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := selector.X.(*ast.Ident); ok && slices.Contains(surroundings[of.Name], selector.Sel.Name) {
			out = append(out, of.Name+"."+selector.Sel.Name)
		}
		return true
	})
	return out
}
