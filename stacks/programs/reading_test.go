package programs

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/cirole"
	"tombolo/components/identity"
	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks"
)

// readBy are the actions by which the AWS provider reads resources of a type, and
// answers functions, by its source (internal/service); actions by the names of AWS's
// Service Authorization Reference.
var readBy = map[string]string{
	"aws:acm/certificate:Certificate":                         "acm:DescribeCertificate acm:ListTagsForCertificate",
	"aws:acm/certificateValidation:CertificateValidation":     "acm:DescribeCertificate",
	"aws:cloudwatch/eventRule:EventRule":                      "events:DescribeRule events:ListTagsForResource",
	"aws:cloudwatch/eventTarget:EventTarget":                  "events:ListTargetsByRule",
	"aws:cloudwatch/logGroup:LogGroup":                        "logs:DescribeLogGroups logs:ListTagsForResource",
	"aws:ec2/defaultSecurityGroup:DefaultSecurityGroup":       "ec2:DescribeSecurityGroups",
	"aws:ec2/eip:Eip":                                         "ec2:DescribeAddresses ec2:DescribeAddressesAttribute",
	"aws:ec2/flowLog:FlowLog":                                 "ec2:DescribeFlowLogs",
	"aws:ec2/internetGateway:InternetGateway":                 "ec2:DescribeInternetGateways",
	"aws:ec2/launchTemplate:LaunchTemplate":                   "ec2:DescribeLaunchTemplates ec2:DescribeLaunchTemplateVersions",
	"aws:ec2/natGateway:NatGateway":                           "ec2:DescribeNatGateways",
	"aws:ec2/route:Route":                                     "ec2:DescribeRouteTables",
	"aws:ec2/routeTable:RouteTable":                           "ec2:DescribeRouteTables",
	"aws:ec2/routeTableAssociation:RouteTableAssociation":     "ec2:DescribeRouteTables",
	"aws:ec2/securityGroup:SecurityGroup":                     "ec2:DescribeSecurityGroups",
	"aws:ec2/securityGroupRule:SecurityGroupRule":             "ec2:DescribeSecurityGroups ec2:DescribeSecurityGroupRules",
	"aws:ec2/subnet:Subnet":                                   "ec2:DescribeSubnets",
	"aws:ec2/tag:Tag":                                         "ec2:DescribeTags",
	"aws:ec2/vpc:Vpc":                                         "ec2:DescribeVpcs ec2:DescribeVpcAttribute ec2:DescribeNetworkAcls ec2:DescribeRouteTables ec2:DescribeSecurityGroups",
	"aws:ec2/vpcEndpoint:VpcEndpoint":                         "ec2:DescribeVpcEndpoints ec2:DescribePrefixLists",
	"aws:efs/backupPolicy:BackupPolicy":                       "elasticfilesystem:DescribeBackupPolicy",
	"aws:efs/fileSystem:FileSystem":                           "elasticfilesystem:DescribeFileSystems elasticfilesystem:DescribeLifecycleConfiguration",
	"aws:efs/mountTarget:MountTarget":                         "elasticfilesystem:DescribeMountTargets elasticfilesystem:DescribeMountTargetSecurityGroups",
	"aws:eks/accessEntry:AccessEntry":                         "eks:DescribeAccessEntry",
	"aws:eks/accessPolicyAssociation:AccessPolicyAssociation": "eks:ListAssociatedAccessPolicies",
	"aws:eks/addon:Addon":                                     "eks:DescribeAddon",
	"aws:eks/cluster:Cluster":                                 "eks:DescribeCluster",
	"aws:eks/identityProviderConfig:IdentityProviderConfig":   "eks:DescribeIdentityProviderConfig",
	"aws:eks/nodeGroup:NodeGroup":                             "eks:DescribeNodegroup",
	"aws:eks/podIdentityAssociation:PodIdentityAssociation":   "eks:DescribePodIdentityAssociation",
	"aws:iam/instanceProfile:InstanceProfile":                 "iam:GetInstanceProfile",
	"aws:iam/openIdConnectProvider:OpenIdConnectProvider":     "iam:GetOpenIDConnectProvider",
	"aws:iam/policy:Policy":                                   "iam:GetPolicy iam:GetPolicyVersion",
	"aws:iam/role:Role":                                       "iam:GetRole iam:ListRolePolicies iam:GetRolePolicy iam:ListAttachedRolePolicies",
	"aws:iam/rolePolicy:RolePolicy":                           "iam:GetRolePolicy",
	"aws:iam/rolePolicyAttachment:RolePolicyAttachment":       "iam:ListAttachedRolePolicies",
	"aws:kms/alias:Alias":                                     "kms:ListAliases",
	"aws:kms/key:Key":                                         "kms:DescribeKey kms:GetKeyPolicy kms:GetKeyRotationStatus kms:ListResourceTags",
	"aws:route53/record:Record":                               "route53:GetHostedZone route53:ListResourceRecordSets",
	"aws:sqs/queue:Queue":                                     "sqs:GetQueueAttributes sqs:ListQueueTags",
	"aws:sqs/queuePolicy:QueuePolicy":                         "sqs:GetQueueAttributes",
	"aws:s3/bucketV2:BucketV2": "s3:ListBucket s3:GetBucketPolicy s3:GetBucketAcl s3:GetBucketCORS s3:GetBucketWebsite s3:GetBucketVersioning " +
		"s3:GetAccelerateConfiguration s3:GetBucketRequestPayment s3:GetBucketLogging s3:GetLifecycleConfiguration s3:GetReplicationConfiguration " +
		"s3:GetEncryptionConfiguration s3:GetBucketObjectLockConfiguration s3:GetBucketTagging",
	"aws:s3/bucketPolicy:BucketPolicy": "s3:GetBucketPolicy",
	"aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2": "s3:GetEncryptionConfiguration",
	"aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2":                       "s3:GetLifecycleConfiguration",
	"aws:s3/bucketOwnershipControls:BucketOwnershipControls":                                     "s3:GetBucketOwnershipControls",
	"aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock":                                     "s3:GetBucketPublicAccessBlock",
	"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule":                                  "ec2:DescribeSecurityGroupRules",
	"aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule":                                    "ec2:DescribeSecurityGroupRules",

	// STS tells everybody who he is.
	"aws:index/getCallerIdentity:getCallerIdentity":             "",
	"aws:index/getPartition:getPartition":                       "",
	"aws:resourcegroupstaggingapi/getResources:getResources":    "tag:GetResources",
	"aws:eks/getClusters:getClusters":                           "eks:ListClusters",
	"aws:eks/getCluster:getCluster":                             "eks:DescribeCluster",
	"aws:eks/getAddonVersion:getAddonVersion":                   "eks:DescribeAddonVersions",
	"aws:eks/getNodeGroups:getNodeGroups":                       "eks:ListNodegroups",
	"aws:eks/getAddon:getAddon":                                 "eks:DescribeAddon",
	"aws:iam/getOpenIdConnectProvider:getOpenIdConnectProvider": "iam:ListOpenIDConnectProviders iam:GetOpenIDConnectProvider",
	"aws:eks/getNodeGroup:getNodeGroup":                         "eks:DescribeNodegroup",
	"aws:ec2/getVpc:getVpc":                                     "ec2:DescribeVpcs ec2:DescribeVpcAttribute ec2:DescribeRouteTables",
	"aws:ec2/getSubnet:getSubnet":                               "ec2:DescribeSubnets",
	"aws:route53/getZone:getZone":                               "route53:GetHostedZone route53:ListTagsForResource",

	"aws:index/getRegions:getRegions":                           "ec2:DescribeRegions",
	"aws:index/getAvailabilityZones:getAvailabilityZones":       "ec2:DescribeAvailabilityZones",
	"aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings": "ec2:DescribeInstanceTypeOfferings",
	"aws:ec2/getVpcs:getVpcs":                                   "ec2:DescribeVpcs",
	"aws:ec2/getEips:getEips":                                   "ec2:DescribeAddresses",
	"aws:eks/getClusterVersions:getClusterVersions":             "eks:DescribeClusterVersions",
	"aws:kms/getKey:getKey":                                     "kms:DescribeKey",
	"aws:servicequotas/getServiceQuota:getServiceQuota":         "servicequotas:GetServiceQuota",
}

// askedBefore are the functions by which automation/cloud/aws asks the account, before core is
// previewed or made.
var askedBefore = []string{
	"aws:index/getRegions:getRegions", "aws:index/getAvailabilityZones:getAvailabilityZones", "aws:ec2/getSubnet:getSubnet",
	"aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings", "aws:ec2/getVpcs:getVpcs", "aws:ec2/getEips:getEips",
	"aws:eks/getClusters:getClusters", "aws:eks/getClusterVersions:getClusterVersions", "aws:kms/getKey:getKey",
	"aws:servicequotas/getServiceQuota:getServiceQuota",
}

// TestThePreviewRoleReadsCore: the role of pipelines that reads may do all that a preview
// with --refresh of core asks of AWS, and none of what an up asks.
func TestThePreviewRoleReadsCore(t *testing.T) {
	allowed := func(action string) bool {
		return slices.ContainsFunc(cirole.Reading(cirole.State{BucketARN: "arn:aws:s3:::acme-state"}), func(s identity.Statement) bool {
			return slices.Contains(s.Resources, "*") && slices.ContainsFunc(s.Actions, func(pattern string) bool {
				matched, err := path.Match(pattern, action)
				return err == nil && matched
			})
		})
	}
	checked := 0
	everyAddon, err := config.Load("../../clusters/full.yaml")
	assert.NilError(t, err)
	for _, c := range []*config.Cluster{load(t, "full"), load(t, "adopted"), load(t, "mgmt"), everyAddon} {
		r := account(c.Cloud.Account)
		r.Invokes["aws:route53/getZone:getZone"] = func(args resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.PropertyMap{"zoneId": args["zoneId"], "name": resource.NewStringProperty("lab.test")}, nil
		}
		tokens := make([]string, 0, len(r.Invokes))
		for token := range r.Invokes {
			tokens = append(tokens, token)
		}
		assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
		for _, res := range r.All() {
			tokens = append(tokens, res.Type)
		}
		for _, token := range tokens {
			if !strings.HasPrefix(token, "aws:") {
				continue
			}
			actions, known := readBy[token]
			assert.Check(t, known, "%s: write down by which actions the AWS provider reads it", token)
			for _, action := range strings.Fields(actions) {
				checked++
				assert.Check(t, allowed(action), "%s: the role may not use %s", token, action)
			}
		}
	}
	for _, token := range askedBefore {
		assert.Check(t, readBy[token] != "", token)
		for _, action := range strings.Fields(readBy[token]) {
			assert.Check(t, allowed(action), "%s: the role may not use %s", token, action)
		}
	}
	assert.Check(t, checked > 60, "only %d actions were checked", checked)
	for _, write := range []string{
		"ec2:CreateVpc", "ec2:DeleteVpc", "ec2:CreateTags", "eks:CreateCluster", "eks:UpdateClusterConfig", "eks:AssociateAccessPolicy", "eks:AssociateIdentityProviderConfig", "eks:DisassociateIdentityProviderConfig", "iam:CreateRole",
		"iam:PassRole", "iam:PutRolePolicy", "iam:UpdateAssumeRolePolicy", "kms:CreateGrant", "kms:Decrypt", "s3:PutObject", "s3:GetObject", "s3:DeleteObject",
		"secretsmanager:GetSecretValue", "ssm:GetParameter", "logs:GetLogEvents", "sqs:ReceiveMessage", "sts:AssumeRole", "tag:TagResources",
	} {
		assert.Check(t, !allowed(write), "the role that reads may use %s on everything", write)
	}
}

const ourBoundary = "arn:aws:iam::111122223333:policy/boundary"

// rolesOf are the roles that core makes for a cluster.
func rolesOf(t *testing.T, c *config.Cluster) *recorder.Recorder {
	t.Helper()
	r := withZone(account(c.Cloud.Account), "lab.test")
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	assert.Check(t, is.Len(r.Problems(), 0))
	return r
}

// TestEveryRoleHasItsPlace: in an account that allows no role without a boundary, one that
// is forgotten keeps the cluster from being made.
func TestEveryRoleHasItsPlace(t *testing.T) {
	everything, hub, spoke := everyAddon(t), load(t, "mgmt"), load(t, "spoke")
	everything.Services = append(everything.Services, config.Service{
		Name: "by-agent", Namespace: "flux-system", Identity: &config.Identity{
			ServiceAccount: "by-agent", Mode: config.PodIdentity, PolicyARNs: []string{"arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"},
		},
	})
	for what, c := range map[string]*config.Cluster{"everything": everything, "hub": hub, "spoke": spoke} {
		without := rolesOf(t, c)
		for _, role := range without.OfType("aws:iam/role:Role") {
			for _, property := range []string{"path", "permissionsBoundary"} {
				_, given := role.Value(property)
				assert.Check(t, !given, "%s: role %s of a file without cloud.roles has a %s", what, role.Name, property)
			}
		}
		c.Cloud.Roles = config.Roles{Path: "/tombolo/", PermissionsBoundary: ourBoundary}
		r := rolesOf(t, c)
		roles := r.OfType("aws:iam/role:Role")
		assert.Check(t, is.Len(roles, len(without.OfType("aws:iam/role:Role"))))
		for _, role := range roles {
			role.Expect(t, map[string]string{"path": "/tombolo/", "permissionsBoundary": ourBoundary})
		}
		for _, profile := range r.OfType("aws:iam/instanceProfile:InstanceProfile") {
			profile.Expect(t, map[string]string{"path": "/tombolo/"})
		}
		assert.Check(t, len(roles) >= map[string]int{"everything": 12, "hub": 4, "spoke": 4}[what], "%s has only %d roles", what, len(roles))
	}
}

// TestComposedARNsHaveThePath: an ARN that is composed of a role's name is that of the role
// that is made.
func TestComposedARNsHaveThePath(t *testing.T) {
	c := everyAddon(t)
	c.Cloud.Roles.Path = "/tombolo/"
	r := rolesOf(t, c)
	karpenter, ok := r.Named("aws:iam/rolePolicy:RolePolicy", "full-karpenter-role-policy")
	assert.Assert(t, ok)
	for _, want := range []string{":role/tombolo/full-karpenter-node", ":instance-profile/tombolo/full-karpenter-node"} {
		assert.Check(t, is.Contains(karpenter.String("policy"), want))
	}

	spoke, hub := load(t, "spoke"), load(t, "mgmt")
	assert.Equal(t, spoke.GitOps.ArgoCD.Credentials, config.CredentialsAWS)
	assert.Equal(t, hub.Cloud.RoleARN("aws", "x"), "arn:aws:iam::111122223333:role/x")
	hub.Cloud.Roles.Path = "/fleet/"
	assert.Equal(t, hub.Cloud.RoleARN("aws", "x"), "arn:aws:iam::111122223333:role/fleet/x")
	roles := rolesOf(t, spoke).OfType("aws:iam/role:Role")
	i := slices.IndexFunc(roles, func(role recorder.Resource) bool { return role.Name == "spoke-hub-role" })
	assert.Assert(t, i >= 0)
	assert.Check(t, is.Contains(roles[i].String("assumeRolePolicy"), "arn:aws:iam::111122223333:role/mgmt-argocd"))
}

// TestBothStacksAssumeTheRole: core by its provider, bootstrap by what gets its tokens.
func TestBothStacksAssumeTheRole(t *testing.T) {
	c := load(t, "full")
	c.Cloud.AssumeRole = &config.AssumeRole{RoleARN: "arn:aws:iam::111122223333:role/tombolo", ExternalID: "acme", SessionName: "tombolo-full"}
	r := account(c.Cloud.Account)
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	r.OfType("pulumi:providers:aws")[0].Expect(t, map[string]string{
		"assumeRole.roleArn": "arn:aws:iam::111122223333:role/tombolo", "assumeRole.externalId": "acme", "assumeRole.sessionName": "tombolo-full", "profile": "platform",
	})
	r, o := deployed(t)
	assert.NilError(t, run(t, r, c, stacks.Bootstrap, o, recorder.Preview))
	kubernetes := r.OfType("pulumi:providers:kubernetes")
	assert.Assert(t, is.Len(kubernetes, 1))
	words := strings.Join(strings.Fields(kubernetes[0].String("kubeconfig")), " ") // YAML folds lines
	assert.Check(t, is.Contains(words, "assume-role --profile platform"))
	assert.Check(t, is.Contains(words, "--external-id acme"))

	err := run(t, account("999988887777"), c, stacks.Core, Options{})
	assert.Check(t, is.ErrorContains(err, "the AWS credentials are of account 999988887777, but the cluster file allows 111122223333 only"))
}
