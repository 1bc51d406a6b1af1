package programs

import (
	"errors"
	"os"
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
	"sigs.k8s.io/yaml"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks"
	"tombolo/stacks/bootstrap"
	"tombolo/stacks/handoff"
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
		assert.Check(t, is.Equal(provider[0].String(path), want), path)
	}
	for _, res := range r.All() {
		if strings.HasPrefix(res.Type, "aws:") && !strings.Contains(res.Provider, "pulumi:providers:aws::aws") {
			t.Errorf("%s %s uses the provider %q, not ours", res.Type, res.Name, res.Provider)
		}
	}
	_, ok := r.Named("aws:iam/role:Role", "full-service-external-dns-role")
	assert.Check(t, ok, "no role for external-dns")
	assert.Check(t, is.Len(r.OfType("aws:eks/podIdentityAssociation:PodIdentityAssociation"), 1))
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
		assert.Check(t, is.ErrorContains(run(t, r, c, stacks.Core, Options{}), tc.want))
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
		assert.Check(t, is.Equal(provider[0].String(option), "true"), option)
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
		assert.Check(t, is.ErrorContains(account("111122223333").Run(stack, Plain), want))
	}
}

// entries are the access entries that core makes: principals by the resource's name.
func entries(t *testing.T, c *config.Cluster, had map[string]any) map[string]string {
	t.Helper()
	r := account(c.Cloud.Account)
	r.Invokes[recorder.ReadResources] = func(resource.PropertyMap) (resource.PropertyMap, error) {
		return resource.NewPropertyMapFromMap(map[string]any{"outputs": had}), nil
	}
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	assert.Check(t, is.Len(r.Problems(), 0))
	out := map[string]string{}
	for _, entry := range r.OfType("aws:eks/accessEntry:AccessEntry") {
		if entry.String("type") == "STANDARD" {
			out[entry.Name] = entry.String("principalArn")
		}
	}
	return out
}

func TestCreatorHasAnEntry(t *testing.T) {
	c := load(t, "full")
	c.Addons = nil
	c.Kubernetes.Previewers = nil
	c.Kubernetes.Admins = []config.Principal{{Name: "platform", PrincipalARN: "arn:aws:iam::111122223333:role/platform"}}
	const platform = "arn:aws:iam::111122223333:role/platform"
	controlPlane := func(byEKS bool) map[string]any {
		return map[string]any{"type": "aws:eks/cluster:Cluster", "outputs": map[string]any{
			"accessConfig": map[string]any{"bootstrapClusterCreatorAdminPermissions": byEKS},
		}}
	}
	madeBy := func(principal string) map[string]any {
		return map[string]any{
			"urn:pulumi:s::p::aws:eks/cluster:Cluster::full": controlPlane(false),
			"urn:pulumi:s::p::aws:eks/accessEntry:AccessEntry::full-creator": map[string]any{
				"type": "aws:eks/accessEntry:AccessEntry", "outputs": map[string]any{"principalArn": principal},
			},
		}
	}
	for name, test := range map[string]struct {
		had  map[string]any
		want map[string]string
	}{
		// Who previews a cluster that is not made may be another one than who makes it, and
		// the plan is the same for both.
		"a new cluster":          {nil, map[string]string{"full-creator": "", "full-admin-platform": platform}},
		"made by another caller": {madeBy("arn:other"), map[string]string{"full-creator": "arn:other", "full-admin-platform": platform}},
		"made by an admin":       {madeBy(platform), map[string]string{"full-creator": platform}},
		"made by an older core": {
			map[string]any{"urn:pulumi:s::p::aws:eks/cluster:Cluster::full": controlPlane(true)},
			map[string]string{"full-admin-platform": platform},
		},
	} {
		t.Run(name, func(t *testing.T) { assert.DeepEqual(t, entries(t, c, test.had), test.want) })
	}
}

// azureAccount answers like Azure for the credentials of the test's subscription.
func azureAccount() *recorder.Recorder {
	return &recorder.Recorder{Unborn: true, Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"azure-native:authorization:getClientConfig": func(resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.NewPropertyMapFromMap(map[string]any{
				"tenantId": "00000000-0000-4000-8000-00000000000a", "subscriptionId": "00000000-0000-4000-8000-000000000001", "clientId": "c", "objectId": "o",
			}), nil
		},
		"azure-native:resources:getResourceGroup": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			return nil, &missingGroup{args["resourceGroupName"].StringValue()}
		},
	}}
}

type missingGroup struct{ name string }

func (e *missingGroup) Error() string { return "ResourceGroupNotFound: " + e.name }

// TestCoreOnAzure runs by plain Pulumi, without anything of AWS.
func TestCoreOnAzure(t *testing.T) {
	t.Setenv(ClustersVariable, filepath.Join("testdata", "clusters"))
	r := azureAccount()
	r.Sound(t, r.Run("cloudy-core", Plain, recorder.Preview))
	assert.Check(t, is.Len(r.OfType("azure-native:containerservice/v20240901:ManagedCluster"), 1))
	for _, res := range r.All() {
		assert.Check(t, !strings.Contains(res.Type, "aws") && !strings.Contains(res.Type, "eks"), "%s %s is of AWS", res.Type, res.Name)
	}
}

// TestPreviewersOnAzure: the API server knows the groups by their object ids.
func TestPreviewersOnAzure(t *testing.T) {
	r := &recorder.Recorder{}
	assert.NilError(t, run(t, r, load(t, "cloudy"), stacks.Bootstrap, Options{Placeholders: true}, recorder.Preview))
	binding, _ := r.Named("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding", "cloudy-previews")
	binding.Expect(t, map[string]string{
		"subjects[0].name": "00000000-0000-4000-8000-0000000000a2", "subjects[1].name": "00000000-0000-4000-8000-0000000000a3",
	})
}

// azureOutputs are outputs of core.
func azureOutputs() map[string]any {
	const group = "/subscriptions/s/resourceGroups/cloudy/providers/"
	return map[string]any{
		"schemaVersion": float64(handoff.SchemaVersion), "cloud": "azure", "clusterName": "cloudy", "owner": "q5zk", "clusterId": group + "cluster",
		"clusterVersion": "1.35", "clusterEndpoint": anAPI, "clusterCa": "Y2E=", "region": "germanywestcentral", "oidcIssuer": "https://oidc",
		"addonOutputs": map[string]any{}, "subscriptionId": "s", "tenantId": "t", "resourceGroup": "cloudy", "nodeResourceGroup": "cloudy-nodes",
		"vnetId": group + "vnet", "vnetCidr": "10.0.0.0/16", "nodeSubnetId": group + "vnet/subnets/nodes", "kubeletClientId": "k0", "gitClientId": "",
		"serviceClientIds": map[string]any{"shop": "c0"},
	}
}

// TestContentsOnAzure: GitOps reads the keys of its cloud, and a service its client id.
func TestContentsOnAzure(t *testing.T) {
	c := load(t, "cloudy")
	found, err := bootstrap.ContentsOf(t.Context(), c, c, azureOutputs(), nil)
	assert.NilError(t, err)
	general := found.Data["flux-system/infra-config"]
	for _, key := range names.InfraKeyNames(names.AzureCloud) {
		assert.Check(t, general[key] != "", "%s has no value", key)
	}
	assert.Check(t, is.Equal(general["network_id"], general["vnet_id"]))
	assert.Check(t, is.Equal(general["cluster_id"], azureOutputs()["clusterId"]))
	_, has := general["vpc_id"]
	assert.Check(t, !has, "vpc_id is published on Azure")
	var values map[string]any
	assert.NilError(t, yaml.Unmarshal([]byte(found.Data["shop/shop-values"]["values.yaml"]), &values))
	assert.DeepEqual(t, values["serviceAccount"], map[string]any{
		"create": true, "name": "shop", "annotations": map[string]any{"azure.workload.identity/client-id": "c0"},
	})
	assert.DeepEqual(t, values["podLabels"], map[string]any{"azure.workload.identity/use": "true"})
	assert.Check(t, !strings.Contains(found.Data["shop/reporter-values"]["values.yaml"], "workload.identity"))
}

// TestSpokeOnAzure: a hub in AWS reaches it by the token of a service account, and both are
// reached by the program of their own cloud.
func TestSpokeOnAzure(t *testing.T) {
	r, o := deployed(t)
	at := r.Outputs["pulumi:pulumi:StackReference"]["outputs"].ObjectValue()
	o.Told, o.Predicted, o.PredictedHub = true, azureOutputs(), coreOutputs(load(t, "mgmt"))
	for _, outputs := range []map[string]any{o.Predicted, o.PredictedHub} {
		outputs["clusterEndpoint"], outputs["clusterCa"] = at["clusterEndpoint"].StringValue(), at["clusterCa"].StringValue()
	}
	programs, _, _ := strings.Cut(o.Env["PATH"], ":")
	assert.NilError(t, os.Symlink(filepath.Join(programs, "aws"), filepath.Join(programs, "kubelogin")))
	assert.NilError(t, run(t, r, load(t, "cloudspoke"), stacks.Bootstrap, o, recorder.Preview))
	for provider, program := range map[string]string{"kubernetes": "command: kubelogin", "hub": "command: aws"} {
		made, _ := r.Named("pulumi:providers:kubernetes", provider)
		assert.Check(t, is.Contains(made.String("kubeconfig"), program))
	}
	_, data := registrationOf(t, r, "cloudspoke")
	assert.Check(t, is.Contains(data["config"], `"bearerToken":"`+bearerToken+`"`))
}
