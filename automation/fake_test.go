package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"gotest.tools/v3/assert"

	"tombolo/automation/backend"
	"tombolo/automation/clouds"
	"tombolo/automation/handover"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/automation/preflight"
	"tombolo/automation/reach"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/internal/scalar"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
	"tombolo/stacks/handoff"
	"tombolo/stacks/programs"
)

// fakeCLI stands in for the Pulumi CLI and its backend. It sends its events as
// the CLI does.
type fakeCLI struct {
	mu     sync.Mutex
	states map[string]apitype.DeploymentV3
	// backend is where states are; aside are those in any other.
	backend string
	aside   map[string]apitype.DeploymentV3
	calls   []string
	env     []string
	// fail makes an operation such as "up demo-core" fail.
	fail map[string]failure
	// plan are the events of an operation such as "preview demo-core".
	plan map[string][]apitype.EngineEvent
	// updating is the stack that an update is under way on.
	updating string
	// same are the stacks that a preview finds nothing to change in, with the
	// resource's state as it would be.
	same map[string]apitype.ResourceV3
	// secrets are values that events mask, by URN and property.
	secrets map[string]string
	// tags of stacks, by the stacks' names.
	tags map[string]map[string]string
	// rebuild is the record that core's program puts out.
	rebuild string
	// during is called in the middle of an operation.
	during func(operation string)
}

// failure of the fake CLI.
type failure struct {
	diagnostics []apitype.DiagnosticEvent
	// events that come before them.
	events []apitype.EngineEvent
	stderr string
	once   bool
}

func newFakeCLI() *fakeCLI {
	return &fakeCLI{
		states: map[string]apitype.DeploymentV3{}, aside: map[string]apitype.DeploymentV3{},
		fail: map[string]failure{}, same: map[string]apitype.ResourceV3{}, tags: map[string]map[string]string{},
	}
}

func (f *fakeCLI) Version() semver.Version { return semver.MustParse("3.250.0") }

func (f *fakeCLI) Run(ctx context.Context, dir string, _ io.Reader, _, _ []io.Writer,
	env []string, args ...string,
) (string, string, int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.env = env
	if f.backend != "" && !slices.Contains(env, "PULUMI_BACKEND_URL="+f.backend) {
		states := f.states
		f.states = f.aside
		defer func() { f.states = states }()
	}
	op, stack := args[0], flag(args, "--stack")
	if op == "stack" {
		op += " " + args[1]
	}
	if stack == "" && len(args) > 2 {
		stack = args[len(args)-1]
		if op == "stack rm" {
			stack = args[3]
		}
	}
	stack = wholeName(dir, stack)
	call := op + " " + stack
	f.calls = append(f.calls, call)
	if f.during != nil {
		f.during(call)
	}
	if err := ctx.Err(); err != nil {
		return "", "", -1, err
	}
	if fail, ok := f.fail[call]; ok {
		if fail.once {
			delete(f.fail, call)
		}
		writeEvents(args, fail.diagnostics, nil, fail.events...)
		return "", fail.stderr, 255, errors.New("exit status 255")
	}
	return f.answer(op, stack, args)
}

// wholeName is the name of a stack by the project file in the CLI's directory: that of a stack of the clusters' own
// project is none.
func wholeName(dir, stack string) string {
	text, err := os.ReadFile(filepath.Join(dir, "Pulumi.yaml"))
	project, invalid := scalar.At(text, "name")
	if err != nil || invalid != nil || project == stacks.Project || strings.Contains(stack, "/") {
		return stack
	}
	return "organization/" + project + "/" + stack
}

func (f *fakeCLI) answer(op, stack string, args []string) (string, string, int, error) {
	deployment, exists := f.states[stack]
	switch op {
	case "stack select", "stack export", "stack output":
		if !exists {
			return "", fmt.Sprintf("error: no stack named '%s' found", stack), 255, errors.New("exit status 255")
		}
	}
	switch op {
	case "stack init":
		f.states[stack] = apitype.DeploymentV3{}
	case "stack export":
		if slices.Contains(args, "--show-secrets") {
			return "", "error: nobody needs the secrets", 1, errors.New("exit status 1")
		}
		return export(deployment), "", 0, nil
	case "stack import":
		return f.importState(stack, flag(args, "--file"))
	case "stack output":
		out, _ := json.Marshal(f.outputs(stack))
		return string(out), "", 0, nil
	case "plugin":
		return "[]", "", 0, nil
	case "stack tag":
		return f.tag(stack, args), "", 0, nil
	case "stack ls":
		return f.list(), "", 0, nil
	case "stack rm":
		delete(f.states, stack)
	case "up":
		f.states[stack] = deployed(stack)
		if f.rebuild != "" && strings.HasSuffix(stack, "-core") {
			f.states[stack].Resources[0].Outputs[names.RebuildOutput] = f.rebuild
		}
		writeEvents(args, nil, map[apitype.OpType]int{"create": 2}, f.plan["up "+stack]...)
	case "destroy":
		f.states[stack] = excluded(deployment, args)
		writeEvents(args, nil, map[apitype.OpType]int{"delete": 2})
	case "preview", "refresh":
		if planned, ok := f.same[stack]; ok && op == "preview" {
			return f.unchanged(stack, planned, args), "", 0, nil
		}
		writeEvents(args, nil, map[apitype.OpType]int{"create": 2, "same": 1}, f.plan[op+" "+stack]...)
		return f.document(stack, args), "", 0, nil
	}
	return "", "", 0, nil
}

// tag sets a tag of a stack, or lists them.
func (f *fakeCLI) tag(stack string, args []string) string {
	if args[2] == "set" {
		if f.tags[stack] == nil {
			f.tags[stack] = map[string]string{}
		}
		f.tags[stack][args[3]] = args[4]
	}
	listed, _ := json.Marshal(f.tags[stack])
	return string(listed)
}

// excluded is what a destruction leaves: what it is told to exclude, and the stack
// itself above that.
func excluded(d apitype.DeploymentV3, args []string) apitype.DeploymentV3 {
	keeps := func(urn string) bool { return slices.Contains(args, "--exclude="+urn) }
	if !slices.ContainsFunc(d.Resources, func(r apitype.ResourceV3) bool { return keeps(string(r.URN)) }) {
		return apitype.DeploymentV3{}
	}
	d.Resources = slices.DeleteFunc(slices.Clone(d.Resources), func(r apitype.ResourceV3) bool {
		return !keeps(string(r.URN)) && r.Type != backend.RootType
	})
	return d
}

// document is what a preview writes with --json, of the events that it sends.
func (f *fakeCLI) document(stack string, args []string) string {
	if !slices.Contains(args, "--json") {
		return ""
	}
	steps := []any{}
	for _, e := range f.plan["preview "+stack] {
		if e.ResourcePreEvent != nil {
			m := e.ResourcePreEvent.Metadata
			steps = append(steps, map[string]any{"op": m.Op, "urn": m.URN, "newState": map[string]any{"inputs": f.told(m, args)}})
		}
	}
	document, _ := json.Marshal(map[string]any{"steps": steps})
	return string(document)
}

// told are the inputs of a step: secrets are in them when they are asked for.
func (f *fakeCLI) told(m apitype.StepEventMetadata, args []string) map[string]any {
	inputs := maps.Clone(m.New.Inputs)
	for name := range inputs {
		if secret := f.secrets[m.URN+" "+name]; secret != "" && slices.Contains(args, "--show-secrets") {
			inputs[name] = secret
		}
	}
	return inputs
}

// unchanged sends the events of a preview that changes nothing, and returns its
// document.
func (f *fakeCLI) unchanged(stack string, planned apitype.ResourceV3, args []string) string {
	root := &apitype.StepEventStateMetadata{Type: backend.RootType, Outputs: f.outputs(stack)}
	writeEvents(args, nil, map[apitype.OpType]int{"same": 3}, apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{
		Metadata: apitype.StepEventMetadata{Op: apitype.OpSame, Type: backend.RootType, Old: root, New: root},
	}})
	if !slices.Contains(args, "--json") {
		return ""
	}
	document, _ := json.Marshal(map[string]any{"steps": []any{
		map[string]any{"op": "same", "oldState": f.states[stack].Resources[2], "newState": planned},
	}})
	return string(document)
}

func (f *fakeCLI) outputs(stack string) map[string]any {
	for _, r := range f.states[stack].Resources {
		if r.Type == backend.RootType && r.Outputs != nil {
			return r.Outputs
		}
	}
	return map[string]any{}
}

func (f *fakeCLI) list() string {
	out := []map[string]any{}
	for stack, s := range f.states {
		out = append(out, map[string]any{
			"name": stack, "lastUpdate": "2026-01-02T03:04:05.000Z", "resourceCount": len(s.Resources),
			"updateInProgress": stack == f.updating,
		})
	}
	raw, _ := json.Marshal(out)
	return string(raw)
}

func (f *fakeCLI) importState(stack, file string) (string, string, int, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err.Error(), 1, err
	}
	var d apitype.UntypedDeployment
	var v3 apitype.DeploymentV3
	if err := errors.Join(json.Unmarshal(raw, &d), json.Unmarshal(d.Deployment, &v3)); err != nil {
		return "", err.Error(), 1, err
	}
	f.states[stack] = v3
	return "", "", 0, nil
}

// add adds resources to the state of a stack.
func (f *fakeCLI) add(stack string, more ...apitype.ResourceV3) {
	state := f.states[stack]
	state.Resources = append(state.Resources, more...)
	f.states[stack] = state
}

// operations are the calls that do something, in order.
func (f *fakeCLI) operations() []string {
	var out []string
	for _, c := range f.calls {
		op, _, _ := strings.Cut(c, " ")
		if op != "stack" {
			out = append(out, c)
		}
	}
	return out
}

func flag(args []string, name string) string {
	if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func export(d apitype.DeploymentV3) string {
	out, _ := json.Marshal(rawOf(d))
	return string(out)
}

func rawOf(d apitype.DeploymentV3) apitype.UntypedDeployment {
	inner, _ := json.Marshal(d)
	return apitype.UntypedDeployment{Version: 3, Deployment: inner}
}

// deployed is the state of a stack after up: the stack itself, a provider,
// and one resource.
func deployed(stack string) apitype.DeploymentV3 {
	name, isCore := strings.CutSuffix(stack, "-core")
	if isCore {
		return handedOff(name)
	}
	return withoutHandOff(stack)
}

func withoutHandOff(stack string) apitype.DeploymentV3 {
	return apitype.DeploymentV3{Resources: []apitype.ResourceV3{
		{
			URN: "urn:pulumi:s::tombolo::pulumi:pulumi:Stack::s", Type: backend.RootType,
			Outputs: map[string]any{"vpcId": "vpc-1", "stack": stack},
		},
		{URN: "urn:pulumi:s::tombolo::pulumi:providers:aws::p", Type: "pulumi:providers:aws", Custom: true, ID: "p"},
		{URN: "urn:pulumi:s::tombolo::aws:ec2/vpc:Vpc::v", Type: "aws:ec2/vpc:Vpc", Custom: true, ID: "vpc-1"},
	}}
}

func writeEvents(args []string, diagnostics []apitype.DiagnosticEvent, changes map[apitype.OpType]int, all ...apitype.EngineEvent) {
	address := flag(args, "--event-log")
	if address == "" {
		return
	}
	for _, d := range diagnostics {
		all = append(all, apitype.EngineEvent{DiagnosticEvent: &d})
	}
	if changes != nil {
		all = append(all, apitype.EngineEvent{SummaryEvent: &apitype.SummaryEvent{ResourceChanges: changes}})
	}
	if err := sendEvents(strings.TrimPrefix(address, "tcp://"), all); err != nil {
		panic(err)
	}
}

func sendEvents(address string, all []apitype.EngineEvent) error {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	stream, err := pulumirpc.NewEventsClient(conn).StreamEvents(context.Background())
	if err != nil {
		return err
	}
	for _, e := range all {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if err := stream.Send(&pulumirpc.EventRequest{Event: string(line)}); err != nil {
			return err
		}
	}
	_, err = stream.CloseAndRecv()
	return err
}

// witness is an observer that writes down what it is told.
type witness struct {
	mu    sync.Mutex
	lines []string
	seen  int
}

func (w *witness) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *witness) StackStarted(stack, op string) { w.add("started %s %s", op, stack) }
func (w *witness) StackFinished(stack string, counts map[string]int, err error) {
	w.add("finished %s %v %t", stack, counts, err == nil)
}
func (w *witness) Waiting(cluster, what string) { w.add("waiting %s: %s", cluster, what) }

func (w *witness) StackPlanned(string, int) {}

func (w *witness) Note(stack, message string) { w.add("note %s: %s", stack, message) }
func (w *witness) EngineEvent(string, events.EngineEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen++
}

func (w *witness) notes() []string {
	var out []string
	for _, l := range w.lines {
		if strings.HasPrefix(l, "note ") {
			out = append(out, l)
		}
	}
	return out
}

// bench is a driver with a fake CLI and a local backend.
type bench struct {
	*Driver
	cli      *fakeCLI
	seen     *witness
	stateDir string
	// missing is what the preflight finds.
	missing error
	// placeholders are the stacks opened with placeholders.
	placeholders []string
	// predicted is what the last bootstrap was opened with.
	predicted map[string]any
	// toldStacks likewise.
	toldStacks map[string]map[string]any
	// cloud is what a search of the cloud finds.
	cloud *fakeCloud
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{cli: newFakeCLI(), seen: &witness{}, stateDir: t.TempDir()}
	b.cli.backend = backend.ForCLI("file://" + b.stateDir)
	d, err := New(Options{
		Programs: programs.All(), Clouds: clouds.All(),
		Root: t.TempDir(), WorkDir: t.TempDir(), Command: b.cli, Observer: b.seen,
		BackendURL: "file://" + b.stateDir,
		Env:        map[string]string{"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SESSION_TOKEN": "", reach.AddressesVariable: "any"},
	})
	assert.NilError(t, err)
	d.deps.program = func(c *config.Cluster, k stacks.Kind, o catalog.Options) (pulumi.RunFunc, error) {
		if o.Placeholders {
			b.placeholders = append(b.placeholders, stacks.Name(c.Name, k))
		}
		if k == stacks.Core {
			b.cli.rebuild = c.Rebuild
		}
		if k == stacks.Bootstrap {
			b.predicted, b.toldStacks = o.Predicted, o.ToldStacks
		}
		return func(*pulumi.Context) error { return nil }, nil
	}
	d.deps.preflight = func(context.Context, *config.Cluster, catalog.Options) error { return b.missing }
	d.deps.reachGit = func(context.Context, handover.Repository) error { return nil }
	b.cloud = inFakeCloud(d)
	d.deps.dial = func(handoff.Values) (kube.Cluster, error) { return kubetest.ArgoCD(t), nil }
	b.Driver = d
	return b
}

// must is what an operation on a cluster gives, which has to work.
func must[O, R any](t *testing.T, operate func(context.Context, *config.Cluster, O) (R, error), c *config.Cluster, o O) R {
	t.Helper()
	r, err := operate(t.Context(), c, o)
	assert.NilError(t, err)
	return r
}

func (b *bench) mustUp(t *testing.T, c *config.Cluster, o UpOptions) Result {
	t.Helper()
	return must(t, b.Up, c, o)
}

func (b *bench) mustPreview(t *testing.T, c *config.Cluster, o PreviewOptions) Result {
	t.Helper()
	return must(t, b.Preview, c, o)
}

func (b *bench) mustDestroy(t *testing.T, c *config.Cluster, o DestroyOptions) Result {
	t.Helper()
	return must(t, b.Destroy, c, o)
}

// roomy is an account that has everything, and room for more.
func roomy(_ context.Context, c *config.Cluster) preflight.Facts {
	f := preflight.Facts{Account: c.Cloud.Account, Identity: "arn:aws:iam::" + c.Cloud.Account + ":user/ada", Region: c.Cloud.Region, Enabled: true}
	f.Quotas = map[preflight.Kind]preflight.Quota{}
	for _, k := range []preflight.Kind{"VPCs", "Elastic IP addresses", "EKS clusters"} {
		f.Quotas[k] = preflight.Quota{Limit: 5}
	}
	f.Versions, f.Zones, f.Offered = []string{"1.34", "1.35", "1.36", c.Kubernetes.Version}, map[string]preflight.Zone{}, map[string][]string{}
	for _, zone := range c.Network.Zones {
		f.Zones[zone] = preflight.Zone{ID: "euc1-az1", Open: true}
	}
	for _, g := range c.Kubernetes.NodeGroups {
		for _, typ := range g.InstanceTypes {
			f.Offered[typ] = c.Network.Zones
		}
	}
	return f
}

// nothingMissing is a preflight that passes.
func nothingMissing(context.Context, *config.Cluster, catalog.Options) error { return nil }

func demo() *config.Cluster {
	return &config.Cluster{
		Name:  "demo",
		Cloud: config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
	}
}

// What people are told to do about two failures that are common.
const (
	quotaRemedy     = "ask the cloud for a higher quota or delete what is not needed, and run the same command again"
	throttledRemedy = "too many requests are made to the cloud at once: wait a few minutes, or work on fewer clusters in parallel, and run the same command again"
)
