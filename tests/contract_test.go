package tests

import (
	"maps"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/published"
	"tombolo/components/cirole"
	"tombolo/components/identity"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/lab/aws/policy"
)

// TestContractKnowsWhatIsPublished holds the check of platform trees, which
// may not import the components, to what they publish.
func TestContractKnowsWhatIsPublished(t *testing.T) {
	keys := names.InfraKeyNames(names.AWSCloud)
	slices.Sort(keys)
	c, err := config.Load("../config/testdata/good/minimal.yaml")
	assert.NilError(t, err)
	p := published.To(c, c)
	assert.Check(t, is.DeepEqual(keys, slices.Sorted(maps.Keys(p.Variables))))
	for name, v := range p.Variables {
		assert.Check(t, v.Example != "", "%s has no example of a value", name)
	}
}

// TestPreviewsDecryptNothing: AWS's rules, as the lab judges by them, let the role that reads
// use the state's key for objects that S3 has encrypted, and for nothing else: Pulumi asks the
// key service itself, and so does whoever has a copy of the state.
func TestPreviewsDecryptNothing(t *testing.T) {
	for partition, region := range map[string]string{"aws": "eu-central-1", "aws-us-gov": "us-gov-west-1", "aws-cn": "cn-north-1"} {
		via := "s3." + region + ".amazonaws.com"
		state := cirole.State{
			BucketARN: "arn:" + partition + ":s3:::acme-state",
			KeyARN:    "arn:" + partition + ":kms:" + region + ":111122223333:key/1",
		}
		reading, err := identity.Document(cirole.Reading(state))
		assert.NilError(t, err)
		may := func(document, action, key string, through ...string) bool {
			context := map[string][]string{}
			if len(through) > 0 {
				context["kms:viaservice"] = through
			}
			return policy.Inquiry{Action: action, Resource: key, Context: context}.Judge(policy.Identity, document) == policy.Allowed
		}
		assert.Check(t, may(reading, "kms:Decrypt", state.KeyARN, via), "%s: the role cannot read a state that S3 has encrypted", partition)
		assert.Check(t, !may(reading, "kms:Decrypt", state.KeyARN), "%s: the role decrypts the secrets of a state", partition)
		for _, service := range []string{"secretsmanager", "ssm", "ec2", "s3.eu-west-1"} {
			assert.Check(t, !may(reading, "kms:Decrypt", state.KeyARN, service+"."+region+".amazonaws.com"), "%s: through %s", partition, service)
		}
		for _, action := range []string{"kms:CreateGrant", "kms:Encrypt", "kms:GenerateDataKey", "kms:PutKeyPolicy", "kms:ReEncryptFrom", "kms:ReplicateKey"} {
			assert.Check(t, !may(reading, action, state.KeyARN, via) && !may(reading, action, state.KeyARN), "%s: %s", partition, action)
		}
		applying, err := identity.Document(cirole.WritingState(state))
		assert.NilError(t, err)
		assert.Check(t, may(applying, "kms:Decrypt", state.KeyARN), "%s: the role that applies cannot read what it changes", partition)
	}
}
