package automation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/clouds"
	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
	"tombolo/stacks"
	"tombolo/stacks/programs"
)

func TestUpRunsCoreThenBootstrap(t *testing.T) {
	b := newBench(t)
	result := b.mustUp(t, demo(), UpOptions{})
	assert.DeepEqual(t, b.cli.operations(), []string{"up demo-core", "up demo-bootstrap"})
	core, ok := result.Stack(stacks.Core)
	assert.Check(t, ok && core.Changes["create"] == 2 && core.Outputs["vpcId"] == "vpc-1", "core's result is %+v", core)
	assert.DeepEqual(t, b.seen.lines, []string{
		"started up demo-core", "finished demo-core map[create:2] true",
		"started up demo-bootstrap", "finished demo-bootstrap map[create:2] true",
	})
	assert.Check(t, len(b.placeholders) == 0, "up used placeholders for %v", b.placeholders)
}

func TestUpStartsNoNeedlessProcess(t *testing.T) {
	b := upped(t)
	b.mustUp(t, demo(), UpOptions{Previewed: true})
	want := []string{
		"stack export demo-core", "stack export demo-bootstrap", // what is deployed
		"stack tag demo-bootstrap", "stack tag demo-bootstrap", // the record of the last up goes
		"stack export demo-core", "up demo-core", "stack output demo-core",
		"stack export demo-core", // for the record of the up
		"stack export demo-bootstrap", "up demo-bootstrap", "stack output demo-bootstrap",
		"stack export demo-bootstrap", "stack tag demo-bootstrap",
	}
	assert.DeepEqual(t, b.cli.calls, want)
}

func TestUpStopsAtFirstFailure(t *testing.T) {
	b := newBench(t)
	b.cli.fail["up demo-core"] = failure{stderr: "a whole log\nerror: update failed", diagnostics: []apitype.DiagnosticEvent{
		{Severity: "info", Message: "never mind"},
		{
			Severity: "error", URN: "urn:pulumi:demo-core::tombolo::aws:ec2/vpc:Vpc::demo-vpc",
			Message: "<{%fg 1%}>error: <{%reset%}>VpcLimitExceeded: The maximum number of VPCs has been reached.\n",
		},
		{Severity: "error", Message: "update failed"},
	}}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	var deployment *pulumicli.Error
	assert.Assert(t, errors.As(err, &deployment), "error is %T: %v", err, err)
	want := "up demo-core: aws:ec2/vpc:Vpc demo-vpc: VpcLimitExceeded: The maximum number of VPCs has been reached.; " +
		quotaRemedy
	assert.Error(t, err, want)
	assert.Check(t, !slices.Contains(b.cli.calls, "up demo-bootstrap"), "bootstrap was started after core failed")
}

func TestUpReportsMissingPassphrase(t *testing.T) {
	b := newBench(t)
	b.cli.fail["stack init demo-core"] = failure{
		stderr: "error: could not create stack: passphrase must be set with PULUMI_CONFIG_PASSPHRASE",
	}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	assert.Error(t, err, "open demo-core: could not create stack: passphrase must be set with PULUMI_CONFIG_PASSPHRASE; "+
		"set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the passphrase the stack was made with; preview and drift need none with --without-secrets")
}

func TestPreviewUsesPlaceholdersOnlyWithoutCore(t *testing.T) {
	b := newBench(t)
	result := b.mustPreview(t, demo(), PreviewOptions{})
	assert.DeepEqual(t, b.placeholders, []string{"demo-bootstrap"})
	r, _ := result.Stack(stacks.Bootstrap)
	assert.Check(t, r.Placeholders, "the result does not say that bootstrap ran on placeholders")
	assert.DeepEqual(t, b.cli.operations(), []string{"preview demo-core", "preview demo-bootstrap"})
	b.placeholders = nil
	b.mustUp(t, demo(), UpOptions{})
	b.mustPreview(t, demo(), PreviewOptions{})
	assert.Check(t, len(b.placeholders) == 0, "placeholders for %v although core has outputs", b.placeholders)
}

func TestDestroyInReverse(t *testing.T) {
	b := upped(t)
	result := b.mustDestroy(t, demo(), DestroyOptions{Remove: true})
	assert.DeepEqual(t, b.cli.operations(), []string{"destroy demo-bootstrap", "destroy demo-core"})
	core, _ := result.Stack(stacks.Core)
	assert.Check(t, core.Removed && core.Changes["delete"] == 2, "core's result is %+v", core)
	assert.Check(t, len(b.cli.states) == 0, "stacks left: %v", b.cli.states)
}

func TestDestroyOfNothing(t *testing.T) {
	b := newBench(t)
	result, err := b.Destroy(t.Context(), demo(), DestroyOptions{Remove: true})
	assert.Check(t, err == nil && len(result.Stacks) == 0, "result %+v, error %v", result, err)
}

func TestDestroyKeepsCoreWhenBootstrapFails(t *testing.T) {
	b := upped(t)
	b.cli.fail["destroy demo-bootstrap"] = failure{diagnostics: []apitype.DiagnosticEvent{
		{Severity: "error", Message: "timed out waiting for finalizers"},
	}}
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{})
	assert.Error(t, err, "destroy demo-bootstrap: timed out waiting for finalizers; resolve the cause and run the same command again: "+
		"what was done so far is kept (stack demo-core was kept)")
	assert.DeepEqual(t, b.cli.operations(), []string{"destroy demo-bootstrap"})
}

func TestDestroyOfCoreIsRefusedWhileBootstrapHasResources(t *testing.T) {
	b := upped(t)
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{Only: stacks.Core})
	want := "stack demo-core cannot be destroyed: stack demo-bootstrap still has 1 resource; " +
		"destroy both with `tombolo destroy demo`"
	wantPrecondition(t, err, want)
	assert.Check(t, is.Len(b.cli.operations(), 0), "operations were started")
}

func TestInterruptionWrapsContextCanceled(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.cli.during = func(op string) {
		if op == "up demo-core" {
			cancel()
		}
	}
	_, err := b.Up(ctx, demo(), UpOptions{})
	assert.Assert(t, errors.Is(err, context.Canceled), "error is %T: %v", err, err)
	assert.Error(t, err, "up demo-core: interrupted; run the same command again to go on from there")
}

func TestMissingCLI(t *testing.T) {
	d, err := New(Options{Programs: programs.All(), Clouds: clouds.All(), Root: t.TempDir(), WorkDir: t.TempDir(), Env: map[string]string{"PATH": t.TempDir()}})
	assert.NilError(t, err)
	d.deps.preflight = nothingMissing
	_, err = d.Up(t.Context(), demo(), UpOptions{})
	want := "the Pulumi CLI is not in PATH; install Pulumi 3.250.0 or newer, or run `make tools` where a Makefile has it, and put .tools/bin into PATH"
	wantPrecondition(t, err, want)
}

func TestMissingProject(t *testing.T) {
	d, err := New(Options{Programs: programs.All(), Clouds: clouds.All(), Root: t.TempDir(), Command: newFakeCLI()})
	assert.NilError(t, err)
	d.deps.preflight = nothingMissing
	_, err = d.Up(t.Context(), demo(), UpOptions{})
	assert.Check(t, err != nil && strings.HasSuffix(err.Error(), "has no Pulumi.yaml; run tombolo in the project's directory"),
		"error is %v", err)
}

func TestOutputsOfWhatWasNotDeployed(t *testing.T) {
	b := newBench(t)
	_, err := b.Outputs(t.Context(), demo())
	assert.Error(t, err, "stack demo-core has no outputs: it was not deployed yet; run `tombolo up demo`")
}

func TestStackInfos(t *testing.T) {
	b := newBench(t)
	infos, err := b.backend.Stacks(t.Context())
	assert.Assert(t, err == nil && len(infos) == 0, "an empty backend lists %v, error %v", infos, err)
	b.mustUp(t, demo(), UpOptions{})
	b.cli.states["other"] = apitype.DeploymentV3{}
	if infos, err = b.backend.Stacks(t.Context()); err != nil {
		t.Fatal(err)
	}
	assert.Check(t, len(infos) == 1 && len(infos["demo"]) == 2 && infos["demo"][0].Kind == stacks.Core && infos["demo"][0].Resources == 4,
		"stacks are %+v", infos)
}

func TestUpStartsNothingWhenSomethingIsMissing(t *testing.T) {
	b := newBench(t)
	b.missing = errors.Join(errors.New("the manifest is gone"), errors.New("the token is not set"))
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	want := "up demo: the manifest is gone; the token is not set; nothing was started: make it available and run the command again"
	wantPrecondition(t, err, want)
	assert.Check(t, is.Len(b.cli.operations(), 0), "the CLI was called")
}

func TestDestroyOfAProtectedCluster(t *testing.T) {
	b := newBench(t)
	c := demo()
	c.Protect = true
	b.mustUp(t, c, UpOptions{})
	core := b.cli.states["demo-core"]
	core.Resources[2].Protect = true
	b.cli.calls = nil
	_, err := b.Destroy(t.Context(), c, DestroyOptions{})
	var refused *fault.Error
	want := "destroy demo: it is protected by its cluster file; nothing was changed: give --yes-destroy demo, or take protect out of the file"
	assert.Check(t, errors.As(err, &refused) && err.Error() == want, "error is %T\n%v, want\n%s", err, err, want)
	assert.Check(t, is.Len(b.cli.calls, 0), "the CLI was called")
	protected := true
	b.cli.during = func(op string) {
		if op == "destroy demo-core" {
			protected = b.cli.states["demo-core"].Resources[2].Protect
		}
	}
	b.mustDestroy(t, c, DestroyOptions{Confirmed: true})
	assert.Check(t, !protected, "the resource was still protected when core was destroyed, and Pulumi would have refused")
	assert.DeepEqual(t, b.seen.notes(), []string{"note demo-core: the protection of 1 resource was taken off"})
}

// TestNewIsGivenPrograms: a driver without programs is refused when it is made.
func TestNewIsGivenPrograms(t *testing.T) {
	_, err := New(Options{Root: t.TempDir(), Clouds: clouds.All()})
	assert.ErrorContains(t, err, "Options.Programs or Options.Clouds is empty")
}
