package aws

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	stssdk "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/sts"
)

// stsRefuses asserts the code and the message of an error of STS.
func stsRefuses(t *testing.T, err error, code, message string) {
	t.Helper()
	var refused smithy.APIError
	assert.Check(t, errors.As(err, &refused) && refused.ErrorCode() == code && strings.Contains(refused.ErrorMessage(), message), "got  %v\nwant %s: %s", err, code, message)
}

// TestArgoCDReachesSpoke goes the whole way of argocd-k8s-auth, in the order of
// that program, with AWS's own SDK.
func TestArgoCDReachesSpoke(t *testing.T) {
	f := newFleet(t)
	pod := f.pod(f.accountToken(nil))
	hub, err := stssdk.NewFromConfig(pod).GetCallerIdentity(t.Context(), nil)
	assert.NilError(t, err)
	if *hub.Arn != "arn:aws:sts::111122223333:assumed-role/demo-argocd/controller" || *hub.UserId != f.hubRole.Out.Str("uniqueId")+":controller" || *hub.Account != "111122223333" {
		t.Errorf("the pod is %s %s %s", *hub.Arn, *hub.UserId, *hub.Account)
	}
	spoke := f.assume(pod)
	made, err := spoke.Retrieve(t.Context())
	assert.NilError(t, err)
	left := time.Until(made.Expires)
	assert.Check(t, left <= 15*time.Minute && left >= 14*time.Minute, "the SDK asks for 15 minutes, and has %v", left)
	presigned, err := f.presign(spoke, map[string]string{authenticator.ClusterHeader: "spoke", "X-Amz-Expires": "60"})
	assert.NilError(t, err)
	user, groups, err := authenticator.Authenticate(f.Cloud, "spoke", tokenOf(presigned))
	session, _, _ := strings.Cut(user, "/aws-go-sdk-")
	assert.Check(t, err == nil && session == "arn:aws:sts::111122223333:assumed-role/spoke-argocd-spoke" && len(groups) == 1 && groups[0] == "tombolo:argocd", "got %s %v %v", user, groups, err)
}

func tokenOf(url string) string {
	return authenticator.TokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(url))
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
		assert.NilError(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != test.status || !strings.Contains(string(body), test.want) ||
			!strings.HasPrefix(string(body), `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>`) {
			t.Errorf("%s: %d %s, %v; want %d %s", test.url, resp.StatusCode, body, err, test.status, test.want)
		}
	}
	resp, err := f.client.Post("http://sts.amazonaws.com/", "application/x-www-form-urlencoded", http.NoBody)
	assert.NilError(t, err)
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
		if region, known := sts.Region(host); known != (want != "") || known && region != want {
			t.Errorf("%s: %s, %t", host, region, known)
		}
	}
	for _, host := range sts.Hosts() {
		_, known := sts.Region(host)
		assert.Check(t, known, "%s is not served", host)
	}
}
