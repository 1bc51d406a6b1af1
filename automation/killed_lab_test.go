//go:build lab

package automation

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/cloud"
	"tombolo/automation/cloud/aws"
	"tombolo/automation/clouds"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/automation/process"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
	"tombolo/stacks/programs"
	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// kills is how many of up, and of destroy, the test does.
const kills = 30

// moments is within how many messages of a driver a kill comes: the fewer, the
// less an attempt gets done before it. A destroy says less, and a CLI whose driver
// was killed can end it alone.
var moments = map[string]int{"up": 25, "destroy": 12}

// TestKilledAtRandomMoments kills the driver, its CLI, or both, again and again,
// in the middle of up and of destroy. Each attempt goes on from what the last one
// left. Whenever one comes to its end, the stand-in has exactly what the state
// says, and nothing twice. TOMBOLO_TEST_SEED repeats the moments of an earlier
// run, as near as processes that run side by side allow.
func TestKilledAtRandomMoments(t *testing.T) {
	tier.Short(t, "kills at random moments of up and destroy leave nothing twice")
	t.Parallel()
	random := rand.New(rand.NewPCG(seedOf(t), 0))
	v := newVictim(t)
	for _, operation := range []string{"up", "destroy"} {
		for done := 0; done < kills; {
			target := []string{"driver", "engine", "both"}[random.IntN(3)]
			later := time.Duration(random.IntN(200)) * time.Millisecond
			if v.attempt(t, operation, target, random.IntN(moments[operation]), later) {
				done++
				continue
			}
			v.compare(t, operation)
			v.finish(t, reverse(operation))
		}
		v.finish(t, operation)
	}
}

// finish does an operation that nobody kills.
func (v *victim) finish(t *testing.T, operation string) {
	t.Helper()
	assert.Assert(t, !v.attempt(t, operation, "", 0, 0), "%s was killed by nobody", operation)
	v.compare(t, operation)
}

func reverse(operation string) string {
	if operation == "up" {
		return "destroy"
	}
	return "up"
}

func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("TOMBOLO_TEST_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("TOMBOLO_TEST_SEED=%d", seed)
	return seed
}

// victim is a driver in a process of its own, and the lab it works in.
type victim struct {
	dir, tombolo string
	env          map[string]string
	// story is what each attempt said.
	story []string
}

// slowly has the stand-in be a little slower than at once, so that there are moments to hit.
const slowly = "TOMBOLO_LAB_LATENCY=0.005"

// newVictim starts a lab in which only the stand-in has something to do.
func newVictim(t *testing.T) *victim {
	t.Helper()
	root, err := filepath.Abs("..")
	assert.NilError(t, err)
	dir, err := os.MkdirTemp("", "tombolo-") //nolint:usetesting // the path of a socket in it must stay short
	assert.NilError(t, err)
	v := &victim{dir: dir, tombolo: filepath.Join(root, "bin", "tombolo")}
	for _, name := range []string{"platform", filepath.Join("lab", "charts")} {
		assert.NilError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(root, name))))
	}
	err = errors.Join(files.Tools(dir, root),
		os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: tombolo\nruntime: go\nstackConfigDir: clusters\n"), 0o600),
		os.Mkdir(filepath.Join(dir, "clusters"), 0o700))
	assert.NilError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(strings.Join(v.story, "\n"))
		}
		v.run(context.WithoutCancel(t.Context()), t, "lab", "down")
		assert.NilError(t, os.RemoveAll(dir))
	})
	v.run(t.Context(), t, "lab", "up")
	decode(t, v.run(t.Context(), t, "lab", "env", "--output", "json"), &v.env)
	return v
}

func (v *victim) run(ctx context.Context, t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(ctx, v.tombolo, args...)
	cmd.Dir, cmd.Env = v.dir, append(os.Environ(), slowly)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tombolo %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	assert.NilError(t, json.Unmarshal(text, into), "decoding %s", text)
}

// attempt runs an operation, and kills the victim a moment after the operation
// has said so many things. It returns false when the operation was at its end
// before that.
func (v *victim) attempt(t *testing.T, operation, victim string, moment int, later time.Duration) (killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDriverToBeKilled$")
	cmd.Dir = v.dir
	cmd.Env = append(os.Environ(), slowly, "TOMBOLO_TEST_OPERATION="+operation, "TOMBOLO_TEST_ROOT="+v.dir)
	cmd.Env = append(cmd.Env, pulumicli.Environ(v.env)...)
	var said, failed bytes.Buffer
	out, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	cmd.Stderr = &failed
	assert.NilError(t, cmd.Start())
	lines := bufio.NewScanner(io.TeeReader(out, &said))
	for heard := 0; lines.Scan(); heard++ {
		if victim == "" || heard < moment || killed {
			continue
		}
		<-time.After(later) // not every kill right after a message
		killed = v.kill(t, victim, cmd.Process.Pid)
	}
	err = cmd.Wait()
	switch {
	case err == nil:
		v.tell(t, operation+" came to its end", said.String()) // also when the kill came too late
		return false
	case !killed:
		t.Fatalf("%s failed by itself: %v\n%s%s", operation, err, said.String(), failed.String())
	}
	v.tell(t, fmt.Sprintf("%s: killed %s", operation, victim), said.String())
	return true
}

// tell logs an attempt, and keeps what it said for the case of a failure.
func (v *victim) tell(t *testing.T, what, said string) {
	t.Helper()
	t.Log(what)
	v.story = append(v.story, fmt.Sprintf("%s, after it had said:\n%s", what, said))
}

// kill ends the driver, the CLI that it runs now, or both, so that they can do
// nothing more.
func (v *victim) kill(t *testing.T, victim string, driver int) bool {
	t.Helper()
	var targets []int
	for _, pid := range process.Below(driver) {
		if p, ok := (process.Host{}).Process(pid); ok && p.Name == "pulumi" && victim != "driver" {
			targets = append(targets, pid)
		}
	}
	if victim != "engine" {
		targets = append(targets, driver)
	}
	for _, pid := range targets {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	return len(targets) > 0
}

// thing is a resource, as the stand-in and as the state have it.
type thing struct{ Type, ID string }

// compare says that the stand-in has what the states have.
func (v *victim) compare(t *testing.T, operation string) {
	t.Helper()
	d := v.driver(t, noObserver{})
	var known []thing
	for _, k := range stacks.Kinds() {
		st, err := d.backend.State(t.Context(), stacks.Name(demo().Name, k))
		assert.NilError(t, err)
		n := st.Interrupted()
		assert.Check(t, n == 0, "after %s, %d operations are pending in %s", operation, n, k)
		for _, r := range st.Deployment.Resources {
			if r.Custom && strings.HasPrefix(string(r.Type), "aws:") {
				known = append(known, thing{string(r.Type), string(r.ID)})
			}
		}
	}
	var status struct{ Inventory []thing }
	decode(t, v.run(t.Context(), t, "lab", "status", "--output", "json"), &status)
	order := func(a, b thing) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) }
	slices.SortFunc(known, order)
	slices.SortFunc(status.Inventory, order)
	assert.Assert(t, is.DeepEqual(status.Inventory, known, cmpopts.EquateEmpty()),
		"after %s the state and the stand-in differ", operation)
	if up := operation == "up"; up != (len(known) == landscapeSize) || !up && len(known) > 0 {
		t.Fatalf("after %s there are %d resources", operation, len(known))
	}
}

func (v *victim) driver(t *testing.T, o Observer) *Driver {
	t.Helper()
	d, err := New(Options{
		Programs: programs.All(), Clouds: clouds.All(),
		Root: v.dir, WorkDir: filepath.Join(v.dir, ".lab", "work"), Env: v.env, Observer: o,
		SecretsProvider: v.env["TOMBOLO_LAB_SECRETS"],
	})
	assert.NilError(t, err)
	d.deps.preflight = nothingMissing
	inRoomyCloud(d)
	d.deps.program = landscape
	d.deps.dial = func(handoff.Values) (kube.Cluster, error) { return kubetest.ArgoCD(t), nil }
	return d
}

// TestDriverToBeKilled is the driver of TestKilledAtRandomMoments, which starts
// it in a process of its own.
func TestDriverToBeKilled(t *testing.T) {
	operation := os.Getenv("TOMBOLO_TEST_OPERATION")
	if operation == "" {
		t.Skip("it is started by TestKilledAtRandomMoments")
	}
	v := &victim{dir: os.Getenv("TOMBOLO_TEST_ROOT"), env: map[string]string{}}
	d := v.driver(t, aloud{os.Stdout})
	var err error
	if operation == "up" {
		_, err = d.Up(t.Context(), demo(), UpOptions{Force: true})
	} else {
		_, err = d.Destroy(t.Context(), demo(), DestroyOptions{})
	}
	assert.NilError(t, err)
}

// aloud says what happens, a line each.
type aloud struct{ w io.Writer }

func (a aloud) StackStarted(stack, operation string) { fmt.Fprintln(a.w, "started", operation, stack) }
func (a aloud) StackFinished(stack string, _ map[string]int, err error) {
	fmt.Fprintln(a.w, "finished", stack, err)
}
func (a aloud) StackPlanned(string, int)     {}
func (a aloud) Waiting(cluster, what string) { fmt.Fprintln(a.w, "waiting", cluster, what) }
func (a aloud) Note(stack, message string)   { fmt.Fprintln(a.w, "note", stack, message) }
func (a aloud) EngineEvent(_ string, e events.EngineEvent) {
	switch {
	case e.ResourcePreEvent != nil:
		fmt.Fprintln(a.w, "begins", e.ResourcePreEvent.Metadata.Op, e.ResourcePreEvent.Metadata.URN)
	case e.ResOutputsEvent != nil:
		fmt.Fprintln(a.w, "did", e.ResOutputsEvent.Metadata.Op, e.ResOutputsEvent.Metadata.URN)
	}
}

// inRoomyCloud has the driver ask such a cloud.
func inRoomyCloud(d *Driver) *roomyCloud {
	r := &roomyCloud{Cloud: aws.Cloud{Pulumi: d.pulumi}}
	d.deps.cloud = func(*config.Cluster) cloud.Cloud { return r }
	return r
}
