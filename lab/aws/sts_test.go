package aws

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"
	"github.com/golang-jwt/jwt/v5"
)

// stsRefuses asserts the code and the message of an error of STS.
func stsRefuses(t *testing.T, err error, code, message string) {
	t.Helper()
	var refused smithy.APIError
	if !errors.As(err, &refused) || refused.ErrorCode() != code || !strings.Contains(refused.ErrorMessage(), message) {
		t.Errorf("got  %v\nwant %s: %s", err, code, message)
	}
}

// TestArgoCDReachesSpoke goes the whole way of argocd-k8s-auth, in the order of
// that program, with AWS's own SDK.
func TestArgoCDReachesSpoke(t *testing.T) {
	f := newFleet(t)
	pod := f.pod(f.accountToken(nil))
	hub, err := sts.NewFromConfig(pod).GetCallerIdentity(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if *hub.Arn != "arn:aws:sts::111122223333:assumed-role/demo-argocd/controller" || *hub.UserId != f.hubRole.out.str("uniqueId")+":controller" || *hub.Account != "111122223333" {
		t.Errorf("the pod is %s %s %s", *hub.Arn, *hub.UserId, *hub.Account)
	}
	spoke := f.assume(pod)
	made, err := spoke.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(made.Expires); left > 15*time.Minute || left < 14*time.Minute {
		t.Errorf("the SDK asks for 15 minutes, and has %v", left)
	}
	presigned, err := f.presign(spoke, map[string]string{clusterHeader: "spoke", "X-Amz-Expires": "60"})
	if err != nil {
		t.Fatal(err)
	}
	user, groups, err := f.cloud.Authenticate("spoke", tokenOf(presigned))
	session, _, _ := strings.Cut(user, "/aws-go-sdk-")
	if err != nil || session != "arn:aws:sts::111122223333:assumed-role/spoke-argocd-spoke" || len(groups) != 1 || groups[0] != "tombolo:argocd" {
		t.Errorf("got %s %v %v", user, groups, err)
	}
}

func tokenOf(url string) string {
	return tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(url))
}

func TestWebIdentityRefusals(t *testing.T) {
	f := newFleet(t)
	foreign, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	late := time.Now().Add(-time.Minute)
	forged, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.RegisteredClaims{
		Issuer: f.issuer, Subject: controllerAccount, Audience: jwt.ClaimStrings{"sts.amazonaws.com"}, ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour)),
	}).SignedString(foreign)
	if err != nil {
		t.Fatal(err)
	}
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.RegisteredClaims{Issuer: f.issuer}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ token, code, message string }{
		"other account": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.Subject = "system:serviceaccount:argocd:default" }),
			"AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity",
		},
		"audience": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.Audience = jwt.ClaimStrings{"https://kubernetes.default.svc"} }),
			"InvalidIdentityToken", "Incorrect token audience",
		},
		"expired": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(late) }),
			"ExpiredTokenException", "Token expired: current date/time ",
		},
		"for ever": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.ExpiresAt = nil }),
			"InvalidIdentityToken", "exp claim is required",
		},
		"issuer": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.Issuer = "https://oidc.test/id/1" }),
			"InvalidIdentityToken", "No OpenIDConnect provider found in your account for https://oidc.test/id/1",
		},
		"signature": {forged, "InvalidIdentityToken", "signature is invalid"},
		"unsigned":  {unsigned, "InvalidIdentityToken", "signing method none is invalid"},
		"no token":  {"x.y", "InvalidIdentityToken", "The ID Token provided is not a valid JWT."},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sts.NewFromConfig(f.pod(test.token)).GetCallerIdentity(t.Context(), nil)
			stsRefuses(t, err, test.code, test.message)
		})
	}
}

// TestWebIdentityNeeds takes away what the account needs for IRSA.
func TestWebIdentityNeeds(t *testing.T) {
	const denied = "Not authorized to perform sts:AssumeRoleWithWebIdentity"
	for name, test := range map[string]struct {
		without       func(t *testing.T, f *fleet) error
		code, message string
	}{
		"trust": {func(_ *testing.T, f *fleet) error {
			return f.update(f.hubRole, props{"assumeRolePolicy": clusterTrust})
		}, "AccessDenied", denied},
		"role":     {func(_ *testing.T, f *fleet) error { return errors.Join(f.delete(f.mayAssume), f.delete(f.hubRole)) }, "AccessDenied", denied},
		"provider": {func(_ *testing.T, f *fleet) error { return f.delete(f.provider) }, "InvalidIdentityToken", "No OpenIDConnect provider found in your account for https://"},
		"audience": {func(_ *testing.T, f *fleet) error {
			return f.update(f.provider, props{"clientIdLists": []any{"another"}})
		}, "InvalidIdentityToken", "Incorrect token audience"},
		"cluster": {func(t *testing.T, f *fleet) error { return f.fake.Stop(t.Context(), "demo") }, "InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			if err := test.without(t, f); err != nil {
				t.Fatal(err)
			}
			_, err := sts.NewFromConfig(f.pod(f.accountToken(nil))).GetCallerIdentity(t.Context(), nil)
			stsRefuses(t, err, test.code, test.message)
		})
	}
}

func TestAssumeRoleNeeds(t *testing.T) {
	const assume = "User: arn:aws:sts::111122223333:assumed-role/demo-argocd/test is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::111122223333:role/"
	const tag = "is not authorized to perform: sts:TagSession on resource: arn:aws:iam::111122223333:role/spoke-argocd-spoke"
	role := "spoke-argocd-spoke"
	tags := func(in *sts.AssumeRoleInput) {
		in.Tags = []types.Tag{{Key: awssdk.String("a"), Value: awssdk.String("b")}}
	}
	for name, test := range map[string]struct {
		change        func(f *fleet) error
		ask           func(in *sts.AssumeRoleInput)
		session       func(*temporary)
		code, message string
	}{
		"trust": {change: func(f *fleet) error {
			return f.update(f.spokeRole, props{"assumeRolePolicy": roleTrust(f.nodeRole.out.str("arn"), `"sts:AssumeRole"`)})
		}, code: "AccessDenied", message: assume + role},
		"permission": {change: func(f *fleet) error { return f.delete(f.mayAssume) }, code: "AccessDenied", message: assume + role},
		"permission for this role": {change: func(f *fleet) error {
			return f.update(f.mayAssume, props{"policy": policyOf(strings.ReplaceAll(maySpokes, "*-argocd", "other-argocd"))})
		}, code: "AccessDenied", message: assume + role},
		"denial": {change: func(f *fleet) error {
			_, err := f.try(rolePolicyType, "no", props{"role": "demo-argocd", "name": "no", "policy": policyOf(`{"Effect":"Deny","Action":"sts:AssumeRole","Resource":"*"}`)})
			return err
		}, code: "AccessDenied", message: assume + role},
		"external id": {change: func(f *fleet) error {
			return f.update(f.spokeRole, props{"assumeRolePolicy": strings.Replace(
				roleTrust(f.hubRole.out.str("arn"), `"sts:AssumeRole"`), `"Action"`, `"Condition":{"StringEquals":{"sts:ExternalId":"x"}},"Action"`, 1)})
		}, ask: func(in *sts.AssumeRoleInput) { in.ExternalId = awssdk.String("y") }, code: "AccessDenied", message: assume + role},
		"role": {
			ask: func(in *sts.AssumeRoleInput) {
				in.RoleArn = awssdk.String("arn:aws:iam::111122223333:role/x-argocd-spoke")
			},
			code: "AccessDenied", message: assume + "x-argocd-spoke",
		},
		"tags in the trust": {change: func(f *fleet) error {
			return f.update(f.spokeRole, props{"assumeRolePolicy": roleTrust(f.hubRole.out.str("arn"), `"sts:AssumeRole"`)})
		}, ask: tags, code: "AccessDenied", message: tag},
		"tags in the permission": {change: func(f *fleet) error {
			return f.update(f.mayAssume, props{"policy": policyOf(strings.ReplaceAll(maySpokes, `,"sts:TagSession"`, ""))})
		}, ask: tags, code: "AccessDenied", message: tag},
		"tags that go on": {change: func(f *fleet) error {
			return f.update(f.spokeRole, props{"assumeRolePolicy": roleTrust(f.hubRole.out.str("arn"), `"sts:AssumeRole"`)})
		}, session: func(t *temporary) {
			t.Tags, t.Transitive = map[string]string{"eks-cluster-name": "demo"}, []string{"eks-cluster-name"}
		}, code: "AccessDenied", message: tag},
		"own tags": {ask: tags, session: func(t *temporary) {
			t.Tags, t.Transitive = map[string]string{"a": "c"}, []string{"a"}
		}, code: "InvalidParameterValue", message: "conflicts with a transitive tag key"},
		"longer than a role's": {
			ask:  func(in *sts.AssumeRoleInput) { in.DurationSeconds = awssdk.Int32(3601) },
			code: "ValidationError", message: "The requested DurationSeconds exceeds the 1 hour session limit",
		},
		"shorter": {
			ask:  func(in *sts.AssumeRoleInput) { in.DurationSeconds = awssdk.Int32(899) },
			code: "ValidationError", message: "Member must have value greater than or equal to 900",
		},
		"name": {
			ask:  func(in *sts.AssumeRoleInput) { in.RoleSessionName = awssdk.String("a b") },
			code: "ValidationError", message: "Value 'a b' at 'roleSessionName'",
		},
		"arn": {
			ask:  func(in *sts.AssumeRoleInput) { in.RoleArn = awssdk.String("spoke-argocd-spoke-argocd") },
			code: "ValidationError", message: "spoke-argocd-spoke-argocd is invalid",
		},
		"policy": {
			ask:  func(in *sts.AssumeRoleInput) { in.Policy = awssdk.String(readBuckets) },
			code: "ValidationError", message: "the AWS stand-in does not know the parameter Policy",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			if test.change != nil {
				if err := test.change(f); err != nil {
					t.Fatal(err)
				}
			}
			in := &sts.AssumeRoleInput{RoleArn: awssdk.String(f.spokeRole.out.str("arn")), RoleSessionName: awssdk.String("x1")}
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
	if err := f.update(f.spokeRole, props{"assumeRolePolicy": trust}); err != nil {
		t.Fatal(err)
	}
	hub := f.session(f.hubRole, func(t *temporary) {
		t.Tags, t.Transitive = map[string]string{"eks-cluster-name": "demo"}, []string{"eks-cluster-name"}
	})
	made, err := f.as(hub).AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: awssdk.String(f.spokeRole.out.str("arn")), RoleSessionName: awssdk.String("x1"), ExternalId: awssdk.String("x"),
		Tags: []types.Tag{{Key: awssdk.String("team"), Value: awssdk.String("a")}}, DurationSeconds: awssdk.Int32(3600),
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := f.cloud.sessionOf(*made.Credentials.SessionToken)
	if err != nil || session.Tags["eks-cluster-name"] != "demo" || session.Tags["team"] != "a" || len(session.Transitive) != 1 {
		t.Errorf("the session is %+v, %v", session, err)
	}
	if *made.AssumedRoleUser.Arn != "arn:aws:sts::111122223333:assumed-role/spoke-argocd-spoke/x1" {
		t.Errorf("it is %s", *made.AssumedRoleUser.Arn)
	}
}

// TestManagedPermissions finds what a role may do in attached policies too.
func TestManagedPermissions(t *testing.T) {
	f := newFleet(t)
	in := &sts.AssumeRoleInput{RoleArn: awssdk.String(f.spokeRole.out.str("arn")), RoleSessionName: awssdk.String("x1")}
	hub := f.as(f.session(f.hubRole, nil))
	if err := f.delete(f.mayAssume); err != nil {
		t.Fatal(err)
	}
	policy := f.make(policyType, "spokes", props{"policy": policyOf(maySpokes)})
	attached := f.make(attachmentType, "spokes", props{"role": "demo-argocd", "policyArn": policy.id})
	if _, err := hub.AssumeRole(t.Context(), in); err != nil {
		t.Errorf("by a policy of the account: %v", err)
	}
	if err := f.delete(attached); err != nil {
		t.Fatal(err)
	}
	f.make(attachmentType, "admin", props{"role": "demo-argocd", "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"})
	if _, err := hub.AssumeRole(t.Context(), in); err != nil {
		t.Errorf("by a policy of AWS's: %v", err)
	}
	boundary := f.make(policyType, "boundary", props{"policy": readBuckets})
	if err := f.update(f.hubRole, props{"permissionsBoundary": boundary.id}); err != nil {
		t.Fatal(err)
	}
	_, err := hub.AssumeRole(t.Context(), in)
	stsRefuses(t, err, "AccessDenied", "is not authorized to perform: sts:AssumeRole")
}

func TestCallerRefusals(t *testing.T) {
	f := newFleet(t)
	gone := f.make(roleType, "gone", props{"name": "gone", "assumeRolePolicy": nodeTrust})
	made, err := f.session(f.hubRole, nil).Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := f.session(f.spokeRole, nil).Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	static := credentials.NewStaticCredentialsProvider
	anew := f.session(gone, nil)
	if err := f.delete(gone); err != nil {
		t.Fatal(err)
	}
	f.make(roleType, "gone", props{"name": "gone", "assumeRolePolicy": nodeTrust})
	for name, test := range map[string]struct {
		by            awssdk.CredentialsProvider
		code, message string
	}{
		"secret":                {static(made.AccessKeyID, "x", made.SessionToken), "SignatureDoesNotMatch", "The request signature we calculated does not match"},
		"key":                   {static("lab", "lab", ""), "InvalidClientTokenId", "The security token included in the request is invalid"},
		"token":                 {static(made.AccessKeyID, made.SecretAccessKey, ""), "InvalidClientTokenId", "The security token"},
		"another's token":       {static(made.AccessKeyID, made.SecretAccessKey, other.SessionToken), "InvalidClientTokenId", "The security token"},
		"forged token":          {static(made.AccessKeyID, made.SecretAccessKey, "A"+made.SessionToken[1:]), "InvalidClientTokenId", "The security token"},
		"expired":               {f.session(f.hubRole, func(t *temporary) { t.Expires = time.Now() }), "ExpiredToken", "The security token included in the request is expired"},
		"another role that was": {anew, "InvalidClientTokenId", "The security token"},
	} {
		_, err := f.as(test.by).GetCallerIdentity(t.Context(), nil)
		t.Run(name, func(t *testing.T) { stsRefuses(t, err, test.code, test.message) })
	}
	f.cloud.now = func() time.Time { return time.Now().Add(16 * time.Minute) }
	_, err = f.as(f.session(f.hubRole, nil)).GetCallerIdentity(t.Context(), nil)
	stsRefuses(t, err, "SignatureDoesNotMatch", "Signature expired: ")
	f.cloud.now = func() time.Time { return time.Now().Add(-16 * time.Minute) }
	_, err = f.as(f.session(f.hubRole, nil)).GetCallerIdentity(t.Context(), nil)
	stsRefuses(t, err, "SignatureDoesNotMatch", "Signature not yet current: ")
}

// TestSessionsOutliveTheLab uses credentials of before a restart.
func TestSessionsOutliveTheLab(t *testing.T) {
	f := newFleet(t)
	session := f.session(f.hubRole, nil)
	f.open(Options{})
	made, err := session.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.cloud.sessionOf(made.SessionToken); err != nil || again.AccessKeyID != made.AccessKeyID || again.Role != "demo-argocd" {
		t.Errorf("got %+v, %v", again, err)
	}
}

// TestUserMayAssume: the account's user is an administrator, and still needs a
// role's trust.
func TestUserMayAssume(t *testing.T) {
	f := newFleet(t)
	user := f.cloud.userCredentials()
	client := f.as(credentials.NewStaticCredentialsProvider(user.AccessKeyID, user.SecretAccessKey, ""))
	who, err := client.GetCallerIdentity(t.Context(), nil)
	if err != nil || *who.Arn != "arn:aws:iam::111122223333:user/tombolo" {
		t.Fatalf("%+v, %v", who, err)
	}
	in := &sts.AssumeRoleInput{RoleArn: awssdk.String(f.spokeRole.out.str("arn")), RoleSessionName: awssdk.String("x1")}
	_, err = client.AssumeRole(t.Context(), in)
	stsRefuses(t, err, "AccessDenied", "User: arn:aws:iam::111122223333:user/tombolo is not authorized to perform: sts:AssumeRole")
	if err := f.update(f.spokeRole, props{"assumeRolePolicy": roleTrust("arn:aws:iam::111122223333:root", `"sts:AssumeRole"`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AssumeRole(t.Context(), in); err != nil {
		t.Error(err)
	}
}

// TestSTSRequests are requests that no SDK makes.
func TestSTSRequests(t *testing.T) {
	f := newFleet(t)
	const version = "&Version=2011-06-15"
	for _, test := range []struct {
		url, want string
		status    int
	}{
		{"http://sts.eu-central-1.amazonaws.com/?Action=GetCallerIdentity" + version, "<Code>MissingAuthenticationToken</Code><Message>Request is missing Authentication Token</Message>", 403},
		{"http://sts.amazonaws.com/?Action=GetFederationToken" + version, "<Code>InvalidAction</Code><Message>Could not find operation GetFederationToken for version 2011-06-15</Message>", 400},
		{"http://sts.amazonaws.com/?Action=GetCallerIdentity", "<Code>InvalidAction</Code>", 400},
		{"http://sts.eu-central-1.amazonaws.com/x?Action=GetCallerIdentity" + version, "<Code>InvalidAddress</Code>", 404},
		{"http://sts.example.com/?Action=GetCallerIdentity" + version, "No STS is at sts.example.com/", 404},
		{"http://sts.amazonaws.com/?Action=GetCallerIdentity&X-Amz-Signature=x" + version, "<Code>IncompleteSignature</Code>", 400},
		{"http://sts.amazonaws.com/?Action=AssumeRoleWithWebIdentity&RoleSessionName=abc&RoleArn=arn:aws:iam::111122223333:role/x" + version, "Value null at &#39;webIdentityToken&#39;", 400},
	} {
		resp, err := f.client.Get(test.url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != test.status || !strings.Contains(string(body), test.want) ||
			!strings.HasPrefix(string(body), `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>`) {
			t.Errorf("%s: %d %s, %v; want %d %s", test.url, resp.StatusCode, body, err, test.status, test.want)
		}
	}
	resp, err := f.client.Post("http://sts.amazonaws.com/", "application/x-www-form-urlencoded", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 400 || resp.Header.Get("X-Amzn-Requestid") == "" {
		t.Errorf("an empty request gives %s %v", resp.Status, resp.Header)
	}
}

func TestSTSHosts(t *testing.T) {
	for host, want := range map[string]string{
		"sts.amazonaws.com": "us-east-1", "sts.eu-central-1.amazonaws.com:443": "eu-central-1", "sts.cn-north-1.amazonaws.com.cn": "cn-north-1",
		"sts.cn-north-1.amazonaws.com": "", "sts.mars-1.amazonaws.com": "", "iam.amazonaws.com": "", "eu-central-1.amazonaws.com": "",
	} {
		if region, known := stsRegion(host); known != (want != "") || known && region != want {
			t.Errorf("%s: %s, %t", host, region, known)
		}
	}
	for _, host := range STSHosts() {
		if _, known := stsRegion(host); !known {
			t.Errorf("%s is not served", host)
		}
	}
}
