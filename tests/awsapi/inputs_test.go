// Package awsapi holds what the programs send to AWS against AWS's own models of
// its APIs.
package awsapi

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/awsfacts"
	"tombolo/lab/aws/apimodel"
	"tombolo/lab/standin"
	"tombolo/stacks"
	"tombolo/stacks/programs"
	"tombolo/tests/files"
)

// Every input that core makes is one that a call of AWS's takes: for all cluster
// files of the repository, and for the longest names with every addon.
func TestInputsAreWhatAWSTakes(t *testing.T) {
	t.Setenv("TOMBOLO_GIT_TOKEN", "hunter2")
	t.Setenv("TOMBOLO_TEST_GIT_TOKEN", "hunter2")
	types := map[string]bool{}
	for _, file := range append(clusterFiles(t), longest(t)) {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			for _, made := range core(t, file) {
				types[made.Type] = true
				in := inputs(made)
				for _, path := range apimodel.Unmapped(made.Type, in) {
					t.Errorf("%s %s: no call takes %s; add it to lab/aws/apimodel/calls.json", made.Type, made.Name, path)
				}
				for _, p := range apimodel.Check(made.Type, in) {
					t.Errorf("%s %s: %s", made.Type, made.Name, p.Reason)
				}
			}
		})
	}
	// What is made nowhere would be checked nowhere.
	assert.Check(t, len(types) > 35, "only %d types were made: %v", len(types), types)
}

// A model that knows nothing would let everything through.
func TestWrongInputsAreFound(t *testing.T) {
	file := filepath.Join("..", "..", "stacks", "programs", "testdata", "clusters", "full.yaml")
	for _, made := range core(t, file) {
		in := inputs(made)
		switch made.Type {
		case "aws:eks/nodeGroup:NodeGroup":
			in["labels"] = map[string]any{"example.com/" + strings.Repeat("x", 60): ""}
			assert.Equal(t, len(apimodel.Check(made.Type, in)), 2)
		case "aws:ec2/launchTemplate:LaunchTemplate":
			in["volumeTyp"] = "gp3"
			assert.DeepEqual(t, apimodel.Unmapped(made.Type, in), []string{"volumeTyp"})
		}
	}
}

func clusterFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, dir := range []string{"clusters", "config/testdata/good", "stacks/programs/testdata/clusters", "tests/lab/testdata", "tests/lab/testdata/argocd", "tests/lab/testdata/clouds"} {
		found, err := filepath.Glob(filepath.Join("..", "..", dir, "*.yaml"))
		assert.NilError(t, err)
		assert.Assert(t, len(found) > 0, "no cluster files in %s", dir)
		for _, file := range found {
			if isClusterFile(filepath.Base(file)) && isForAWS(t, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// isForAWS excludes files for other clouds.
func isForAWS(t *testing.T, file string) bool {
	t.Helper()
	c, err := config.Load(file)
	assert.NilError(t, err)
	return c.Cloud.Provider == config.AWS
}

// isClusterFile excludes what is beside cluster files: manifests, the settings of
// stacks, and templates of them.
func isClusterFile(base string) bool {
	return !slices.Contains([]string{"install.yaml", "argocd-install.yaml", "guest.yaml", "adopted.yaml", "theirs.yaml", "theirs-flux.yaml"}, base) && !strings.HasPrefix(base, "Pulumi.")
}

// longest writes testdata/longest.yaml with the longest name that a cluster of it
// can have.
func longest(t *testing.T) string {
	t.Helper()
	template, err := os.ReadFile("testdata/longest.yaml")
	assert.NilError(t, err)
	file := filepath.Join(t.TempDir(), "clusters", "longest.yaml")
	files.Write(t, filepath.Join(file, "..", "..", "Pulumi.yaml"), "name: tombolo\n") // its project
	files.Write(t, file, "")
	for n := 63; n > 0; n-- {
		text := strings.Replace(string(template), "name: NAME", "name: "+strings.Repeat("c", n), 1)
		assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
		if _, err = config.Load(file); err == nil {
			t.Logf("the longest name has %d characters", n)
			return file
		}
	}
	t.Fatalf("no name is short enough: %v", err)
	return ""
}

// core runs the program of a cluster's network and control plane, and returns
// what it makes on AWS.
func core(t *testing.T, file string) []recorder.Resource {
	t.Helper()
	c, err := config.Load(file)
	assert.NilError(t, err)
	program, err := programs.Of(c, stacks.Core, programs.Options{})
	assert.NilError(t, err)
	r := account(c)
	assert.NilError(t, r.Run(stacks.Name(c.Name, stacks.Core), func(ctx *pulumi.Context) error {
		if err := describe(ctx, c); err != nil {
			return err
		}
		return program(ctx)
	}))
	var made []recorder.Resource
	for _, res := range r.All() {
		if own := res.Type == clusterType; !own && strings.HasPrefix(res.Type, "aws:") || res.Type == controlPlane {
			made = append(made, res)
		}
	}
	return made
}

// inputs are those of a resource, without what the recorder invents: its ids say
// nothing of AWS's.
func inputs(made recorder.Resource) standin.Props {
	in, _ := known(standin.Normal(made.Inputs.Mappable())).(map[string]any)
	return in
}

func known(v any) any {
	switch v := v.(type) {
	case string:
		if strings.HasSuffix(v, "-id") {
			return standin.Unknown{}
		}
	case []any:
		for i := range v {
			v[i] = known(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = known(v[key])
		}
	}
	return v
}

const (
	controlPlane = "eks:index:Cluster"
	clusterType  = "aws:eks/cluster:Cluster"
)

// describe makes the cluster that the EKS component refers to, and waits until it
// is known.
func describe(ctx *pulumi.Context, c *config.Cluster) error {
	cluster, known := &pulumi.CustomResourceState{}, make(chan struct{})
	if err := ctx.RegisterResource(clusterType, c.Name, pulumi.Map{}, cluster); err != nil {
		return err
	}
	cluster.URN().ApplyT(func(urn pulumi.URN) pulumi.URN { close(known); return urn })
	<-known
	return nil
}

// validation is how ACM asks for a record that proves the ownership of a domain.
func validation(domain string) map[string]any {
	return map[string]any{
		"domainName": domain, "resourceRecordName": "_1." + strings.TrimPrefix(domain, "*."), "resourceRecordType": "CNAME",
		"resourceRecordValue": "_2.acm-validations.aws.",
	}
}

// theirVPC is the network of an existing cluster.
const theirVPC = "vpc-0123456789abcdef0"

func theirSubnets() []string { return []string{"subnet-0123456789abcdef0", "subnet-0123456789abcdef1"} }

// account answers like AWS for the account and the network of a cluster file.
func account(c *config.Cluster) *recorder.Recorder {
	type values = map[string]any
	answer := func(m func(resource.PropertyMap) values) func(resource.PropertyMap) (resource.PropertyMap, error) {
		return func(args resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.NewPropertyMapFromMap(m(args)), nil
		}
	}
	always := func(m values) func(resource.PropertyMap) (resource.PropertyMap, error) {
		return answer(func(resource.PropertyMap) values { return m })
	}
	arn := func(rest string) string { return "arn:" + awsfacts.Partition(c.Cloud.Region) + ":" + rest }
	return &recorder.Recorder{
		Outputs: map[string]resource.PropertyMap{
			controlPlane: {"eksCluster": resource.NewProperty(resource.ResourceReference{
				URN: resource.URN("urn:pulumi:" + stacks.Name(c.Name, stacks.Core) + "::" + stacks.Project + "::" + clusterType + "::" + c.Name),
				ID:  resource.NewProperty(c.Name),
			})},
			clusterType: resource.NewPropertyMapFromMap(values{
				"name": c.Name, "arn": arn(fmt.Sprintf("eks:%s:%s:cluster/%s", c.Cloud.Region, c.Cloud.Account, c.Name)),
				"endpoint": "https://k8s.example", "version": c.Kubernetes.Version, "certificateAuthority": values{"data": "Q0E="},
				"identities": []any{values{"oidcs": []any{values{"issuer": "https://oidc.eks." + c.Cloud.Region + ".amazonaws.com/id/" + strings.Repeat("A", 32)}}}},
				"vpcConfig":  values{"clusterSecurityGroupId": "sg-0123456789abcdef0", "subnetIds": []any{"subnet-0123456789abcdef0"}},
			}),
			"aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": resource.NewProperty(1.0)},
			"aws:sqs/queue:Queue":                   {"url": resource.NewProperty("https://sqs." + c.Cloud.Region + ".amazonaws.com/" + c.Cloud.Account + "/x")},
			"aws:acm/certificate:Certificate": {"domainValidationOptions": resource.NewPropertyValue([]any{
				validation("full.lab.test"), validation("*.full.lab.test"), validation("x.lab.test"), validation("*.x.lab.test"),
			})},
			// Core's own last outputs: it was never deployed.
			"pulumi:pulumi:StackReference": {"outputs": resource.NewProperty(resource.PropertyMap{})},
			"aws:kms/key:Key":              {"keyId": resource.NewProperty("1234abcd-12ab-34cd-56ef-1234567890ab")},
		},
		Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
			"aws:index/getCallerIdentity:getCallerIdentity": always(values{
				"accountId": c.Cloud.Account, "arn": arn("sts::" + c.Cloud.Account + ":assumed-role/ops/someone"), "id": "x", "userId": "x",
			}),
			"aws:iam/getSessionContext:getSessionContext": answer(func(args resource.PropertyMap) values {
				return values{
					"arn": args["arn"].StringValue(), "id": "x", "issuerArn": arn("iam::" + c.Cloud.Account + ":role/aws-reserved/sso.amazonaws.com/ops"),
					"issuerId": "x", "issuerName": "ops", "sessionName": "someone",
				}
			}),
			"aws:eks/getClusters:getClusters":                        always(values{"id": "eks", "names": []any{}}),
			"aws:eks/getAddonVersion:getAddonVersion":                always(values{"id": "addon", "version": "v1.2.3-eksbuild.1"}),
			"aws:resourcegroupstaggingapi/getResources:getResources": always(values{"id": "tags", "resourceTagMappingLists": []any{}}),
			"aws:index/getPartition:getPartition": always(values{
				"partition": awsfacts.Partition(c.Cloud.Region), "dnsSuffix": "amazonaws.com", "id": "x", "reverseDnsPrefix": "com.amazonaws",
			}),
			"aws:ec2/getVpc:getVpc": answer(func(args resource.PropertyMap) values {
				return values{"id": args["id"].StringValue(), "cidrBlock": "10.9.0.0/16", "ownerId": c.Cloud.Account}
			}),
			"aws:iam/getRole:getRole": answer(func(args resource.PropertyMap) values {
				name := args["name"].StringValue()
				path := cmp.Or(map[string]string{"fsx-csi": "storage"}[name], "eks") // as the files have them
				return values{"id": name, "arn": arn("iam::" + c.Cloud.Account + ":role/" + path + "/" + name), "assumeRolePolicy": "eks.amazonaws.com ec2.amazonaws.com"}
			}),
			// The subnets of each kind are in different zones.
			"aws:ec2/getSubnet:getSubnet": answer(func(args resource.PropertyMap) values {
				id, of := args["id"].StringValue(), cmp.Or(c.Network.Existing, &config.ExistingNetwork{VPC: theirVPC, PrivateSubnets: theirSubnets()})
				i := max(slices.Index(of.PrivateSubnets, id), slices.Index(of.PublicSubnets, id), slices.Index(of.ControlPlaneSubnets, id))
				return values{"id": id, "vpcId": of.VPC, "availabilityZone": c.Cloud.Region + string(rune('a'+i)), "tags": values{}}
			}),
			"aws:eks/getCluster:getCluster": always(values{
				"name": c.NameInCloud(), "arn": arn("eks:" + c.Cloud.Region + ":" + c.Cloud.Account + ":cluster/" + c.NameInCloud()), "status": "ACTIVE",
				"endpoint": "https://k8s.example", "version": "1.34", "certificateAuthorities": []any{values{"data": "Q0E="}}, "tags": values{},
				"identities":    []any{values{"oidcs": []any{values{"issuer": "https://oidc.eks." + c.Cloud.Region + ".amazonaws.com/id/" + strings.Repeat("A", 32)}}}},
				"accessConfigs": []any{values{"authenticationMode": "API"}},
				"vpcConfig":     values{"clusterSecurityGroupId": "sg-0123456789abcdef0", "vpcId": theirVPC, "subnetIds": []any{theirSubnets()[0], theirSubnets()[1]}},
			}),
			"aws:eks/getAddon:getAddon":           always(values{"addonName": "eks-pod-identity-agent"}),
			"aws:eks/getNodeGroups:getNodeGroups": always(values{"names": []any{}}),
			// The account has none, and the file says that core makes one.
			"aws:iam/getOpenIdConnectProvider:getOpenIdConnectProvider": func(resource.PropertyMap) (resource.PropertyMap, error) {
				return nil, errors.New("not found")
			},
			"aws:route53/getZone:getZone": answer(func(args resource.PropertyMap) values {
				return values{
					"id": args["zoneId"].StringValue(), "zoneId": args["zoneId"].StringValue(), "name": "lab.test", "privateZone": false,
					"arn": arn("route53:::hostedzone/Z1"), "callerReference": "x", "comment": "", "nameServers": []any{},
					"primaryNameServer": "ns", "resourceRecordSetCount": 2, "tags": values{},
				}
			}),
		},
	}
}
