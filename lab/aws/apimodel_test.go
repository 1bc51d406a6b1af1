package aws

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/apimodel"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
)

// The models have every call that a type stands for, and say what becomes of its
// inputs.
func TestTypesStandForCallsOfAWS(t *testing.T) {
	for token, typ := range allTypes() {
		m, known := apimodel.Of(token)
		assert.Check(t, known, "%s is not among the types of apimodel/calls.json", token)
		service := cmp.Or(typ.API.Service, "S3")
		assert.Check(t, is.Equal(m.Service, service), token)
		for _, call := range []string{typ.API.Create, typ.API.Update, typ.API.Remove} {
			_, known := apimodel.Errors(service, call)
			assert.Check(t, known || call == "", "%s: the model of %s has no call %s", token, service, call)
		}
	}
}

// serviceOf are the services of the packages beside this test.
var serviceOf = map[string]string{
	"acm": "ACM", "ec2": "EC2", "efs": "EFS", "eks": "EKS", "elb": "Elastic Load Balancing v2", "events": "EventBridge", "iam": "IAM",
	"kms": "KMS", "logs": "CloudWatch Logs", "route53": "Route 53", "s3": "S3", "secretsmanager": "Secrets Manager", "sqs": "SQS", "ssm": "SSM",
}

// commonCodes can come from every call: those of the query protocol's services by
// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html, and
// of newer ones by
// https://smithy.io/2.0/spec/constraint-traits.html, smithy.framework#ValidationException.
// What a policy denies is AccessDenied in IAM:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html.
var commonCodes = []string{"AccessDenied", "InvalidParameterValue", "ValidationError", "ValidationException"}

// Every code that the stand-in's code names is one of its service's.
func TestErrorCodesAreAWSs(t *testing.T) {
	known, checked := serviceCodes(), 0
	for dir, service := range serviceOf {
		for _, code := range codesIn(t, dir) {
			checked++
			assert.Check(t, slices.Contains(known[service], code), "lab/aws/%s returns %s, which is no error of %s", dir, code, service)
		}
	}
	assert.Check(t, checked > 100, "only %d codes were found", checked)
}

// A quota of a type ends in a code of the call that makes it. Types without one
// of their own have no quota that anybody meets.
func TestQuotaCodesAreAWSs(t *testing.T) {
	for token, typ := range allTypes() {
		if code := typ.LimitExceeded.Code; code != "" {
			service := cmp.Or(typ.API.Service, "S3")
			codes, _ := apimodel.Errors(service, typ.API.Create)
			codes = slices.Concat(codes, apimodel.Documented(service))
			assert.Check(t, slices.Contains(codes, code), "%s: %s never answers %s", token, typ.API.Create, code)
		}
	}
}

// serviceCodes are the codes of the calls that the types of a service stand for.
func serviceCodes() map[string][]string {
	known := map[string][]string{}
	for _, service := range serviceOf {
		known[service] = append(slices.Clone(commonCodes), apimodel.Documented(service)...)
	}
	for _, typ := range allTypes() {
		service := cmp.Or(typ.API.Service, "S3")
		for _, call := range []string{typ.API.Create, typ.API.Update, typ.API.Remove} {
			codes, _ := apimodel.Errors(service, call)
			known[service] = append(known[service], codes...)
		}
	}
	for _, call := range []string{"CreateSecret", "PutSecretValue", "GetSecretValue", "DeleteSecret"} { // of no type
		codes, _ := apimodel.Errors("Secrets Manager", call)
		known["Secrets Manager"] = append(known["Secrets Manager"], codes...)
	}
	return known
}

// codesIn finds the codes in a package: the first argument of Refusef, and the
// field Code.
func codesIn(t *testing.T, dir string) []string {
	t.Helper()
	var codes []string
	add := func(e ast.Expr) {
		if lit, is := e.(*ast.BasicLit); is && lit.Kind == token.STRING {
			code, err := strconv.Unquote(lit.Value)
			assert.NilError(t, err)
			codes = append(codes, code)
		}
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, is := n.Fun.(*ast.SelectorExpr); is && f.Sel.Name == "Refusef" {
					add(n.Args[0])
				}
			case *ast.KeyValueExpr:
				if key, is := n.Key.(*ast.Ident); is && key.Name == "Code" {
					add(n.Value)
				}
			}
			return true
		})
		return nil
	})
	assert.NilError(t, err)
	return codes
}

var operationError = regexp.MustCompile(`operation error ([^:]+): (\w+), https response error StatusCode: \d+, RequestID: [^,]*, (?:api error )?([\w.]+): `)

// checkCode holds an error against the model of its call.
func checkCode(t *testing.T, err error) {
	t.Helper()
	for _, m := range operationError.FindAllStringSubmatch(err.Error(), -1) {
		service, call, code := m[1], m[2], m[3]
		codes, modelled := apimodel.Errors(service, call)
		codes = slices.Concat(codes, commonCodes, apimodel.Documented(service))
		if modelled && !slices.Contains(codes, code) {
			t.Errorf("%s of %s never answers %s", call, service, code)
		}
	}
}

func TestValuesThatTheModelsRefuse(t *testing.T) {
	w := newWorld(t)
	disk := func(kind string) props {
		return props{"blockDeviceMappings": []any{map[string]any{"deviceName": "/dev/xvda", "ebs": map[string]any{"volumeType": kind}}}}
	}
	metadata := func(key string, value any) props { return props{"metadataOptions": map[string]any{key: value}} }
	for _, tc := range []struct {
		token string
		in    props
		want  string
	}{
		{ec2.LaunchTemplateType, disk("gp9"), `blockDeviceMappings[0].ebs.volumeType: expected blockDeviceMappings[0].ebs.volumeType to be one of ["standard" "io1" "io2" "gp2" "sc1" "st1" "gp3"], got gp9`},
		{ec2.LaunchTemplateType, metadata("httpEndpoint", "on"), `expected metadataOptions.httpEndpoint to be one of ["disabled" "enabled"], got on`},
		{ec2.LaunchTemplateType, metadata("httpTokens", "always"), `expected metadataOptions.httpTokens to be one of ["optional" "required"], got always`},
		{ec2.LaunchTemplateType, metadata("instanceMetadataTags", "yes"), `expected metadataOptions.instanceMetadataTags to be one of ["disabled" "enabled"], got yes`},
		{ec2.EIPType, props{"domain": "cloud"}, `expected domain to be one of ["vpc" "standard"], got cloud`},
		{ec2.NatType, props{"subnetId": w.subnetA.ID, "connectivityType": "both"}, `expected connectivityType to be one of ["private" "public"], got both`},
		{ec2.EndpointType, props{"vpcId": w.vpc.ID, "serviceName": "com.amazonaws.eu-central-1.s3", "vpcEndpointType": "gateway"}, `expected vpcEndpointType to be one of ["Interface" "Gateway" "GatewayLoadBalancer" "Resource" "ServiceNetwork"], got gateway`},
		{eks.NodeGroupType, w.nodeArgs(props{"amiType": "AL2023"}), "expected amiType to be one of ["},
		{eks.NodeGroupType, w.nodeArgs(props{"scalingConfig": map[string]any{"minSize": -1, "desiredSize": 1, "maxSize": 1}}), "expected scalingConfig.minSize to be in the range (at least 0), got -1"},
		{eks.NodeGroupType, w.nodeArgs(props{"scalingConfig": map[string]any{"minSize": 0, "desiredSize": 0, "maxSize": 0}}), "expected scalingConfig.maxSize to be in the range (at least 1), got 0"},
		{eks.NodeGroupType, w.nodeArgs(props{"updateConfig": map[string]any{"maxUnavailablePercentage": 101}}), "expected updateConfig.maxUnavailablePercentage to be in the range (1 - 100), got 101"},
		{eks.NodeGroupType, w.nodeArgs(props{"labels": map[string]any{"example.com/" + strings.Repeat("x", 52): "y"}}), "expected length of labels to be in the range (1 - 63), got example.com/xxx"},
		{eks.NodeGroupType, w.nodeArgs(props{"labels": map[string]any{"x": ""}}), "expected length of labels.x to be in the range (1 - 63), got "},
		{eks.NodeGroupType, w.nodeArgs(props{"taints": []any{map[string]any{"key": strings.Repeat("x", 64), "effect": "NO_SCHEDULE"}}}), "expected length of taints[0].key to be in the range (1 - 63), got xxx"},
		{eks.AccessEntryType, props{"clusterName": "demo", "principalArn": "arn:aws:iam::111122223333:role/ops", "type": "standard"}, "expected type to be one of ["},
		{eks.AccessEntryType, props{"clusterName": "demo", "principalArn": "ops"}, `"principalArn" (ops) is an invalid ARN: arn: invalid prefix`},
		{
			eks.AccessPolicyType,
			props{"clusterName": "demo", "principalArn": "arn:aws:iam::111122223333:role/ops", "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", "accessScope": map[string]any{"type": "pods"}},
			`expected accessScope.type to be one of ["cluster" "namespace"], got pods`,
		},
		{eks.PodIdentityType, props{"clusterName": "demo", "namespace": "shop", "serviceAccount": "web", "roleArn": "arn:aws:iam::1111:role/x"}, `"roleArn" (arn:aws:iam::1111:role/x) is an invalid ARN`},
		{eks.ClusterType, w.clusterArgs(props{"accessConfig": map[string]any{"authenticationMode": "IAM"}}), `expected accessConfig.authenticationMode to be one of ["API" "API_AND_CONFIG_MAP" "CONFIG_MAP"], got IAM`},
		{eks.ClusterType, w.clusterArgs(props{"upgradePolicy": map[string]any{"supportType": "LONG"}}), `expected upgradePolicy.supportType to be one of ["STANDARD" "EXTENDED"], got LONG`},
		{eks.ClusterType, w.clusterArgs(props{"kubernetesNetworkConfig": map[string]any{"ipFamily": "ipv5"}}), `expected kubernetesNetworkConfig.ipFamily to be one of ["ipv4" "ipv6"], got ipv5`},
		{ec2.FlowLogType, props{"vpcId": w.vpc.ID, "trafficType": "ALL", "logDestinationType": "files", "logDestination": "arn:aws:s3:::logs"}, `expected logDestinationType to be one of ["cloud-watch-logs" "s3" "kinesis-data-firehose"], got files`},
		{ec2.FlowLogType, props{"vpcId": w.vpc.ID, "trafficType": "SOME", "logDestinationType": "s3", "logDestination": "arn:aws:s3:::logs"}, `expected trafficType to be one of ["ACCEPT" "REJECT" "ALL"], got SOME`},
		{ec2.LaunchTemplateType, props{"name": "a*b"}, `"name" must have 3 to 128 alphanumeric characters and ()./_ symbols: a*b`},
		{ec2.LaunchTemplateType, props{"instanceMarketOptions": map[string]any{"marketType": "cheap"}}, `expected instanceMarketOptions.marketType to be one of ["spot" `},
		{eks.ClusterType, w.clusterArgs(props{"roleArn": "arn:aws:iam::1111:role/x"}), `"roleArn" (arn:aws:iam::1111:role/x) is an invalid ARN: invalid account ID value`},
		{iam.AttachmentType, props{"role": w.nodeRole.ID, "policyArn": "arn:amazon:iam::aws:policy/AmazonEKSWorkerNodePolicy"}, `is an invalid ARN: invalid partition value`},
		{iam.RoleType, props{"assumeRolePolicy": nodeTrust, "name": "a role"}, "invalid value for name"},
	} {
		w.denied(tc.token, tc.in, tc.want)
	}
}

func TestServiceQuotas(t *testing.T) {
	a := newAccount(t)
	for code, want := range map[string]float64{"vpc/L-F678F1CE": ec2.VpcQuota, "ec2/L-0263D0A3": ec2.AddressQuota, "eks/L-1194D53C": eks.ClusterQuota} {
		service, code, _ := strings.Cut(code, "/")
		out, err := a.Invoke("aws:servicequotas/getServiceQuota:getServiceQuota", props{"serviceCode": service, "quotaCode": code})
		if err != nil || out["value"] != want {
			t.Errorf("%s: %v, %v; want %v", code, out["value"], err, want)
		}
	}
	a.unanswered("aws:servicequotas/getServiceQuota:getServiceQuota", props{"serviceCode": "vpc", "quotaName": "VPCs per Region"}, `the AWS stand-in does not know the quota "" of service "vpc"; it is asked by quotaCode`)
}

func TestRegions(t *testing.T) {
	a := newAccount(t)
	out, err := a.Invoke("aws:index/getRegions:getRegions", props{})
	if err != nil || len(out.List("names")) < 20 || strings.Contains(strings.Join(out.List("names"), " "), "cn-") {
		t.Errorf("regions are %v, %v", out["names"], err)
	}
}

// What counts against a quota is what there is in the region.
func TestUsage(t *testing.T) {
	a := newAccount(t)
	lists := map[string]string{"aws:ec2/getVpcs:getVpcs": "ids", "aws:ec2/getEips:getEips": "publicIps", "aws:eks/getClusters:getClusters": "names"}
	for token, key := range lists {
		if out, err := a.Invoke(token, props{}); err != nil || len(out.List(key)) != 0 {
			t.Errorf("%s of nothing: %v, %v", token, out[key], err)
		}
	}
	a.Make(ec2.VPCType, "net", props{"cidrBlock": "10.0.0.0/16"})
	a.Make(ec2.EIPType, "ip", props{"domain": "vpc"})
	for token, key := range lists {
		want := 1
		if key == "names" {
			want = 0
		}
		if out, err := a.Invoke(token, props{}); err != nil || len(out.List(key)) != want {
			t.Errorf("%s: %v, %v; want %d", token, out[key], err, want)
		}
	}
}
