package aws

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/acm"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/efs"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/elb"
	"tombolo/lab/aws/events"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/kms"
	"tombolo/lab/aws/logs"
	"tombolo/lab/aws/route53"
	"tombolo/lab/aws/s3"
	"tombolo/lab/aws/sqs"
	"tombolo/lab/aws/ssm"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

// changes are what a change of a property means for each type, as the AWS
// provider documents its arguments: those that "force a new resource", and
// others that core or a person changes.
var changes = map[string]struct{ replaces, updates string }{
	ec2.VPCType:            {"cidrBlock ipv4IpamPoolId ipv4NetmaskLength", "enableDnsHostnames enableDnsSupport tags"},
	ec2.SubnetType:         {"availabilityZone availabilityZoneId cidrBlock outpostArn vpcId", "mapPublicIpOnLaunch tags"},
	ec2.GatewayType:        {"", "vpcId tags"},
	ec2.EIPType:            {"address domain networkBorderGroup publicIpv4Pool", "instance tags"},
	ec2.NatType:            {"allocationId connectivityType privateIp subnetId", "tags"},
	ec2.RouteTableType:     {"vpcId", "routes tags"},
	ec2.RouteType:          {"destinationCidrBlock destinationIpv6CidrBlock routeTableId", "gatewayId natGatewayId"},
	ec2.TableLinkType:      {"gatewayId subnetId", "routeTableId"},
	ec2.EndpointType:       {"serviceName vpcEndpointType vpcId", "policy privateDnsEnabled routeTableIds securityGroupIds subnetIds tags"},
	ec2.FlowLogType:        {"iamRoleArn logDestination logDestinationType trafficType vpcId", "tags"},
	ec2.SecurityGroupType:  {"description name namePrefix vpcId", "egress ingress tags"},
	ec2.DefaultGroupType:   {"vpcId", "egress ingress tags"},
	ec2.GroupRuleType:      {"cidrBlocks fromPort protocol securityGroupId self sourceSecurityGroupId toPort type", "description"},
	ec2.IngressRuleType:    {"securityGroupId", "cidrIpv4 description fromPort ipProtocol toPort tags"},
	ec2.EgressRuleType:     {"securityGroupId", "cidrIpv4 description fromPort ipProtocol toPort tags"},
	ec2.LaunchTemplateType: {"name namePrefix", "blockDeviceMappings imageId instanceType metadataOptions tagSpecifications tags vpcSecurityGroupIds"},
	ec2.TagType:            {"key resourceId", "value"},

	iam.RoleType:            {"name namePrefix path", "assumeRolePolicy description maxSessionDuration permissionsBoundary tags"},
	iam.RolePolicyType:      {"name namePrefix role", "policy"},
	iam.PolicyType:          {"description name namePrefix path", "policy tags"},
	iam.AttachmentType:      {"policyArn role", ""},
	iam.InstanceProfileType: {"name namePrefix path", "role tags"},
	iam.OIDCProviderType:    {"url", "clientIdLists tags thumbprintLists"},

	eks.ClusterType: {
		"accessConfig.bootstrapClusterCreatorAdminPermissions bootstrapSelfManagedAddons encryptionConfig.provider.keyArn " +
			"kubernetesNetworkConfig.ipFamily kubernetesNetworkConfig.serviceIpv4Cidr name roleArn",
		"accessConfig.authenticationMode enabledClusterLogTypes tags upgradePolicy.supportType version vpcConfig.endpointPrivateAccess " +
			"vpcConfig.endpointPublicAccess vpcConfig.publicAccessCidrs vpcConfig.securityGroupIds vpcConfig.subnetIds",
	},
	eks.NodeGroupType: {
		"amiType capacityType clusterName diskSize instanceTypes launchTemplate.id launchTemplate.name nodeGroupName " +
			"nodeGroupNamePrefix nodeRoleArn remoteAccess.ec2SshKey subnetIds",
		"labels launchTemplate.version releaseVersion scalingConfig.desiredSize scalingConfig.maxSize scalingConfig.minSize tags " +
			"taints updateConfig.maxUnavailable version",
	},
	eks.AddonType:            {"addonName clusterName", "addonVersion configurationValues resolveConflictsOnUpdate serviceAccountRoleArn tags"},
	eks.AccessEntryType:      {"clusterName principalArn type", "kubernetesGroups tags userName"},
	eks.AccessPolicyType:     {"accessScope.namespaces accessScope.type clusterName policyArn principalArn", ""},
	eks.PodIdentityType:      {"clusterName namespace serviceAccount", "roleArn tags"},
	eks.IdentityProviderType: {"clusterName oidc", "tags"},

	sqs.QueueType: {
		"name namePrefix",
		"delaySeconds messageRetentionSeconds sqsManagedSseEnabled tags visibilityTimeoutSeconds",
	},
	sqs.QueuePolicyType:    {"queueUrl", "policy"},
	ssm.ParameterType:      {"name", "description tags type value"},
	events.EventRuleType:   {"eventBusName name namePrefix", "description eventPattern scheduleExpression state tags"},
	events.EventTargetType: {"eventBusName rule targetId", "arn input roleArn"},

	route53.RecordType: {"name zoneId", "aliases allowOverwrite records ttl type"},
	acm.CertificateType: {
		"certificateAuthorityArn domainName keyAlgorithm subjectAlternativeNames validationMethod validationOptions", "options tags",
	},
	acm.ValidationType: {"certificateArn validationRecordFqdns", ""},

	efs.FileSystemType:   {"creationToken encrypted kmsKeyId", "lifecyclePolicies tags throughputMode"},
	efs.MountTargetType:  {"fileSystemId subnetId", "securityGroups"},
	efs.BackupPolicyType: {"fileSystemId", "backupPolicy.status"},

	s3.BucketType:           {"bucket bucketPrefix objectLockEnabled", "forceDestroy tags"},
	s3.BucketAccessType:     {"bucket", "blockPublicAcls blockPublicPolicy ignorePublicAcls restrictPublicBuckets"},
	s3.BucketEncryptionType: {"bucket", "rules"},
	s3.BucketOwnershipType:  {"bucket", "rule.objectOwnership"},
	s3.BucketLifecycleType:  {"bucket", "rules"},
	s3.BucketPolicyType:     {"bucket", "policy"},

	elb.LoadBalancerType: {"internal loadBalancerType name namePrefix", "enableDeletionProtection idleTimeout securityGroups subnets tags"},
	elb.TargetGroupType:  {"name namePrefix port protocol targetType vpcId", "deregistrationDelay healthCheck.path tags"},
	elb.ListenerType:     {"loadBalancerArn", "certificateArn defaultActions port protocol sslPolicy tags"},
	ec2.VolumeType:       {"availabilityZone encrypted kmsKeyId snapshotId", "iops size tags throughput type"},
	ec2.InstanceType:     {"ami availabilityZone keyName privateIp subnetId", "disableApiTermination instanceType tags vpcSecurityGroupIds"},

	kms.KeyType:       {"customerMasterKeySpec keyUsage multiRegion", "deletionWindowInDays description enableKeyRotation policy tags"},
	kms.AliasType:     {"name namePrefix", "targetKeyId"},
	logs.LogGroupType: {"logGroupClass name namePrefix", "kmsKeyId retentionInDays tags"},
}

// TestChanges holds every type's Diff to the table, and the table to every type
// and to properties that exist.
func TestChanges(t *testing.T) {
	a := newAccount(t)
	for token := range allTypes() {
		want, ok := changes[token]
		assert.Check(t, ok, "the table does not tell what changes of %s mean", token)
		for replaces, paths := range map[bool]string{true: want.replaces, false: want.updates} {
			for path := range strings.FieldsSeq(paths) {
				top, _, _ := strings.Cut(path, ".")
				assert.Check(t, a.Cloud.TypeOf(token).HasInput(top), "%s has no %s", token, top)
				d, err := a.Server.Diff(t.Context(), &pulumirpc.DiffRequest{
					Urn: standintest.URN(token, "it"), Olds: a.Wire(nil), OldInputs: a.Wire(at(path, "old")), News: a.Wire(at(path, "new")),
				})
				if err != nil || d.Changes != pulumirpc.DiffResponse_DIFF_SOME || slices.Contains(d.Replaces, top) != replaces {
					t.Errorf("%s: a change of %s replaces %v, want a replacement: %t", token, path, d.Replaces, replaces)
				}
			}
		}
	}
}

// at is a value at a path, in objects.
func at(path string, value any) props {
	first, rest, nested := strings.Cut(path, ".")
	if !nested {
		return props{first: value}
	}
	return props{first: map[string]any(at(rest, value))}
}

// TestEncryptionIsForGood: EKS turns encryption on for a cluster that exists,
// and never off again.
func TestEncryptionIsForGood(t *testing.T) {
	w := newWorld(t)
	encryption := w.cluster.In["encryptionConfig"]
	plain := w.clusterArgs(props{"name": "plain"})
	delete(plain, "encryptionConfig")
	cluster := w.Make(eks.ClusterType, "plain", plain)
	d := w.Diff(cluster, props{"encryptionConfig": encryption})
	assert.Check(t, d.Changes == pulumirpc.DiffResponse_DIFF_SOME && len(d.Replaces) == 0, "turning it on: %v", d)
	gone := w.Make(kms.KeyType, "gone", props{})
	assert.NilError(t, w.Delete(gone))
	bad := props{"encryptionConfig": map[string]any{"provider": map[string]any{"keyArn": gone.Out["arn"]}, "resources": []any{"secrets"}}}
	refuses(t, w.Update(cluster, bad), "is pending deletion.")
	err := w.Update(cluster, props{"encryptionConfig": encryption})
	assert.Check(t, err == nil && cluster.Out.Sub("encryptionConfig").Sub("provider").Str("keyArn") != "", "turning it on gives %v, %v", err, cluster.Out)
	d = w.Diff(w.cluster, props{"encryptionConfig": nil})
	assert.Check(t, slices.Equal(d.Replaces, []string{"encryptionConfig"}), "turning it off: %v", d)
}

// previewedCluster is the vpcConfig of a cluster to be made, and all outputs of
// the world's cluster after an update that has other inputs.
func (w *world) previewedCluster(change props) (created, updated props) {
	w.T.Helper()
	in := standin.Merged(w.cluster.In, change)
	made, err := w.Server.Create(w.T.Context(), &pulumirpc.CreateRequest{
		Urn: standintest.URN(eks.ClusterType, "another"), Properties: w.Wire(in), Preview: true,
	})
	assert.NilError(w.T, err)
	changed, err := w.Server.Update(w.T.Context(), &pulumirpc.UpdateRequest{
		Urn: standintest.URN(eks.ClusterType, "cluster"), Id: w.cluster.ID, Preview: true,
		Olds: w.Wire(w.cluster.Out), OldInputs: w.Wire(w.cluster.In), News: w.Wire(in),
	})
	assert.NilError(w.T, err)
	return w.Plain(made.Properties).Sub("vpcConfig"), w.Plain(changed.Properties)
}

// What AWS decides within an object that was asked for is unknown in the preview
// of a creation, and what it is in the preview of an update.
func TestPreviewOfWhatAWSDecidesWithinAnObject(t *testing.T) {
	w := newWorld(t)
	had := w.cluster.Out.Sub("vpcConfig")
	assert.Assert(t, had.Str("clusterSecurityGroupId") != "" && had.Str("vpcId") != "", "AWS has decided nothing: %v", had)
	created, updated := w.previewedCluster(props{"version": "1.35"})
	for _, key := range []string{"clusterSecurityGroupId", "vpcId"} {
		if created[key] != (standin.Unknown{}) {
			t.Errorf("%s of a cluster to be made is %v, want unknown", key, created[key])
		}
	}
	assert.Check(t, is.Equal(cmp.Diff(had, updated.Sub("vpcConfig")), ""))
	assert.Check(t, updated.Str("version") == "1.35" && updated.Str("endpoint") == w.cluster.Out.Str("endpoint"), "an upgrade makes %v", updated)
}

// An update says of an object what it is asked for, and no more of what is not
// asked for any longer.
func TestPreviewOfAnObjectThatChanges(t *testing.T) {
	w := newWorld(t)
	had := w.cluster.Out.Sub("vpcConfig")
	_, updated := w.previewedCluster(props{"vpcConfig": map[string]any{
		"subnetIds": []any{w.subnetA.ID, w.subnetB.ID}, "endpointPrivateAccess": true,
	}})
	now := updated.Sub("vpcConfig")
	assert.Check(t, now["endpointPrivateAccess"] == true && now.Str("clusterSecurityGroupId") == had.Str("clusterSecurityGroupId"), "vpcConfig becomes %v", now)
	if now.Has("securityGroupIds") {
		t.Errorf("the security groups are not asked for any longer, and vpcConfig has %v", now["securityGroupIds"])
	}
}
