package programs

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks"
	"tombolo/stacks/owner"
)

const tokenVariable = "TOMBOLO_TEST_GIT_TOKEN"

func load(t *testing.T, name string) *config.Cluster {
	t.Helper()
	c, err := config.Load(filepath.Join("testdata", "clusters", name+".yaml"))
	assert.NilError(t, err)
	return c
}

// account answers like AWS for the credentials of an account.
func account(id string) *recorder.Recorder {
	answer := func(m map[string]any) func(resource.PropertyMap) (resource.PropertyMap, error) {
		return func(resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.NewPropertyMapFromMap(m), nil
		}
	}
	zone := map[string]string{"0": "eu-central-1a", "1": "eu-central-1b"}
	return &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:index/getCallerIdentity:getCallerIdentity": answer(map[string]any{
			"accountId": id, "arn": "arn:aws:sts::" + id + ":assumed-role/ops/someone", "id": id, "userId": "x",
		}),
		"aws:resourcegroupstaggingapi/getResources:getResources": answer(map[string]any{"id": "tags", "resourceTagMappingLists": []any{}}),
		"aws:eks/getClusters:getClusters":                        answer(map[string]any{"id": "eks", "names": []any{}}),
		"aws:eks/getAddonVersion:getAddonVersion":                answer(map[string]any{"id": "addon", "version": "v1.2.3-eksbuild.1"}),
		"aws:index/getPartition:getPartition":                    answer(map[string]any{"partition": "aws", "dnsSuffix": "amazonaws.com", "id": "aws", "reverseDnsPrefix": "com.amazonaws"}),
		"aws:ec2/getVpc:getVpc":                                  answer(map[string]any{"id": "vpc-0123456789abcdef0", "cidrBlock": "10.9.0.0/16", "ownerId": "111122223333"}),
		"aws:ec2/getSubnet:getSubnet": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			id := args["id"].StringValue()
			return resource.NewPropertyMapFromMap(map[string]any{
				"id": id, "vpcId": "vpc-0123456789abcdef0", "availabilityZone": zone[id[len(id)-1:]],
			}), nil
		},
	}}
}

func run(t *testing.T, r *recorder.Recorder, c *config.Cluster, k stacks.Kind, o Options, opts ...pulumi.RunOption) error {
	t.Helper()
	program, err := Of(c, k, o)
	assert.NilError(t, err)
	return r.Run(stacks.Name(c.Name, k), program, opts...)
}

func TestUnknownKind(t *testing.T) {
	_, err := Of(&config.Cluster{}, "other", Options{})
	assert.Error(t, err, `no program for the kind of stack "other": expected bootstrap, core or pipelines`)
}

func TestReservedKeysAreThePublishedOnes(t *testing.T) {
	c := load(t, "full")
	for _, reserved := range names.InfraKeyNames(names.AWSCloud) {
		assert.Check(t, slices.Contains(c.RegistrationAnnotationKeys(), reserved), "%s is published, and free for a cluster's registration", reserved)
	}
}

func TestCore(t *testing.T) {
	c := load(t, "full")
	r := account(c.Cloud.Account)
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	assert.Check(t, is.Len(r.Problems(), 0))
	provider := r.OfType("pulumi:providers:aws")
	assert.Assert(t, len(provider) == 1, "%d AWS providers, expected 1", len(provider))
	for path, want := range map[string]string{
		"region": "eu-central-1", "profile": "platform", "allowedAccountIds[0]": "111122223333",
		"defaultTags.tags.team": "platform", `defaultTags.tags["tombolo:cluster"]`: "full", `defaultTags.tags["tombolo:environment"]`: "dev",
	} {
		if got := provider[0].String(path); got != want {
			t.Errorf("provider's %s is %s, expected %s", path, got, want)
		}
	}
	for _, res := range r.All() {
		if strings.HasPrefix(res.Type, "aws:") && !strings.Contains(res.Provider, "pulumi:providers:aws::aws") {
			t.Errorf("%s %s uses the provider %q, not ours", res.Type, res.Name, res.Provider)
		}
	}
	if _, ok := r.Named("aws:iam/role:Role", "full-service-external-dns-role"); !ok {
		t.Error("no role for external-dns")
	}
	assert.Check(t, is.Equal(len(r.OfType("aws:eks/podIdentityAssociation:PodIdentityAssociation")), 1))
}

func TestCoreInAnExistingNetwork(t *testing.T) {
	c := load(t, "adopted")
	r := account(c.Cloud.Account)
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	for _, res := range r.All() {
		if strings.HasPrefix(res.Type, "aws:vpc/") || strings.HasPrefix(res.Type, "aws:ec2/") && res.Type != "aws:ec2/launchTemplate:LaunchTemplate" {
			t.Errorf("%s %s was made in another team's network", res.Type, res.Name)
		}
	}
}

func TestCoreRefusesAnotherAccount(t *testing.T) {
	c := load(t, "full")
	r := account("999988887777")
	err := run(t, r, c, stacks.Core, Options{})
	want := "core of full: the AWS credentials are of account 999988887777, but the cluster file allows 111122223333 only; " +
		"use credentials of 111122223333 or correct cloud.account"
	assert.Check(t, is.ErrorContains(err, want))
	for _, res := range r.All() {
		assert.Check(t, res.Type == "pulumi:providers:aws" || res.Type == owner.Type, "%s %s was registered", res.Type, res.Name)
	}
}

// TestCoreWithoutProvider: when the provider refuses its configuration, as it
// does for credentials of another account, the engine cancels the first invoke.
func TestCoreWithoutProvider(t *testing.T) {
	c := load(t, "full")
	r := account(c.Cloud.Account)
	for _, tc := range []struct {
		err  error
		want string
	}{
		{
			status.Error(codes.Canceled, "context canceled"),
			"core of full: the AWS provider did not start; the cluster file allows account 111122223333 only: " +
				"use credentials of that account, by cloud.profile or the environment, or correct cloud.account",
		},
		{errors.New("timeout"), "core of full: find out the account of the AWS credentials (the cluster file allows 111122223333 only): "},
	} {
		r.Invokes["aws:index/getCallerIdentity:getCallerIdentity"] = func(resource.PropertyMap) (resource.PropertyMap, error) {
			return nil, tc.err
		}
		if err := run(t, r, c, stacks.Core, Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, expected %q", err, tc.want)
		}
	}
}

func TestBootstrapIsSmall(t *testing.T) {
	t.Setenv(tokenVariable, "hunter2")
	c := load(t, "full")
	r := &recorder.Recorder{}
	assert.NilError(t, run(t, r, c, stacks.Bootstrap, Options{Placeholders: true}, recorder.Preview))
	assert.Check(t, is.Len(r.Problems(), 0))
	var objects []string
	for _, res := range r.All() {
		sync := strings.Contains(res.Type, "toolkit.fluxcd.io") || res.Name == "full-auth"
		distribution := strings.Contains(res.Parent, "tombolo:flux:Engine") && !sync
		if res.Custom && strings.HasPrefix(res.Type, "kubernetes:") && !distribution {
			objects = append(objects, res.Type+" "+res.Name)
		}
	}
	assert.Check(t, len(objects) >= 10 && len(objects) <= 20,
		"bootstrap has %d objects besides the distribution, allowed are 20:\n%s", len(objects), strings.Join(objects, "\n"))
	for _, want := range []string{
		"kubernetes:core/v1:Namespace full-flux-system", "kubernetes:core/v1:Namespace full-dns",
		"kubernetes:core/v1:ConfigMap full-general", "kubernetes:core/v1:ConfigMap full-external-dns",
		"kubernetes:core/v1:Secret full-auth", "kubernetes:source.toolkit.fluxcd.io/v1:GitRepository full-repository",
		"kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization full-kustomization",
	} {
		assert.Check(t, slices.Contains(objects, want), "no %s", want)
	}
}

func TestBootstrapProvider(t *testing.T) {
	c := load(t, "full")
	r := &recorder.Recorder{}
	assert.NilError(t, run(t, r, c, stacks.Bootstrap, Options{Placeholders: true, Env: map[string]string{tokenVariable: "hunter2"}}, recorder.Preview))
	provider := r.OfType("pulumi:providers:kubernetes")
	assert.Assert(t, len(provider) == 1, "%d Kubernetes providers, expected 1", len(provider))
	for _, option := range []string{"enableServerSideApply", "enableConfigMapMutable", "enableSecretMutable"} {
		if got := provider[0].String(option); got != "true" {
			t.Errorf("%s is %q", option, got)
		}
	}
	for _, res := range r.All() {
		if strings.HasPrefix(res.Type, "kubernetes:") && !strings.Contains(res.Provider, "pulumi:providers:kubernetes::kubernetes") {
			t.Errorf("%s %s uses the provider %q, not ours", res.Type, res.Name, res.Provider)
		}
	}
}

func TestPlaceholdersAreNotApplied(t *testing.T) {
	r := &recorder.Recorder{}
	err := run(t, r, load(t, "full"), stacks.Bootstrap, Options{Placeholders: true})
	assert.Check(t, is.ErrorContains(err, "bootstrap of full: import hand-off: placeholders stand for outputs that core does not have yet, and cannot be applied"))
	assert.Check(t, len(r.All()) == 0, "something was registered")
}

func TestMissingSecret(t *testing.T) {
	for want, ref := range map[string]config.SecretRef{
		"gitops.auth.password: the environment variable TOMBOLO_TEST_ABSENT is not set":                                                    {Env: "TOMBOLO_TEST_ABSENT"},
		"gitops.auth.password: stack full-bootstrap has no secret gitToken; set it: pulumi config set --secret gitToken -s full-bootstrap": {Config: "gitToken"},
		"gitops.auth.password: the file testdata/clusters/absent does not exist; paths are relative to the cluster file":                   {File: "absent"},
		"gitops.auth.password says neither config nor env nor file":                                                                        {},
	} {
		c := load(t, "full")
		c.GitOps.Auth.Password = &ref
		err := run(t, &recorder.Recorder{}, c, stacks.Bootstrap, Options{Placeholders: true}, recorder.Preview)
		assert.Check(t, is.ErrorContains(err, want))
	}
}

func TestPlain(t *testing.T) {
	t.Setenv(ClustersVariable, filepath.Join("testdata", "clusters"))
	r := account("111122223333")
	assert.NilError(t, r.Run("full-core", Plain, recorder.Preview))
	assert.Check(t, len(r.OfType("aws:ec2/vpc:Vpc")) == 1, "the core program did not run")
	for stack, want := range map[string]string{
		"absent-core": "stack absent-core: read cluster file testdata/clusters/absent.yaml",
		"full":        `stack "full" is not named after a cluster and a kind`,
	} {
		if err := account("111122223333").Run(stack, Plain); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}
