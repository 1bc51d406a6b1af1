package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab"
	"tombolo/lab/process"
	"tombolo/tests/files"
)

// typical are the cloud's typical durations, as they are.
const typical = 1

// versions of Kubernetes that a cluster is rebuilt from and to.
const (
	fromVersion = "1.35"
	toVersion   = "1.36"
)

// BenchmarkRebuild makes a cluster with each engine while the cloud takes no time, and rebuilds
// both at the same time while it takes its typical one: teams has Flux, mgmt Argo CD.
func BenchmarkRebuild(b *testing.B) {
	ofThisCommit(b)
	for cloud, flags := range map[string][]string{
		"aws":   nil,
		"azure": {"--keep-data"}, // the name of a key vault that is deleted stays taken
	} {
		b.Run("cloud="+cloud, func(b *testing.B) { benchmarkRebuild(b, rebuiltFiles(b, cloud), flags) })
	}
}

func benchmarkRebuild(b *testing.B, clusters map[string]string, flags []string) {
	c := fill(b, clusters)
	c.labUp(lab.Full, 0)
	for name := range clusters {
		c.run("up", name, "--yes", "--verify")
	}
	c.labStop()
	c.labUp(lab.Full, typical)
	c.run("verify", "teams", "mgmt")
	b.ReportMetric(0, "ns/op")
	var both sync.WaitGroup
	var lock sync.Mutex
	for name := range clusters {
		both.Go(func() {
			args := append([]string{"rebuild", name, "--version", toVersion, "--yes", "--output", "json"}, flags...)
			out, err := output(c.command(c.ctx, c.tombolo, args...))
			assert.Check(b, err)
			phases, err := readPhases(out)
			assert.Check(b, err)
			lock.Lock()
			defer lock.Unlock()
			for _, p := range phases {
				b.ReportMetric(p.Seconds, name+"/"+p.name()+"-sec")
			}
		})
	}
	both.Wait()
}

// rebuiltFiles are the files of the two clusters in a cloud, with the older version.
func rebuiltFiles(b *testing.B, cloud string) map[string]string {
	b.Helper()
	out := map[string]string{}
	for name, file := range map[string]string{"teams": "clusters/teams.yaml", "mgmt": "tests/lab/testdata/argocd/mgmt.yaml"} {
		text, err := os.ReadFile(filepath.Join(ownRoot(b), file))
		assert.NilError(b, err)
		if cloud == "azure" {
			parts, err := os.ReadFile(filepath.Join(ownRoot(b), "tests/lab/testdata/azure", name+".yaml"))
			assert.NilError(b, err)
			text = []byte(files.WithParts(string(text), string(parts)))
		}
		out[name] = replaced(b, string(text), `version: "`+toVersion+`"`, `version: "`+fromVersion+`"`)
	}
	// Its spokes are not here, and its tree has ApplicationSets for clusters with this label.
	const shape = "  shape: app-of-apps\n"
	hub := replaced(b, out["mgmt"], shape, shape+"  logging: \"on\"\n")
	out["mgmt"] = strings.ReplaceAll(hub, "10.40.0.0/16", "10.41.0.0/16")
	return out
}

func replaced(b *testing.B, text, was, is string) string {
	b.Helper()
	assert.Assert(b, strings.Contains(text, was), "a cluster file does not say %q", was)
	return strings.Replace(text, was, is, 1)
}

// phase of a rebuild; one without an operation is all of it.
type phase struct {
	Operation, Part string
	Seconds         float64
}

func (p phase) name() string {
	if p.Operation == "" {
		return "all"
	}
	return p.Operation + "/" + p.Part
}

// readPhases reads the documents of the command.
func readPhases(documents []byte) ([]phase, error) {
	var out []phase
	for line := range bytes.Lines(documents) {
		var d struct {
			Type string
			phase
		}
		if err := json.Unmarshal(line, &d); err != nil {
			return nil, err
		}
		if d.Type == "rebuild-phase" || d.Type == "rebuild" {
			out = append(out, d.phase)
		}
	}
	return out, nil
}

func TestReadPhases(t *testing.T) {
	got, err := readPhases([]byte(`{"type":"rebuild-plan","cluster":"a"}
{"type":"rebuild-phase","operation":"destroy","part":"core","seconds":60}
{"type":"rebuild","seconds":69}
`))
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []phase{{"destroy", "core", 60}, {Seconds: 69}})
}

// labStop ends the lab's processes. Its cloud and its clusters stay on disk.
func (c *checkout) labStop() {
	c.b.Helper()
	pid := c.labStatus().PID
	assert.NilError(c.b, process.End(pid, process.Identity(pid), downTimeout))
}
