package aws

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
)

func networkFunctions() map[string]*function {
	return map[string]*function{
		"aws:ec2/getVpc:getVpc": {sdk: ec2.LookupVpc, run: func(q *query) (props, error) {
			r, err := q.one(vpcType, "EC2 VPC")
			if err != nil {
				return nil, err
			}
			return merged(withID(r), props{
				"state": "available", "default": false, "ipv6CidrBlock": "", "ipv6AssociationId": "",
				"cidrBlockAssociations": []any{map[string]any{
					"associationId": "vpc-cidr-assoc-0" + r.ID[len(r.ID)-16:],
					"cidrBlock":     r.Outputs["cidrBlock"], "state": "associated",
				}},
			}), nil
		}},
		"aws:ec2/getSubnet:getSubnet":   {sdk: ec2.LookupSubnet, run: getSubnet},
		"aws:ec2/getSubnets:getSubnets": {sdk: ec2.GetSubnets, run: getSubnets},
		"aws:ec2/getSecurityGroup:getSecurityGroup": {sdk: ec2.LookupSecurityGroup, run: func(q *query) (props, error) {
			r, err := q.one(securityGroupType, "EC2 Security Group")
			if err != nil {
				return nil, err
			}
			return withID(r), nil
		}},
		"aws:ec2/getSecurityGroups:getSecurityGroups": {sdk: ec2.GetSecurityGroups, run: getSecurityGroups},
		"aws:ec2/getInstanceType:getInstanceType":     {sdk: ec2.GetInstanceType, run: getInstanceType},
		"aws:ssm/getParameter:getParameter":           {sdk: ssm.LookupParameter, run: getParameter},
		"aws:kms/getKey:getKey":                       {sdk: kms.LookupKey, run: getKey},
	}
}

func getSubnet(q *query) (props, error) {
	r, err := q.one(subnetType, "EC2 Subnet")
	if err != nil {
		return nil, err
	}
	return merged(withID(r), props{
		"state": "available", "defaultForAz": false, "availableIpAddressCount": 251,
		"ipv6CidrBlock": "", "ipv6CidrBlockAssociationId": "", "customerOwnedIpv4Pool": "", "outpostArn": "",
		"enableLniAtDeviceIndex": 0, "mapCustomerOwnedIpOnLaunch": false,
	}), nil
}

func getSubnets(q *query) (props, error) {
	ids := []any{}
	for r := range q.cloud.each(subnetType, q.region) {
		if q.matches(r) {
			ids = append(ids, r.ID)
		}
	}
	return props{"id": q.region, "ids": ids}, nil
}

// getSecurityGroups lists those that EC2 made by itself too.
func getSecurityGroups(q *query) (props, error) {
	ids, arns, networks, seen := []any{}, []any{}, []any{}, map[string]bool{}
	for r := range q.cloud.each(securityGroupType, q.region) {
		if q.matches(r) && !seen[r.ID] {
			ids, arns, networks = append(ids, r.ID), append(arns, r.Outputs["arn"]), append(networks, r.Inputs["vpcId"])
			seen[r.ID] = true
		}
	}
	return props{"id": q.region, "ids": ids, "arns": arns, "vpcIds": networks}, nil
}

func getInstanceType(q *query) (props, error) {
	name := q.args.str("instanceType")
	if !knownInstance(name) {
		return nil, fmt.Errorf("reading EC2 Instance Type (%s): operation error EC2: DescribeInstanceTypes, api error InvalidInstanceType: The following supplied instance types do not exist: [%s]", name, name)
	}
	vcpus, memory := instanceCapacity(name)
	arch := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[instanceArch(name)]
	return props{
		"id": name, "instanceType": name, "defaultVcpus": vcpus, "memorySize": memory,
		"currentGeneration": true, "hypervisor": "nitro", "supportedArchitectures": []any{arch},
	}, nil
}

var (
	imageParameter = regexp.MustCompile(`^/aws/service/eks/optimized-ami/(\d\.\d+)/(amazon-linux-2023/(x86_64|arm64)/standard/|amazon-linux-2(-arm64|-gpu)?/)recommended(/image_id|/release_version)?$`)
	otherImages    = []string{"/aws/service/bottlerocket/aws-k8s-", "/aws/service/ami-amazon-linux-latest/"}
)

// getParameter knows the public parameters that name machine images.
func getParameter(q *query) (props, error) {
	name := q.args.str("name")
	m := imageParameter.FindStringSubmatch(name)
	known := m != nil && slices.Contains(kubernetesVersions, m[1])
	for _, prefix := range otherImages {
		known = known || strings.HasPrefix(name, prefix)
	}
	if !known {
		return nil, fmt.Errorf("reading SSM Parameter (%s): couldn't find resource (ParameterNotFound)", name)
	}
	image := fmt.Sprintf("ami-0%08x%08x", hashed(name), hashed(name, q.region))
	value := image
	switch {
	case strings.HasSuffix(name, "/release_version"):
		value = m[1] + ".0-20260101"
	case strings.HasSuffix(name, "/recommended"):
		value = fmt.Sprintf(`{"image_id":%q,"schema_version":"2"}`, image)
	}
	return props{
		"id": name, "name": name, "arn": fmt.Sprintf("arn:%s:ssm:%s::parameter%s", partition(q.region), q.region, name),
		"type": "String", "value": value, "insecureValue": value, "version": 1,
	}, nil
}

func getKey(q *query) (props, error) {
	id := q.args.str("keyId")
	if alias := q.find(aliasType, id[strings.LastIndex(id, ":")+1:]); alias != nil {
		id = alias.Outputs.str("targetKeyId")
	}
	key := q.find(keyType, id)
	if key == nil {
		return nil, fmt.Errorf("reading KMS Key (%s): operation error KMS: DescribeKey, NotFoundException: Key '%s' does not exist", id, id)
	}
	return merged(withID(key), props{
		"awsAccountId": q.cloud.options.Account, "enabled": true, "keyState": "Enabled",
		"keyManager": "CUSTOMER", "keySpec": key.Outputs["customerMasterKeySpec"], "origin": "AWS_KMS",
		"creationDate": key.Created.UTC().Format("2006-01-02T15:04:05Z"),
	}), nil
}

func iamFunctions() map[string]*function {
	return map[string]*function{
		"aws:iam/getPolicyDocument:getPolicyDocument": {sdk: iam.GetPolicyDocument, run: getPolicyDocument},
		"aws:iam/getRole:getRole": {sdk: iam.LookupRole, run: func(q *query) (props, error) {
			r := q.find(roleType, q.args.str("name"))
			if r == nil {
				return nil, fmt.Errorf("reading IAM Role (%s): couldn't find resource", q.args.str("name"))
			}
			return withID(r), nil
		}},
		"aws:iam/getOpenIdConnectProvider:getOpenIdConnectProvider": {sdk: iam.LookupOpenIdConnectProvider, run: func(q *query) (props, error) {
			for r := range q.cloud.each(oidcProviderType, global) {
				if r.ID == q.args.str("arn") || r.Outputs.str("url") == q.args.str("url") {
					return withID(r), nil
				}
			}
			return nil, fmt.Errorf("finding IAM OIDC Provider by url (%s): not found", q.args.str("url"))
		}},
	}
}

// getPolicyDocument writes statements as a policy document.
func getPolicyDocument(q *query) (props, error) {
	for _, key := range []string{"overrideJson", "overridePolicyDocuments", "sourceJson", "sourcePolicyDocuments"} {
		if q.args.has(key) {
			return nil, fmt.Errorf("the AWS stand-in does not merge policy documents (%s)", key)
		}
	}
	list := []any{}
	for _, s := range q.args.objects("statements") {
		list = append(list, documentStatement(s))
	}
	version := q.args.str("version")
	if version == "" {
		version = "2012-10-17"
	}
	doc := map[string]any{"Version": version, "Statement": list}
	if id := q.args.str("policyId"); id != "" {
		doc["Id"] = id
	}
	pretty, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, err
	}
	small, err := json.Marshal(doc)
	return props{"id": fmt.Sprint(hashed(string(small))), "json": string(pretty), "minifiedJson": string(small)}, err
}

func documentStatement(s props) map[string]any {
	out := map[string]any{"Effect": "Allow"}
	if e := s.str("effect"); e != "" {
		out["Effect"] = e
	}
	if sid := s.str("sid"); sid != "" {
		out["Sid"] = sid
	}
	for from, to := range map[string]string{"actions": "Action", "notActions": "NotAction", "resources": "Resource", "notResources": "NotResource"} {
		if list := s.list(from); len(list) > 0 {
			out[to] = single(list)
		}
	}
	for from, to := range map[string]string{"principals": "Principal", "notPrincipals": "NotPrincipal"} {
		principals := map[string]any{}
		for _, p := range s.objects(from) {
			principals[p.str("type")] = single(p.list("identifiers"))
		}
		if len(principals) > 0 {
			out[to] = principals
		}
	}
	conditions := map[string]any{}
	for _, c := range s.objects("conditions") {
		test, _ := conditions[c.str("test")].(map[string]any)
		if test == nil {
			test = map[string]any{}
			conditions[c.str("test")] = test
		}
		test[c.str("variable")] = single(c.list("values"))
	}
	if len(conditions) > 0 {
		out["Condition"] = conditions
	}
	return out
}

func single(list []string) any {
	if len(list) == 1 {
		return list[0]
	}
	return anys(list...)
}

func eksFunctions() map[string]*function {
	return map[string]*function{
		"aws:eks/getCluster:getCluster":     {sdk: eks.LookupCluster, run: getCluster},
		"aws:eks/getNodeGroup:getNodeGroup": {sdk: eks.LookupNodeGroup, run: getNodeGroup},
		"aws:eks/getClusterAuth:getClusterAuth": {sdk: eks.GetClusterAuth, run: func(q *query) (props, error) {
			name := q.args.str("name")
			token := q.cloud.token(q.cloud.userCredentials(), q.region, name)
			return props{"id": name, "name": name, "token": token}, nil
		}},
		"aws:eks/getAddonVersion:getAddonVersion": {sdk: eks.GetAddonVersion, run: func(q *query) (props, error) {
			name, kubernetes := q.args.str("addonName"), q.args.str("kubernetesVersion")
			versions := addonVersions(name, kubernetes)
			if len(versions) == 0 || !slices.Contains(kubernetesVersions, kubernetes) {
				return nil, fmt.Errorf("reading EKS Add-On version info (%s, %s): empty result", name, kubernetes)
			}
			return props{"id": name, "version": versions[0]}, nil
		}},
	}
}

func getCluster(q *query) (props, error) {
	name := q.args.str("name")
	r := q.find(clusterType, name)
	if r == nil {
		return nil, fmt.Errorf("reading EKS Cluster (%s): couldn't find resource", name)
	}
	out := withID(r)
	return merged(out, props{
		"accessConfigs":            []any{out["accessConfig"]},
		"kubernetesNetworkConfigs": []any{out["kubernetesNetworkConfig"]},
		"upgradePolicies":          []any{out["upgradePolicy"]},
	}), nil
}

func getNodeGroup(q *query) (props, error) {
	id := q.args.str("clusterName") + ":" + q.args.str("nodeGroupName")
	r := q.find(nodeGroupType, id)
	if r == nil {
		return nil, fmt.Errorf("reading EKS Node Group (%s): couldn't find resource", id)
	}
	out := withID(r)
	return merged(out, props{"scalingConfigs": []any{out["scalingConfig"]}, "remoteAccesses": []any{}, "launchTemplates": []any{}}), nil
}
