package status

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/automation"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/webpage/pagetest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// now is the moment at which the fleet is looked at.
var now = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// driver knows clusters that stand in all the ways there are.
type driver struct{ listed []automation.ClusterInfo }

func (d driver) List(context.Context, string) ([]automation.ClusterInfo, error) { return d.listed, nil }

func (d driver) Look(ctx context.Context, c *config.Cluster) (health.Look, error) {
	if _, ok := ctx.Deadline(); !ok {
		return health.Look{}, errors.New("the look has no bound")
	}
	found := health.Look{Kubernetes: "1.35"}
	found.Checks = []health.Check{
		{Kind: "GitRepository", Namespace: "flux-system", Name: "platform", Ready: true},
		{Kind: "Kustomization", Namespace: "flux-system", Name: "apps", Ready: true},
	}
	switch c.Name {
	case "demo":
		found.Systems = systems
	case "old":
		found.Kubernetes = "1.34"
		found.Checks[1].Ready, found.Checks[1].Message = false, "dependency 'flux-system/<infrastructure>' is not ready"
		found.Cause = &found.Checks[1]
	case "broken":
		return health.Look{}, &fault.Error{
			What: "stack broken-core has no outputs: it was not deployed yet", Remedy: "run `tombolo up broken`",
		}
	case "silent":
		found.Checks = []health.Check{{Kind: "Kubernetes API", Message: "context deadline exceeded"}}
		found.Cause = &found.Checks[0]
	}
	return found, nil
}

// systems are in all the states that there are.
var systems = []health.System{
	{Name: "blog", Team: "editors", Ready: true, Suspended: true, Revision: "main@sha1:0123456789abcdef0123456789abcdef01234567"},
	{Name: "hostile", Team: "strangers", Refusal: "Kustomization hostile/system: ReconciliationFailed: <spec.type> must be ClusterIP"},
	{Name: "shop", Team: "sellers", Ready: true, Revision: "release/v1.2@sha1:89abcdef0123456789abcdef0123456789abcdef"},
}

func (d driver) Remains(_ context.Context, c *config.Cluster) (automation.Remains, error) {
	switch c.Name {
	case "destroyed":
		return automation.Remains{}, nil
	case "kept":
		return automation.Remains{Identity: true, Incomplete: true}, nil
	case "halfway":
		return automation.Remains{Identity: true, Incomplete: true, Resources: []string{"aws:ec2/vpc:Vpc halfway-vpc", "aws:kms/key:Key halfway-secrets"}}, nil
	case "unread":
		return automation.Remains{}, errors.New("the state of unread-core is torn")
	}
	return automation.Remains{Resources: []string{"aws:ec2/vpc:Vpc"}, Identity: true}, nil
}

var waves = map[string]int{"demo": 0, "old": 0, "broken": 1, "silent": 1, "new": 2, "destroyed": 3, "halfway": 3, "kept": 3, "unread": 3}

func project(t *testing.T) string {
	t.Helper()
	files := map[string]string{}
	for name, wave := range waves {
		files[name] = clitest.ClusterFile(name, "prod", wave)
	}
	return clitest.Project(t, files)
}

func stacks(name string, at time.Time) []backend.StackInfo {
	return []backend.StackInfo{
		{Name: name + "-core", Kind: "core", Resources: 31, LastUpdate: at.Add(-time.Minute)},
		{Name: name + "-bootstrap", Kind: "bootstrap", Resources: 14, LastUpdate: at},
	}
}

// empty are the stacks that a destruction leaves.
func empty(name string) []backend.StackInfo {
	out := stacks(name, now.Add(-2*time.Hour))
	for i := range out {
		out[i].Resources = 0
	}
	return out
}

func listed() []automation.ClusterInfo {
	return []automation.ClusterInfo{
		{Name: "demo", File: "clusters/demo.yaml", Stacks: stacks("demo", now.Add(-3*time.Hour))},
		{Name: "old", File: "clusters/old.yaml", Stacks: stacks("old", now.Add(-90*24*time.Hour))},
		{Name: "broken", File: "clusters/broken.yaml", Stacks: stacks("broken", now.Add(-5*time.Minute))[:1]},
		{Name: "silent", File: "clusters/silent.yaml", Stacks: stacks("silent", now.Add(-time.Hour))},
		{Name: "new", File: "clusters/new.yaml"},
		{Name: "destroyed", File: "clusters/destroyed.yaml", Stacks: empty("destroyed")},
		{Name: "halfway", File: "clusters/halfway.yaml", Stacks: stacks("halfway", now.Add(-time.Hour))[:1]},
		{Name: "kept", File: "clusters/kept.yaml", Stacks: stacks("kept", now.Add(-time.Hour))[:1]},
		{Name: "unread", File: "clusters/unread.yaml", Stacks: stacks("unread", now.Add(-time.Hour))},
		{Name: "gone-for-good", Stacks: empty("gone-for-good")},
		{Name: "gone", Stacks: stacks("gone", now.Add(-40*24*time.Hour))},
	}
}

func runs() []rollout.Record {
	end := func(o rollout.Outcome, phase, cause string, ago time.Duration) rollout.RecordedEnd {
		e := rollout.RecordedEnd{Outcome: o, Phase: phase, Cause: cause, Started: now.Add(-ago), Duration: 2 * time.Minute}
		if o != "" {
			e.Finished = e.Started.Add(e.Duration)
		}
		return e
	}
	return []rollout.Record{
		{Header: rollout.Header{Operation: "up"}, Ends: map[string]rollout.RecordedEnd{
			"broken": end(rollout.Failed, "core", "up broken-core: aws:eks/cluster:Cluster broken: <limit exceeded>", 7*time.Minute),
			"new":    {Outcome: rollout.Skipped, Cause: "broken failed"},
			"silent": end("", "", "", 30*time.Minute),
		}},
		{Header: rollout.Header{Operation: "destroy"}, Ends: map[string]rollout.RecordedEnd{
			"destroyed": end(rollout.Succeeded, "core", "", 2*time.Hour),
			"halfway":   end(rollout.Failed, "core", "destroy halfway-core: aws:ec2/vpc:Vpc halfway-vpc: in use", time.Hour),
			"kept":      end(rollout.Succeeded, "core", "", time.Hour),
		}},
		{Header: rollout.Header{Operation: "up"}, Ends: map[string]rollout.RecordedEnd{
			"demo":   end(rollout.Succeeded, "bootstrap", "", 3*time.Hour),
			"broken": end(rollout.Succeeded, "bootstrap", "", 5*time.Hour),
		}},
	}
}

func drifts(cluster string) (*Drift, error) {
	switch cluster {
	case "demo":
		return &Drift{At: now.Add(-time.Hour)}, nil
	case "destroyed": // before it was
		return &Drift{At: now.Add(-30 * time.Hour), Changed: 3}, nil
	case "old":
		return &Drift{
			At: now.Add(-50 * time.Hour), Changed: 1, Missing: 1,
			Resources: []string{"missing aws:ec2/eip:Eip nat", "changed aws:ec2/vpc:Vpc old"},
		}, nil
	case "silent":
		return &Drift{At: now.Add(-time.Minute), Error: "refresh of silent-bootstrap: no answer"}, nil
	}
	return nil, nil
}

// run runs the command on the fleet; set changes its options.
func run(t *testing.T, output render.Format, set func(*Options), args ...string) (stdout, stderr string, err error) {
	t.Helper()
	f := clitest.At(project(t), output)
	cmd := NewCmdStatus(f.Factory, func(ctx context.Context, o *Options) error {
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return driver{listed()}, nil }
		o.Records = func() ([]rollout.Record, error) { return runs(), nil }
		o.Drift = drifts
		o.Now = func() time.Time { return now }
		if set != nil {
			set(o)
		}
		return statusRun(ctx, o)
	})
	return f.Run(t, cmd, args...)
}

func TestStatus(t *testing.T) {
	stdout, stderr, err := run(t, render.Text, nil)
	assert.NilError(t, err)
	golden.Assert(t, stdout+"---\n"+stderr, "status.golden")
}

func TestStatusJSON(t *testing.T) {
	stdout, stderr, err := run(t, render.JSON, nil)
	if err != nil || stderr != "" {
		t.Fatalf("%v, standard error: %q", err, stderr)
	}
	golden.Assert(t, stdout, "status.json.golden")
}

func TestSystems(t *testing.T) {
	stdout, stderr, err := run(t, render.Text, nil, "--systems")
	assert.NilError(t, err)
	golden.Assert(t, stdout+"---\n"+stderr, "systems.golden")
	_, stderr, err = run(t, render.Text, nil, "--systems", "old")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(stderr, "\nthere are no systems on these clusters\n"))
}

func TestStatusOfOne(t *testing.T) {
	stdout, _, err := run(t, render.Text, nil, "demo")
	if err != nil || strings.Count(stdout, "\n") != 2 || !strings.Contains(stdout, "demo") {
		t.Errorf("got %q, %v; want one cluster below the header", stdout, err)
	}
}

func TestStatusOfWaves(t *testing.T) {
	stdout, _, err := run(t, render.Text, nil, "--wave", "1,2", "--selector", "tombolo/cluster!=silent")
	var names []string
	for line := range strings.Lines(stdout) {
		names = append(names, strings.Fields(line)[0])
	}
	if got, want := strings.Join(names, " "), "CLUSTER broken new"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q: the one without a file is chosen by nothing", got, err, want)
	}
}

// writtenPage is the page that the command writes.
func writtenPage(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fleet.html")
	_, stderr, err := run(t, render.Text, nil, "--html", path)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(stderr, "the page is in "+path))
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	return string(text)
}

// TestPage reads the page, which must need nothing from elsewhere and take no
// text of a cluster as its own.
func TestPage(t *testing.T) {
	text := writtenPage(t)
	pagetest.Golden(t, text, "status.html")
	outside := regexp.MustCompile(`(?i)(src|href)\s*=|url\([^#]|@import|https?://`)
	for _, found := range outside.FindAllString(text, -1) {
		t.Errorf("the page takes something from elsewhere: %s", found)
	}
	assert.Check(t, !strings.Contains(text, "<limit exceeded>"), "the page takes a cause as its own text")
}

func TestPageCannotBeWritten(t *testing.T) {
	_, _, err := run(t, render.Text, nil, "--html", filepath.Join(t.TempDir(), "missing", "fleet.html"))
	assert.Check(t, is.ErrorContains(err, "write the page: "))
}

func TestStatusFails(t *testing.T) {
	for want, set := range map[string]func(*Options){
		"the backend is away": func(o *Options) {
			o.Driver = func(context.Context, automation.Observer) (Driver, error) {
				return nil, errors.New("the backend is away")
			}
		},
		"the journal is a directory": func(o *Options) {
			o.Records = func() ([]rollout.Record, error) { return nil, errors.New("the journal is a directory") }
		},
		"the last drift is torn": func(o *Options) {
			o.Drift = func(string) (*Drift, error) { return nil, errors.New("the last drift is torn") }
		},
		"--timeout is 0s; give a duration such as 20s": func(o *Options) { o.Timeout = 0 },
		"--parallel is 0; pass 1 or more":              func(o *Options) { o.Parallel = 0 },
	} {
		if _, _, err := run(t, render.Text, set); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := run(t, render.Text, func(o *Options) {
		loaded, err := config.Load(filepath.Join(project(t), "clusters", "demo.yaml"))
		assert.NilError(t, err)
		found := []Standing{{Name: "demo", Stacks: stacks("demo", now)}}
		if err := o.lookAll(ctx, driver{}, []*config.Cluster{loaded}, found); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the cancellation", err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAgo(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"just now": 30 * time.Second, "59m ago": 59*time.Minute + 59*time.Second, "47h ago": 47*time.Hour + time.Minute, "3d ago": 73 * time.Hour,
	} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("%s ago: got %q, want %q", d, got, want)
		}
	}
}
