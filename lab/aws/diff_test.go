package aws

import (
	"slices"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// changes are what a change of a property means for each type, as the AWS
// provider documents its arguments: those that "force a new resource", and
// others that core or a person changes.
var changes = map[string]struct{ replaces, updates string }{
	vpcType:            {"cidrBlock ipv4IpamPoolId ipv4NetmaskLength", "enableDnsHostnames enableDnsSupport tags"},
	subnetType:         {"availabilityZone availabilityZoneId cidrBlock outpostArn vpcId", "mapPublicIpOnLaunch tags"},
	gatewayType:        {"", "vpcId tags"},
	eipType:            {"address domain networkBorderGroup publicIpv4Pool", "instance tags"},
	natType:            {"allocationId connectivityType privateIp subnetId", "tags"},
	routeTableType:     {"vpcId", "routes tags"},
	routeType:          {"destinationCidrBlock destinationIpv6CidrBlock routeTableId", "gatewayId natGatewayId"},
	tableLinkType:      {"gatewayId subnetId", "routeTableId"},
	endpointType:       {"serviceName vpcEndpointType vpcId", "policy privateDnsEnabled routeTableIds securityGroupIds subnetIds tags"},
	securityGroupType:  {"description name namePrefix vpcId", "egress ingress tags"},
	defaultGroupType:   {"vpcId", "egress ingress tags"},
	groupRuleType:      {"cidrBlocks fromPort protocol securityGroupId self sourceSecurityGroupId toPort type", "description"},
	ingressRuleType:    {"securityGroupId", "cidrIpv4 description fromPort ipProtocol toPort tags"},
	egressRuleType:     {"securityGroupId", "cidrIpv4 description fromPort ipProtocol toPort tags"},
	launchTemplateType: {"name namePrefix", "blockDeviceMappings imageId instanceType metadataOptions tagSpecifications tags vpcSecurityGroupIds"},
	tagType:            {"key resourceId", "value"},

	roleType:            {"name namePrefix path", "assumeRolePolicy description maxSessionDuration permissionsBoundary tags"},
	rolePolicyType:      {"name namePrefix role", "policy"},
	policyType:          {"description name namePrefix path", "policy tags"},
	attachmentType:      {"policyArn role", ""},
	instanceProfileType: {"name namePrefix path", "role tags"},
	oidcProviderType:    {"url", "clientIdLists tags thumbprintLists"},

	clusterType: {
		"accessConfig.bootstrapClusterCreatorAdminPermissions bootstrapSelfManagedAddons encryptionConfig.provider.keyArn " +
			"kubernetesNetworkConfig.ipFamily kubernetesNetworkConfig.serviceIpv4Cidr name roleArn",
		"accessConfig.authenticationMode enabledClusterLogTypes tags upgradePolicy.supportType version vpcConfig.endpointPrivateAccess " +
			"vpcConfig.endpointPublicAccess vpcConfig.publicAccessCidrs vpcConfig.securityGroupIds vpcConfig.subnetIds",
	},
	nodeGroupType: {
		"amiType capacityType clusterName diskSize instanceTypes launchTemplate.id launchTemplate.name nodeGroupName " +
			"nodeGroupNamePrefix nodeRoleArn remoteAccess.ec2SshKey subnetIds",
		"labels launchTemplate.version releaseVersion scalingConfig.desiredSize scalingConfig.maxSize scalingConfig.minSize tags " +
			"taints updateConfig.maxUnavailable version",
	},
	addonType:        {"addonName clusterName", "addonVersion configurationValues resolveConflictsOnUpdate serviceAccountRoleArn tags"},
	accessEntryType:  {"clusterName principalArn type", "kubernetesGroups tags userName"},
	accessPolicyType: {"accessScope.namespaces accessScope.type clusterName policyArn principalArn", ""},
	podIdentityType:  {"clusterName namespace serviceAccount", "roleArn tags"},

	queueType: {
		"fifoQueue name namePrefix",
		"delaySeconds kmsMasterKeyId messageRetentionSeconds policy redrivePolicy sqsManagedSseEnabled tags visibilityTimeoutSeconds",
	},
	queuePolicyType: {"queueUrl", "policy"},
	eventRuleType:   {"eventBusName name namePrefix", "description eventPattern scheduleExpression state tags"},
	eventTargetType: {"eventBusName rule targetId", "arn input roleArn"},

	hostedZoneType: {"delegationSetId name", "comment forceDestroy tags vpcs"},
	dnsRecordType:  {"name zoneId", "aliases allowOverwrite records setIdentifier ttl type"},
	certificateType: {
		"certificateAuthorityArn domainName keyAlgorithm subjectAlternativeNames validationMethod validationOptions", "options tags",
	},
	validationType: {"certificateArn validationRecordFqdns", ""},

	fileSystemType: {
		"availabilityZoneName creationToken encrypted kmsKeyId performanceMode",
		"lifecyclePolicies protection provisionedThroughputInMibps tags throughputMode",
	},
	mountTargetType:      {"fileSystemId ipAddress subnetId", "securityGroups"},
	backupPolicyType:     {"fileSystemId", "backupPolicy.status"},
	fileSystemPolicyType: {"fileSystemId", "bypassPolicyLockoutSafetyCheck policy"},

	bucketType:           {"bucket bucketPrefix objectLockEnabled", "forceDestroy tags"},
	bucketAccessType:     {"bucket", "blockPublicAcls blockPublicPolicy ignorePublicAcls restrictPublicBuckets"},
	bucketEncryptionType: {"bucket expectedBucketOwner", "rules"},
	bucketOwnershipType:  {"bucket", "rule.objectOwnership"},
	bucketLifecycleType:  {"bucket expectedBucketOwner", "rules"},
	bucketVersioningType: {"bucket expectedBucketOwner", "mfa versioningConfiguration.status"},
	bucketPolicyType:     {"bucket", "policy"},

	loadBalancerType: {"internal loadBalancerType name namePrefix", "enableDeletionProtection idleTimeout securityGroups subnets tags"},
	targetGroupType:  {"name namePrefix port protocol targetType vpcId", "deregistrationDelay healthCheck.path tags"},
	listenerType:     {"loadBalancerArn", "certificateArn defaultActions port protocol sslPolicy tags"},
	volumeType:       {"availabilityZone encrypted kmsKeyId snapshotId", "iops size tags throughput type"},
	snapshotType:     {"description volumeId", "storageTier tags"},
	interfaceType:    {"interfaceType subnetId", "description securityGroups tags"},
	instanceType:     {"ami availabilityZone keyName privateIp subnetId", "disableApiTermination instanceType tags vpcSecurityGroupIds"},

	keyType:      {"customerMasterKeySpec keyUsage multiRegion", "deletionWindowInDays description enableKeyRotation policy tags"},
	aliasType:    {"name namePrefix", "targetKeyId"},
	logGroupType: {"logGroupClass name namePrefix", "kmsKeyId retentionInDays tags"},
}

// TestChanges holds every type's Diff to the table, and the table to every type
// and to properties that exist.
func TestChanges(t *testing.T) {
	a := newAccount(t)
	for token, typ := range a.cloud.types {
		want, ok := changes[token]
		if !ok {
			t.Errorf("the table does not tell what changes of %s mean", token)
		}
		for replaces, paths := range map[bool]string{true: want.replaces, false: want.updates} {
			for path := range strings.FieldsSeq(paths) {
				top, _, _ := strings.Cut(path, ".")
				if _, known := typ.schema.inputs.fields[top]; !known {
					t.Errorf("%s has no %s", token, top)
				}
				d := typ.diff(nil, at(path, "old"), at(path, "new"), nil)
				if d.Changes != pulumirpc.DiffResponse_DIFF_SOME || slices.Contains(d.Replaces, top) != replaces {
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
	encryption := w.cluster.in["encryptionConfig"]
	plain := w.clusterArgs(props{"name": "plain"})
	delete(plain, "encryptionConfig")
	cluster := w.make(clusterType, "plain", plain)
	if d := w.diff(cluster, props{"encryptionConfig": encryption}); d.Changes != pulumirpc.DiffResponse_DIFF_SOME || len(d.Replaces) > 0 {
		t.Errorf("turning it on: %v", d)
	}
	gone := w.make(keyType, "gone", props{})
	if err := w.delete(gone); err != nil {
		t.Fatal(err)
	}
	bad := props{"encryptionConfig": map[string]any{"provider": map[string]any{"keyArn": gone.out["arn"]}, "resources": []any{"secrets"}}}
	if err := w.update(cluster, bad); err == nil || !strings.Contains(err.Error(), "is pending deletion.") {
		t.Errorf("turning it on with a key that goes gives %v", err)
	}
	if err := w.update(cluster, props{"encryptionConfig": encryption}); err != nil || cluster.out.sub("encryptionConfig").sub("provider").str("keyArn") == "" {
		t.Errorf("turning it on gives %v, %v", err, cluster.out)
	}
	if d := w.diff(w.cluster, props{"encryptionConfig": nil}); !slices.Equal(d.Replaces, []string{"encryptionConfig"}) {
		t.Errorf("turning it off: %v", d)
	}
}
