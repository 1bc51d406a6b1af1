package aws

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/kms"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

func TestUnknownType(t *testing.T) {
	a := newAccount(t)
	_, failures := a.Check("aws:rds/instance:Instance", "x", nil, props{})
	if !strings.Contains(failures, "the AWS stand-in does not know the resource type aws:rds/instance:Instance") {
		t.Error(failures)
	}
	a.unanswered("aws:s3/getBucket:getBucket", nil, "the AWS stand-in does not know the function aws:s3/getBucket:getBucket")
}

func TestConfigurationIsRefused(t *testing.T) {
	a := newAccount(t)
	for _, tc := range []struct {
		config props
		want   string
	}{
		{props{"region": "eu-central-9"}, "invalid AWS Region: eu-central-9"},
		{props{"allowedAccountIds": `["444455556666"]`}, "AWS account ID not allowed: 111122223333 (allowedAccountIds: 444455556666)"},
		{props{"allowedAccountIds": []any{"444455556666"}}, "AWS account ID not allowed: 111122223333"},
		{props{"regions": "x"}, `Invalid or unknown key; did you mean "region"?`},
	} {
		res, err := a.Server.CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: a.Wire(tc.config)})
		assert.Check(t, err == nil && len(res.Failures) == 1 && strings.Contains(res.Failures[0].Reason, tc.want), "check of %v gives %v, %v", tc.config, res, err)
		_, err = a.Server.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: a.Wire(tc.config)})
		assert.Check(t, err != nil && strings.Contains(err.Error(), tc.want), "configuration %v gives %v", tc.config, err)
	}
}

func TestDefaultTags(t *testing.T) {
	a := newAccount(t)
	a.Configure(props{"defaultTags": `{"tags":{"tombolo:cluster":"demo","team":"a"}}`, "allowedAccountIds": `["111122223333"]`})
	vpc := a.Make(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16", "tags": map[string]any{"team": "b"}})
	want := props{"tombolo:cluster": "demo", "team": "b"}
	assert.Check(t, is.DeepEqual(want, vpc.Out.Sub("tagsAll")))
	a.Make(iam.RoleType, "role", props{"assumeRolePolicy": nodeTrust})
	list := a.tagged("tombolo:cluster", "demo")
	assert.Check(t, len(list) == 1 && list[0].Str("resourceArn") == vpc.Out.Str("arn") && list[0].Sub("tags").Str("team") == "b", "found %v", list)
	d := a.Diff(vpc, nil)
	assert.Check(t, d.Changes == pulumirpc.DiffResponse_DIFF_NONE, "diff without a change: %v", d)
}

func TestNames(t *testing.T) {
	a := newAccount(t)
	in, _ := a.Check(iam.RoleType, "web", nil, props{"assumeRolePolicy": nodeTrust})
	name := in.Str("name")
	if !regexp.MustCompile(`-[0-9a-f]{7}$`).MatchString(name) || !strings.HasPrefix(name, "web-") {
		t.Errorf("made up the name %s", name)
	}
	if again, _ := a.Check(iam.RoleType, "web", in, props{"assumeRolePolicy": nodeTrust}); again.Str("name") != name {
		t.Errorf("the name was %s and is %s", name, again.Str("name"))
	}
	if alias, _ := a.Check(kms.AliasType, "web", nil, props{"targetKeyId": "x"}); !strings.HasPrefix(alias.Str("name"), "alias/web-") {
		t.Errorf("made up the alias %s", alias.Str("name"))
	}
}

func TestReplacements(t *testing.T) {
	w := newWorld(t)
	template := w.Make(ec2.LaunchTemplateType, "lt", props{"name": "nodes", "instanceType": "m7i.large", "updateDefaultVersion": true})
	for _, tc := range []struct {
		what     *thing
		change   props
		replaces []string
		first    bool // the old one goes first
	}{
		{w.vpc, props{"cidrBlock": "10.1.0.0/16"}, []string{"cidrBlock"}, false},
		{w.vpc, props{"enableDnsHostnames": false}, nil, false},
		{w.subnetA, props{"availabilityZone": "eu-central-1c"}, []string{"availabilityZone"}, false},
		{w.subnetA, props{"mapPublicIpOnLaunch": true}, nil, false},
		{w.nat, props{"subnetId": w.subnetB.ID}, []string{"subnetId"}, false},
		{w.nodeRole, props{"name": "other"}, []string{"name"}, false},
		{w.nodeRole, props{"description": "other"}, nil, false},
		{w.cluster, props{"version": "1.35"}, nil, false},
		{w.cluster, props{"roleArn": "arn:aws:iam::111122223333:role/other"}, []string{"roleArn"}, true},
		{w.cluster, props{"vpcConfig": standin.Merged(w.cluster.In.Sub("vpcConfig"), props{"endpointPrivateAccess": true})}, nil, false},
		{w.nodes, props{"instanceTypes": []any{"m7i.xlarge"}}, []string{"instanceTypes"}, false},
		{w.nodes, props{"scalingConfig": map[string]any{"minSize": 1, "desiredSize": 3, "maxSize": 3}}, nil, false},
		{template, props{"instanceType": "m7i.xlarge"}, nil, false},
	} {
		d := w.Diff(tc.what, tc.change)
		assert.Check(t, d.Changes == pulumirpc.DiffResponse_DIFF_SOME && slices.Equal(d.Replaces, tc.replaces) && d.DeleteBeforeReplace == tc.first, "%s with %v: %v", tc.what.Name, tc.change, d)
	}
	d := w.Diff(w.cluster, props{"vpcConfig": standin.Merged(w.cluster.In.Sub("vpcConfig"), props{"endpointPrivateAccess": true})})
	assert.Check(t, slices.Equal(slices.Collect(maps.Keys(d.DetailedDiff)), []string{"vpcConfig.endpointPrivateAccess"}), "detailed diff is %v", d.DetailedDiff)
	err := w.Update(template, props{"instanceType": "m7i.xlarge"})
	assert.Check(t, err == nil && template.Out.Integer("latestVersion") == 2 && template.Out.Integer("defaultVersion") == 2, "after an update the template is %v, %v", template.Out, err)
}

func TestTagsMakeNoVersion(t *testing.T) {
	a := newAccount(t)
	template := a.Make(ec2.LaunchTemplateType, "lt", props{"instanceType": "m7i.large"})
	in := standin.Merged(template.In, props{"tags": map[string]any{"a": "b"}})
	res, err := a.Server.Update(t.Context(), &pulumirpc.UpdateRequest{
		Urn: standintest.URN(ec2.LaunchTemplateType, "lt"), Id: template.ID,
		Olds: a.Wire(template.Out), OldInputs: a.Wire(template.In), News: a.Wire(in), Preview: true,
	})
	assert.Check(t, err == nil && a.Plain(res.Properties).Integer("latestVersion") == 1, "preview gives %v, %v", res, err)
	err = a.Update(template, in)
	assert.Check(t, err == nil && template.Out.Integer("latestVersion") == 1 && template.Out.Sub("tagsAll").Str("a") == "b", "update gives %v, %v", template.Out, err)
}

func TestSameDocumentIsNoChange(t *testing.T) {
	w := newWorld(t)
	other := `{"Statement":[{"Action":["sts:AssumeRole"],"Principal":{"Service":["ec2.amazonaws.com"]},"Effect":"Allow"}],"Version":"2012-10-17"}`
	d := w.Diff(w.nodeRole, props{"assumeRolePolicy": other})
	assert.Check(t, d.Changes == pulumirpc.DiffResponse_DIFF_NONE, "got %v", d)
	reversed := props{"vpcConfig": standin.Merged(w.cluster.In.Sub("vpcConfig"), props{"subnetIds": []any{w.subnetB.ID, w.subnetA.ID}})}
	d = w.Diff(w.cluster, reversed)
	assert.Check(t, d.Changes == pulumirpc.DiffResponse_DIFF_NONE, "got %v", d)
}

func TestPreview(t *testing.T) {
	a := newAccount(t)
	in, failures := a.Check(ec2.SubnetType, "s", nil, props{"vpcId": standin.Unknown{}, "cidrBlock": "10.0.0.0/24"})
	if failures != "" {
		t.Fatal(failures)
	}
	res, err := a.Server.Create(t.Context(), &pulumirpc.CreateRequest{Urn: standintest.URN(ec2.SubnetType, "s"), Properties: a.Wire(in), Preview: true})
	assert.NilError(t, err)
	out := a.Plain(res.Properties)
	if out["arn"] != (standin.Unknown{}) || out["vpcId"] != (standin.Unknown{}) || out.Str("cidrBlock") != "10.0.0.0/24" || res.Id != "" {
		t.Errorf("preview is %v", out)
	}
	_, err = a.Server.Create(t.Context(), &pulumirpc.CreateRequest{Urn: standintest.URN(ec2.SubnetType, "s"), Properties: a.Wire(in)})
	assert.Check(t, err != nil && err.Error() == "creating EC2 Subnet: an input is still unknown", "got %v", err)
}

func TestRegionsAreApart(t *testing.T) {
	a := newAccount(t)
	vpc := a.Make(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16"})
	a.Configure(props{"region": "us-east-1"})
	a.denied(ec2.SubnetType, props{"vpcId": vpc.ID, "cidrBlock": "10.0.0.0/24"}, "InvalidVpcID.NotFound")
}

func TestFunctions(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct {
		token string
		args  props
		key   string
		want  any
	}{
		{"aws:index/getCallerIdentity:getCallerIdentity", nil, "arn", "arn:aws:iam::111122223333:user/tombolo"},
		{"aws:index/getPartition:getPartition", nil, "reverseDnsPrefix", "com.amazonaws"},
		{"aws:index/getAvailabilityZones:getAvailabilityZones", props{"state": "available"}, "zoneIds", standin.Values("euc1-az1", "euc1-az2", "euc1-az3")},
		{"aws:ec2/getVpc:getVpc", props{"id": w.vpc.ID}, "cidrBlock", "10.0.0.0/16"},
		{"aws:ec2/getVpc:getVpc", props{"tags": map[string]any{"Name": "net"}}, "id", w.vpc.ID},
		{"aws:ec2/getSubnet:getSubnet", props{"id": w.subnetB.ID}, "availabilityZone", "eu-central-1b"},
		{"aws:eks/getCluster:getCluster", props{"name": "demo"}, "version", "1.34"},
		{"aws:eks/getAddonVersion:getAddonVersion", props{"addonName": "kube-proxy", "kubernetesVersion": "1.34"}, "version", "v1.34.0-eksbuild.2"},
		{"aws:ssm/getParameter:getParameter", props{"name": "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/release_version"}, "value", "1.34.0-20260101"},
	} {
		got, err := w.Invoke(tc.token, tc.args)
		if err != nil {
			t.Errorf("%s: %v", tc.token, err)
		} else if diff := cmp.Diff(tc.want, got[tc.key]); diff != "" {
			t.Errorf("%s: %s", tc.token, diff)
		}
	}
	for token, tc := range map[string]struct {
		args props
		want string
	}{
		"aws:ec2/getVpc:getVpc":         {props{"id": "vpc-1"}, "no matching EC2 VPC found"},
		"aws:ec2/getSubnet:getSubnet":   {props{"vpcId": w.vpc.ID}, "multiple EC2 Subnets matched"},
		"aws:eks/getCluster:getCluster": {props{}, "Missing required argument"},
	} {
		w.unanswered(token, tc.args, tc.want)
	}
}

func TestSchemaComesFromTheSDK(t *testing.T) {
	a := newAccount(t)
	for token, want := range map[string][]string{
		ec2.VPCType:         nil,
		eks.NodeGroupType:   {"clusterName", "nodeRoleArn", "scalingConfig", "subnetIds"},
		eks.ClusterType:     {"roleArn", "vpcConfig"},
		iam.AttachmentType:  {"policyArn", "role"},
		ec2.GroupRuleType:   {"fromPort", "protocol", "securityGroupId", "toPort", "type"},
		eks.PodIdentityType: {"clusterName", "namespace", "roleArn", "serviceAccount"},
	} {
		got := a.Cloud.TypeOf(token).Required()
		assert.Check(t, slices.Equal(got, want), "%s requires %v", token, got)
	}
	for token := range allTypes() {
		typ := a.Cloud.TypeOf(token)
		for _, list := range [][]string{typ.ForceNew, typ.Ordered, typ.Documents, typ.Unplayed} {
			for _, path := range list {
				top, _, _ := strings.Cut(path, ".")
				assert.Check(t, typ.HasInput(top), "%s has no input %s", token, path)
			}
		}
	}
}
