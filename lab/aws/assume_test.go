package aws

import (
	"errors"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	stssdk "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/sts"
)

func TestAssumeRoleNeeds(t *testing.T) {
	const assume = "User: arn:aws:sts::111122223333:assumed-role/demo-argocd/test is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::111122223333:role/"
	const tag = "is not authorized to perform: sts:TagSession on resource: arn:aws:iam::111122223333:role/spoke-argocd-spoke"
	role := "spoke-argocd-spoke"
	tags := func(in *stssdk.AssumeRoleInput) {
		in.Tags = []types.Tag{{Key: awssdk.String("a"), Value: awssdk.String("b")}}
	}
	for name, test := range map[string]struct {
		change        func(f *fleet) error
		ask           func(in *stssdk.AssumeRoleInput)
		session       func(*sts.Temporary)
		code, message string
	}{
		"trust": {change: func(f *fleet) error {
			return f.Update(f.spokeRole, props{"assumeRolePolicy": roleTrust(f.nodeRole.Out.Str("arn"), `"sts:AssumeRole"`)})
		}, code: "AccessDenied", message: assume + role},
		"permission": {change: func(f *fleet) error { return f.Delete(f.mayAssume) }, code: "AccessDenied", message: assume + role},
		"permission for this role": {change: func(f *fleet) error {
			return f.Update(f.mayAssume, props{"policy": policyOf(strings.ReplaceAll(maySpokes, "*-argocd", "other-argocd"))})
		}, code: "AccessDenied", message: assume + role},
		"denial": {change: func(f *fleet) error {
			_, err := f.Try(iam.RolePolicyType, "no", props{"role": "demo-argocd", "name": "no", "policy": policyOf(`{"Effect":"Deny","Action":"sts:AssumeRole","Resource":"*"}`)})
			return err
		}, code: "AccessDenied", message: assume + role},
		"external id": {change: func(f *fleet) error {
			return f.Update(f.spokeRole, props{"assumeRolePolicy": strings.Replace(
				roleTrust(f.hubRole.Out.Str("arn"), `"sts:AssumeRole"`), `"Action"`, `"Condition":{"StringEquals":{"sts:ExternalId":"x"}},"Action"`, 1)})
		}, ask: func(in *stssdk.AssumeRoleInput) { in.ExternalId = awssdk.String("y") }, code: "AccessDenied", message: assume + role},
		"role": {
			ask: func(in *stssdk.AssumeRoleInput) {
				in.RoleArn = awssdk.String("arn:aws:iam::111122223333:role/x-argocd-spoke")
			},
			code: "AccessDenied", message: assume + "x-argocd-spoke",
		},
		"tags in the trust": {change: func(f *fleet) error {
			return f.Update(f.spokeRole, props{"assumeRolePolicy": roleTrust(f.hubRole.Out.Str("arn"), `"sts:AssumeRole"`)})
		}, ask: tags, code: "AccessDenied", message: tag},
		"tags in the permission": {change: func(f *fleet) error {
			return f.Update(f.mayAssume, props{"policy": policyOf(strings.ReplaceAll(maySpokes, `,"sts:TagSession"`, ""))})
		}, ask: tags, code: "AccessDenied", message: tag},
		"tags that go on": {change: func(f *fleet) error {
			return f.Update(f.spokeRole, props{"assumeRolePolicy": roleTrust(f.hubRole.Out.Str("arn"), `"sts:AssumeRole"`)})
		}, session: func(t *sts.Temporary) {
			t.Tags, t.Transitive = map[string]string{"eks-cluster-name": "demo"}, []string{"eks-cluster-name"}
		}, code: "AccessDenied", message: tag},
		"own tags": {ask: tags, session: func(t *sts.Temporary) {
			t.Tags, t.Transitive = map[string]string{"a": "c"}, []string{"a"}
		}, code: "InvalidParameterValue", message: "conflicts with a transitive tag key"},
		"longer than a role's": {
			ask:  func(in *stssdk.AssumeRoleInput) { in.DurationSeconds = awssdk.Int32(3601) },
			code: "ValidationError", message: "The requested DurationSeconds exceeds the 1 hour session limit",
		},
		"shorter": {
			ask:  func(in *stssdk.AssumeRoleInput) { in.DurationSeconds = awssdk.Int32(899) },
			code: "ValidationError", message: "Member must have value greater than or equal to 900",
		},
		"name": {
			ask:  func(in *stssdk.AssumeRoleInput) { in.RoleSessionName = awssdk.String("a b") },
			code: "ValidationError", message: "Value 'a b' at 'roleSessionName'",
		},
		"arn": {
			ask:  func(in *stssdk.AssumeRoleInput) { in.RoleArn = awssdk.String("spoke-argocd-spoke-argocd") },
			code: "ValidationError", message: "spoke-argocd-spoke-argocd is invalid",
		},
		"policy": {
			ask:  func(in *stssdk.AssumeRoleInput) { in.Policy = awssdk.String(readBuckets) },
			code: "ValidationError", message: "the AWS stand-in does not know the parameter Policy",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			if test.change != nil {
				assert.NilError(t, test.change(f))
			}
			in := &stssdk.AssumeRoleInput{RoleArn: awssdk.String(f.spokeRole.Out.Str("arn")), RoleSessionName: awssdk.String("x1")}
			if test.ask != nil {
				test.ask(in)
			}
			_, err := f.as(f.session(f.hubRole, test.session)).AssumeRole(t.Context(), in)
			stsRefuses(t, err, test.code, test.message)
		})
	}
}

// TestAssumeRole is taken where more is asked for, and allowed.
func TestAssumeRole(t *testing.T) {
	f := newFleet(t)
	trust := strings.Replace(roleTrust("111122223333", `["sts:AssumeRole","sts:TagSession"]`), `"Action"`,
		`"Condition":{"StringEquals":{"sts:ExternalId":"x","aws:RequestTag/team":"a","aws:PrincipalTag/eks-cluster-name":"demo"},"ArnLike":{"aws:PrincipalArn":"arn:aws:iam::*:role/demo-*"}},"Action"`, 1)
	assert.NilError(t, f.Update(f.spokeRole, props{"assumeRolePolicy": trust}))
	hub := f.session(f.hubRole, func(t *sts.Temporary) {
		t.Tags, t.Transitive = map[string]string{"eks-cluster-name": "demo"}, []string{"eks-cluster-name"}
	})
	made, err := f.as(hub).AssumeRole(t.Context(), &stssdk.AssumeRoleInput{
		RoleArn: awssdk.String(f.spokeRole.Out.Str("arn")), RoleSessionName: awssdk.String("x1"), ExternalId: awssdk.String("x"),
		Tags: []types.Tag{{Key: awssdk.String("team"), Value: awssdk.String("a")}}, DurationSeconds: awssdk.Int32(3600),
	})
	assert.NilError(t, err)
	session, err := sts.SessionOf(f.Cloud, *made.Credentials.SessionToken)
	assert.Check(t, err == nil && session.Tags["eks-cluster-name"] == "demo" && session.Tags["team"] == "a" && len(session.Transitive) == 1, "the session is %+v, %v", session, err)
	if *made.AssumedRoleUser.Arn != "arn:aws:sts::111122223333:assumed-role/spoke-argocd-spoke/x1" {
		t.Errorf("it is %s", *made.AssumedRoleUser.Arn)
	}
}

// TestTrustIsInOneRole: a role made anew is not the one that is trusted, until the
// trust policy is written again.
func TestTrustIsInOneRole(t *testing.T) {
	f := newFleet(t)
	assume := func() error {
		_, err := f.as(f.session(f.hubRole, nil)).AssumeRole(t.Context(), &stssdk.AssumeRoleInput{
			RoleArn: awssdk.String(f.spokeRole.Out.Str("arn")), RoleSessionName: awssdk.String("x1"),
		})
		return err
	}
	trusted := f.spokeRole.In["assumeRolePolicy"]
	assert.NilError(t, errors.Join(assume(), f.Delete(f.mayAssume), f.Delete(f.hubRole)))
	gone := f.hubRole.Out.Str("uniqueId")
	f.hubRole = f.Make(iam.RoleType, "hub", f.hubRole.In)
	f.Make(iam.RolePolicyType, "hub", f.mayAssume.In)
	stsRefuses(t, assume(), "AccessDenied", "is not authorized to perform: sts:AssumeRole")
	if in, _ := f.read(f.spokeRole); !strings.Contains(in.Str("assumeRolePolicy"), `{"AWS":"`+gone+`"}`) {
		t.Errorf("the trust policy is %s", in.Str("assumeRolePolicy"))
	}
	refuses(t, f.Update(f.spokeRole, props{"assumeRolePolicy": roleTrust(gone, `"sts:AssumeRole"`)}), `MalformedPolicyDocument: Invalid principal in policy: "AWS":"`+gone+`"`)
	assert.Check(t, errors.Join(f.Update(f.spokeRole, props{"assumeRolePolicy": trusted}), assume()))
}

// TestManagedPermissions finds what a role may do in attached policies too.
func TestManagedPermissions(t *testing.T) {
	f := newFleet(t)
	in := &stssdk.AssumeRoleInput{RoleArn: awssdk.String(f.spokeRole.Out.Str("arn")), RoleSessionName: awssdk.String("x1")}
	hub := f.as(f.session(f.hubRole, nil))
	assert.NilError(t, f.Delete(f.mayAssume))
	policy := f.Make(iam.PolicyType, "spokes", props{"policy": policyOf(maySpokes)})
	attached := f.Make(iam.AttachmentType, "spokes", props{"role": "demo-argocd", "policyArn": policy.ID})
	_, err := hub.AssumeRole(t.Context(), in)
	assert.Check(t, err == nil, "by a policy of the account: %v", err)
	assert.NilError(t, f.Delete(attached))
	f.Make(iam.AttachmentType, "admin", props{"role": "demo-argocd", "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"})
	_, err = hub.AssumeRole(t.Context(), in)
	assert.Check(t, err == nil, "by a policy of AWS's: %v", err)
	boundary := f.Make(iam.PolicyType, "boundary", props{"policy": readBuckets})
	assert.NilError(t, f.Update(f.hubRole, props{"permissionsBoundary": boundary.ID}))
	_, err = hub.AssumeRole(t.Context(), in)
	stsRefuses(t, err, "AccessDenied", "is not authorized to perform: sts:AssumeRole")
}

// TestUserMayAssume: the account's user is an administrator, and still needs a
// role's trust.
func TestUserMayAssume(t *testing.T) {
	f := newFleet(t)
	user := sts.UserCredentials(f.Cloud)
	client := f.as(credentials.NewStaticCredentialsProvider(user.AccessKeyID, user.SecretAccessKey, ""))
	who, err := client.GetCallerIdentity(t.Context(), nil)
	assert.Assert(t, err == nil && *who.Arn == "arn:aws:iam::111122223333:user/tombolo", "%+v, %v", who, err)
	in := &stssdk.AssumeRoleInput{RoleArn: awssdk.String(f.spokeRole.Out.Str("arn")), RoleSessionName: awssdk.String("x1")}
	_, err = client.AssumeRole(t.Context(), in)
	stsRefuses(t, err, "AccessDenied", "User: arn:aws:iam::111122223333:user/tombolo is not authorized to perform: sts:AssumeRole")
	assert.NilError(t, f.Update(f.spokeRole, props{"assumeRolePolicy": roleTrust("arn:aws:iam::111122223333:root", `"sts:AssumeRole"`)}))
	if _, err := client.AssumeRole(t.Context(), in); err != nil {
		t.Error(err)
	}
}
