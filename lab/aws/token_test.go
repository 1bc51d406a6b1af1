package aws

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/sts"
)

func TestTokens(t *testing.T) {
	w := newWorld(t)
	token, expires, err := authenticator.GetToken(w.Cloud, sts.UserCredentials(w.Cloud), "demo")
	if left := time.Until(expires); err != nil || !strings.HasPrefix(token, "k8s-aws-v1.") || left > 14*time.Minute || left < 13*time.Minute {
		t.Fatal(token, expires, err)
	}
	user, groups, err := authenticator.Authenticate(w.Cloud, "demo", token)
	if err != nil || user != "arn:aws:iam::111122223333:user/tombolo" || !slices.Equal(groups, []string{"system:masters"}) {
		t.Errorf("got %s %v %v", user, groups, err)
	}
	w.Cloud.Now = func() time.Time { return expires.Add(time.Minute + time.Second) }
	const want = "authenticate with cluster demo: the token's request to STS is refused: SignatureDoesNotMatch: Signature expired: "
	_, _, err = authenticator.Authenticate(w.Cloud, "demo", token)
	assert.Check(t, err != nil && strings.HasPrefix(err.Error(), want), "an expired token gives %v", err)
	_, _, err = authenticator.GetToken(w.Cloud, sts.UserCredentials(w.Cloud), "")
	assert.Check(t, err != nil && err.Error() == "get a token: the cluster's name is missing", "no name gives %v", err)
}

func TestTokenRefusals(t *testing.T) {
	f := newFleet(t)
	spoke := f.session(f.spokeRole, nil)
	presigned := func(headers map[string]string) string {
		u, err := f.presign(spoke, headers)
		assert.NilError(t, err)
		return u
	}
	good := presigned(map[string]string{authenticator.ClusterHeader: "spoke", "X-Amz-Expires": "0"})
	if _, _, err := authenticator.Authenticate(f.Cloud, "spoke", tokenOf(good)); err != nil {
		t.Fatal(err)
	}
	tampered := good[:len(good)-1] + map[bool]string{true: "1", false: "0"}[strings.HasSuffix(good, "0")]
	stranger, err := f.presign(f.session(f.hubRole, nil), map[string]string{authenticator.ClusterHeader: "spoke", "X-Amz-Expires": "60"})
	assert.NilError(t, err)
	const mismatch = "the token's request to STS is refused: SignatureDoesNotMatch: The request signature we calculated"
	for name, test := range map[string]struct{ cluster, token, want string }{
		"cluster":       {"demo", tokenOf(good), mismatch},
		"no cluster":    {"nowhere", tokenOf(good), "No cluster found for name: nowhere"},
		"signature":     {"spoke", tokenOf(tampered), mismatch},
		"no entry":      {"spoke", tokenOf(stranger), "arn:aws:iam::111122223333:role/demo-argocd has no access entry"},
		"prefix":        {"spoke", base64.RawURLEncoding.EncodeToString([]byte(good)), "the token is not one of EKS's"},
		"encoding":      {"spoke", "k8s-aws-v1.%", "the token is not one of EKS's"},
		"length":        {"spoke", tokenOf(good + strings.Repeat("x", 4096)), "the token is not one of EKS's"},
		"no url":        {"spoke", tokenOf("://"), "the token holds no URL"},
		"host":          {"spoke", tokenOf(strings.Replace(good, "amazonaws.com", "amazonaws.example.com", 1)), "the token is a request to https://sts.eu-central-1.amazonaws.example.com/, not to STS"},
		"scheme":        {"spoke", tokenOf(strings.Replace(good, "https", "http", 1)), "the token is a request to http://sts.eu-central-1.amazonaws.com/, not to STS"},
		"region":        {"spoke", tokenOf(strings.Replace(good, "sts.eu-central-1", "sts.eu-west-1", 1)), "Credential should be scoped to service sts in a valid region."},
		"action":        {"spoke", tokenOf(strings.Replace(good, "GetCallerIdentity", "AssumeRole", 1)), `the token is a request for "AssumeRole", not for GetCallerIdentity`},
		"parameter":     {"spoke", tokenOf(good + "&x=y"), "the token's request has a parameter x that it must not have"},
		"twice":         {"spoke", tokenOf(good + "&Action=GetCallerIdentity"), "the token's request has a parameter Action that it must not have"},
		"no header":     {"spoke", tokenOf(presigned(map[string]string{"X-Amz-Expires": "60"})), "the token names no cluster: the header x-k8s-aws-id is not signed"},
		"no expiry":     {"spoke", tokenOf(presigned(map[string]string{authenticator.ClusterHeader: "spoke"})), "the token's signature: X-Amz-Expires is no number of seconds"},
		"late expiry":   {"spoke", tokenOf(presigned(map[string]string{authenticator.ClusterHeader: "spoke", "X-Amz-Expires": "901"})), "the token says that it is valid for 15m1s; EKS takes at most 15m0s"},
		"other headers": {"spoke", tokenOf(presigned(map[string]string{authenticator.ClusterHeader: "spoke", "X-Other": "x", "X-Amz-Expires": "60"})), mismatch},
	} {
		_, _, err := authenticator.Authenticate(f.Cloud, test.cluster, test.token)
		assert.Check(t, err != nil && strings.HasPrefix(err.Error(), "authenticate with cluster "+test.cluster+": ") && strings.Contains(err.Error(), test.want), "%s: got %v, want %s", name, err, test.want)
	}
}

// TestTokensFollowTheAccount: what is taken away is refused with tokens that
// were made before.
func TestTokensFollowTheAccount(t *testing.T) {
	for name, test := range map[string]struct {
		without func(f *fleet) error
		want    string
	}{
		"entry": {func(f *fleet) error { return f.Delete(f.entry) }, "arn:aws:iam::111122223333:role/spoke-argocd-spoke has no access entry"},
		"role":  {func(f *fleet) error { return f.Delete(f.spokeRole) }, "InvalidClientTokenId: The security token included in the request is invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			presigned, err := f.presign(f.session(f.spokeRole, nil), map[string]string{authenticator.ClusterHeader: "spoke", "X-Amz-Expires": "60"})
			assert.NilError(t, err)
			assert.NilError(t, test.without(f))
			_, _, err = authenticator.Authenticate(f.Cloud, "spoke", tokenOf(presigned))
			refuses(t, err, test.want)
		})
	}
}

// TestEntryIsOfOneRole: the access entry of a role that was deleted is not of the
// next role with its name.
func TestEntryIsOfOneRole(t *testing.T) {
	f := newFleet(t)
	assert.NilError(t, f.Delete(f.spokeRole))
	f.spokeRole = f.Make(iam.RoleType, "spoke", f.spokeRole.In)
	authenticate := func() error {
		presigned, err := f.presign(f.session(f.spokeRole, nil), map[string]string{authenticator.ClusterHeader: "spoke", "X-Amz-Expires": "60"})
		if err != nil {
			return err
		}
		_, _, err = authenticator.Authenticate(f.Cloud, "spoke", tokenOf(presigned))
		return err
	}
	refuses(t, authenticate(), "the access entry is of another arn:aws:iam::111122223333:role/spoke-argocd-spoke, which was deleted; delete the entry and make it again")
	assert.NilError(t, f.Delete(f.entry))
	f.Make(eks.AccessEntryType, "spoke", f.entry.In)
	assert.Check(t, authenticate())
}

// TestArgoCDsToken is the URL that argocd-k8s-auth makes: with AWS SDK for Go
// 1.55.7, which makes X-Amz-Expires=0 of the 60 that it is given.
func TestArgoCDsToken(t *testing.T) {
	u, err := url.Parse("https://sts.eu-central-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256" +
		"&X-Amz-Credential=ASIAEXAMPLE0000000000%2F20261121%2Feu-central-1%2Fsts%2Faws4_request&X-Amz-Date=20261121T163554Z&X-Amz-Expires=0" +
		"&X-Amz-Security-Token=a%2Ftoken%2Bof%3Dbase64&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=894a")
	assert.NilError(t, err)
	request, err := authenticator.TokenRequest("demo", tokenOf(u.String()))
	assert.Check(t, err == nil && request.Host == u.Host && request.Header.Get("x-k8s-aws-id") == "demo", "got %+v, %v", request, err)
}

func TestEntriesGiveGroups(t *testing.T) {
	f := newFleet(t)
	role := f.Make(iam.RoleType, "reader", props{"name": "reader", "path": "/team/", "assumeRolePolicy": nodeTrust})
	arn := role.Out.Str("arn")
	entry := f.Make(eks.AccessEntryType, "reader", props{"clusterName": "demo", "principalArn": arn, "kubernetesGroups": []any{"readers"}})
	f.Make(eks.AccessPolicyType, "reader", props{
		"clusterName": "demo", "principalArn": arn,
		"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", "accessScope": map[string]any{"type": "namespace", "namespaces": []any{"web"}},
	})
	presigned, err := f.presign(f.session(role, func(t *sts.Temporary) { t.Session = "ann@example.com" }), map[string]string{authenticator.ClusterHeader: "demo", "X-Amz-Expires": "60"})
	assert.NilError(t, err)
	user, groups, err := authenticator.Authenticate(f.Cloud, "demo", tokenOf(presigned))
	if err != nil || user != "arn:aws:sts::111122223333:assumed-role/reader/ann-example.com" || !slices.Equal(groups, []string{"eks:access-policy:AmazonEKSViewPolicy:web", "readers"}) {
		t.Errorf("got %s %v %v", user, groups, err)
	}
	assert.NilError(t, f.Update(entry, props{"userName": "{{AccountID}}:{{SessionNameRaw}}"}))
	user, _, err = authenticator.Authenticate(f.Cloud, "demo", tokenOf(presigned))
	assert.Check(t, err == nil && user == "111122223333:ann@example.com", "got %s, %v", user, err)
}
