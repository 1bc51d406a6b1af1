//go:build lab

package automation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/cloud/aws"
	"tombolo/automation/clouds"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/automation/reach"
	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
	"tombolo/stacks/programs"
	"tombolo/tests/bucket"
	"tombolo/tests/tier"
)

// realBench is a driver with the real CLI and programs of our own, which need
// no provider.
func realBench(t *testing.T, program pulumi.RunFunc) (*Driver, *witness) {
	t.Helper()
	return realBenchIn(t, inDirectory(t), program)
}

// inDirectory is a backend in a directory.
func inDirectory(t *testing.T) string {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	assert.NilError(t, os.Mkdir(state, 0o700))
	return "file://" + state
}

// inBucket is a backend in a bucket.
func inBucket(t *testing.T) string {
	t.Helper()
	return bucket.Serve(t).URL()
}

// realBenchIn is realBench with the state in another backend.
func realBenchIn(t *testing.T, backend string, program pulumi.RunFunc) (*Driver, *witness) {
	t.Helper()
	tools, err := filepath.Abs("../.tools/bin")
	assert.NilError(t, err)
	dir, seen := t.TempDir(), &witness{}
	_, secrets := serveKeys(t)
	d, err := New(Options{
		Programs: programs.All(), Clouds: clouds.All(),
		Root: dir, WorkDir: filepath.Join(dir, "work"), BackendURL: backend,
		PulumiHome: filepath.Join(dir, "home"), Observer: seen, SecretsProvider: secrets,
		Env: map[string]string{
			"PATH": tools + string(os.PathListSeparator) + os.Getenv("PATH"), "PULUMI_CONFIG_PASSPHRASE": "lab",
			// To look for a plugin that cannot be fetched takes the CLI seconds.
			"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true", "AWS_ACCESS_KEY_ID": "lab", "AWS_SECRET_ACCESS_KEY": "lab", "AWS_SESSION_TOKEN": "", "AWS_EC2_METADATA_DISABLED": "true", reach.AddressesVariable: "any",
		},
	})
	assert.NilError(t, err)
	d.deps.preflight = nothingMissing
	inFakeCloud(d)
	d.deps.program = func(*config.Cluster, stacks.Kind, programs.Options) (pulumi.RunFunc, error) { return program, nil }
	return d, seen
}

func exporting(p *pulumi.Context) error {
	p.Export("plain", pulumi.String("shown"))
	p.Export("secret", pulumi.ToSecret(pulumi.String("hidden")))
	return nil
}

// TestLifecycleWithTheRealCLI encrypts secrets by a passphrase; the other tests have a key, with
// which each call of the CLI takes a quarter of a second less.
func TestLifecycleWithTheRealCLI(t *testing.T) {
	tier.Short(t, "the driver makes, reads and destroys stacks with the real CLI")
	t.Parallel()
	d, seen := realBench(t, exporting)
	d.pulumi.Secrets = "passphrase"
	if infos, err := d.backend.Stacks(t.Context()); err != nil || len(infos) > 0 {
		t.Fatalf("an empty backend lists %v, error %v", infos, err)
	}
	_, err := d.Preview(t.Context(), demo(), PreviewOptions{})
	assert.NilError(t, err)
	for range 2 {
		result, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
		assert.NilError(t, err)
		core, _ := result.Stack(stacks.Core)
		assert.Check(t, core.Outputs["plain"] == "shown" && core.Outputs["secret"] == "[secret]", "outputs are %v", core.Outputs)
		t.Logf("up took %s, changes %v", result.Duration, core.Changes)
	}
	outputs, err := d.StackOutputs(t.Context(), demo(), stacks.Core)
	assert.Check(t, err == nil && outputs["secret"] == (Output{Value: "hidden", Secret: true}), "outputs are %v, error %v", outputs, err)
	_, err = d.Destroy(t.Context(), demo(), DestroyOptions{Remove: true})
	assert.NilError(t, err)
	infos, err := d.backend.Stacks(t.Context())
	assert.Check(t, err == nil && len(infos) == 0, "after destroy the backend lists %v, error %v", infos, err)
	assert.Check(t, seen.seen != 0, "no engine events")
}

func TestProgramErrorWithTheRealCLI(t *testing.T) {
	tier.Short(t, "an error of the program comes out of the real CLI as it was")
	t.Parallel()
	d, _ := realBench(t, func(*pulumi.Context) error { return errors.New("wrong account; use the right one") })
	_, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
	var precondition *fault.Error
	assert.Check(t, errors.As(err, &precondition) && err.Error() == "wrong account; use the right one", "error is %T: %v", err, err)
}

func TestInterruptionWithTheRealCLILeavesNoLock(t *testing.T) {
	tier.Short(t, "Ctrl-C ends the real CLI without a lock that stays")
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	d, _ := realBench(t, func(p *pulumi.Context) error {
		cancel()
		<-p.Context().Done()
		return p.Context().Err()
	})
	start := time.Now()
	_, err := d.Up(ctx, demo(), UpOptions{Force: true})
	assert.Check(t, errors.Is(err, context.Canceled) && strings.HasPrefix(err.Error(), "up demo-core: interrupted"),
		"error is %T: %v", err, err)
	owners, err := d.backend.Owners("demo-core")
	assert.Check(t, err == nil && len(owners) == 0, "locks left: %v, error %v", owners, err)
	t.Logf("took %s", time.Since(start))
}

// The CLI is killed while one role is being made that comes to exist and one
// that does not. The next up adopts the first and makes the second.
func TestRecoveryFromAKilledRealCLI(t *testing.T) {
	tier.Short(t, "what a killed CLI was making is adopted or made again")
	t.Parallel()
	d, seen := realBench(t, func(p *pulumi.Context) error {
		handOff(p, demo().Name)
		return roles("made", "lost")(p)
	})
	d.deps.dial = func(handoff.Values) (kube.Cluster, error) { return kubetest.ArgoCD(t), nil }
	c, attach := serveCloud(t)
	d.env["PULUMI_DEBUG_PROVIDERS"] = attach
	both := make(chan struct{}, 2)
	c.hang["made"] = func(made func()) { made(); both <- struct{}{} }
	c.hang["lost"] = func(func()) { both <- struct{}{} }
	killed := make(chan error, 1)
	go func() {
		<-both
		<-both
		owners, err := d.backend.Owners("demo-core")
		if err == nil && len(owners) == 1 {
			err = syscall.Kill(owners[0].PID, syscall.SIGKILL)
		}
		killed <- err
	}()
	_, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
	if killed := <-killed; err == nil || killed != nil {
		t.Fatalf("up: %v, kill: %v", err, killed)
	}
	t.Log(err)
	c.hang = nil
	_, err = d.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	notes := strings.Join(seen.notes(), "\n")
	for _, want := range []string{
		"recovered: removed the lock of ",
		"adopted aws:iam/role:Role made made",
		"1 creation had not happened",
	} {
		assert.Check(t, is.Contains(notes, want))
	}
	result, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.Check(t, err == nil && result.Stacks[0].Changes.Total() == 0, "another up changes %v, error %v", result.Stacks, err)
	if _, err := d.Destroy(t.Context(), demo(), DestroyOptions{}); err != nil || len(c.roles) > 0 {
		t.Errorf("after destroy there are %v, error %v", c.roles, err)
	}
}

// TestLookUpWithTheRealCLI: where the cloud does not tell of interfaces, the
// rest of the look-up goes on.
func TestLookUpWithTheRealCLI(t *testing.T) {
	tier.Short(t, "a look-up goes on where the cloud does not tell of one kind")
	t.Parallel()
	d, _ := realBench(t, exporting)
	_, attach := serveCloud(t)
	d.env["PULUMI_DEBUG_PROVIDERS"] = attach
	found, err := aws.Cloud{Pulumi: d.pulumi}.Lookup(t.Context(), demo(), "q5zk", []recovery.Query{
		{Subnet: "subnet-forbidden", Description: "EFS mount target for fs-1 (*)"},
		{Subnet: "subnet-1", Description: "EFS mount target for fs-1 (*)"},
		{Subnet: "subnet-2", Description: "EFS mount target for fs-1 (*)"},
	})
	assert.NilError(t, err)
	assert.DeepEqual(t, found, []recovery.Sighting{
		{
			CloudID: "arn:aws:ec2:eu-central-1:111122223333:vpc/vpc-1",
			Tags:    map[string]string{"asked": "[map[key:tombolo:owner values:[q5zk]]]"},
		},
		{
			CloudID:  "arn:aws:ec2:eu-central-1:111122223333:network-interface/eni-1",
			SubnetID: "subnet-1", Description: "EFS mount target for fs-1 (fsmt-1)",
		},
	})
}
