package aws

import (
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/sts"
	"tombolo/lab/standin"
)

func TestCallerRefusals(t *testing.T) {
	f := newFleet(t)
	gone := f.Make(iam.RoleType, "gone", props{"name": "gone", "assumeRolePolicy": nodeTrust})
	made, err := f.session(f.hubRole, nil).Retrieve(t.Context())
	assert.NilError(t, err)
	other, err := f.session(f.spokeRole, nil).Retrieve(t.Context())
	assert.NilError(t, err)
	static := credentials.NewStaticCredentialsProvider
	anew := f.session(gone, nil)
	assert.NilError(t, f.Delete(gone))
	f.Make(iam.RoleType, "gone", props{"name": "gone", "assumeRolePolicy": nodeTrust})
	for name, test := range map[string]struct {
		by            awssdk.CredentialsProvider
		code, message string
	}{
		"secret":                {static(made.AccessKeyID, "x", made.SessionToken), "SignatureDoesNotMatch", "The request signature we calculated does not match"},
		"key":                   {static("lab", "lab", ""), "InvalidClientTokenId", "The security token included in the request is invalid"},
		"token":                 {static(made.AccessKeyID, made.SecretAccessKey, ""), "InvalidClientTokenId", "The security token"},
		"another's token":       {static(made.AccessKeyID, made.SecretAccessKey, other.SessionToken), "InvalidClientTokenId", "The security token"},
		"forged token":          {static(made.AccessKeyID, made.SecretAccessKey, forge(made.SessionToken)), "InvalidClientTokenId", "The security token"},
		"expired":               {f.session(f.hubRole, func(t *sts.Temporary) { t.Expires = time.Now() }), "ExpiredToken", "The security token included in the request is expired"},
		"another role that was": {anew, "InvalidClientTokenId", "The security token"},
	} {
		_, err := f.as(test.by).GetCallerIdentity(t.Context(), nil)
		t.Run(name, func(t *testing.T) { stsRefuses(t, err, test.code, test.message) })
	}
	f.Cloud.Now = func() time.Time { return time.Now().Add(16 * time.Minute) }
	_, err = f.as(f.session(f.hubRole, nil)).GetCallerIdentity(t.Context(), nil)
	stsRefuses(t, err, "SignatureDoesNotMatch", "Signature expired: ")
	f.Cloud.Now = func() time.Time { return time.Now().Add(-16 * time.Minute) }
	_, err = f.as(f.session(f.hubRole, nil)).GetCallerIdentity(t.Context(), nil)
	stsRefuses(t, err, "SignatureDoesNotMatch", "Signature not yet current: ")
}

// forge is the token with its first character changed.
func forge(token string) string {
	if token[0] == 'A' {
		return "B" + token[1:]
	}
	return "A" + token[1:]
}

// TestSessionsOutliveTheLab uses credentials of before a restart.
func TestSessionsOutliveTheLab(t *testing.T) {
	f := newFleet(t)
	session := f.session(f.hubRole, nil)
	f.Reopen(standin.Options{})
	made, err := session.Retrieve(t.Context())
	assert.NilError(t, err)
	again, err := sts.SessionOf(f.Cloud, made.SessionToken)
	assert.Check(t, err == nil && again.AccessKeyID == made.AccessKeyID && again.Role == "demo-argocd", "got %+v, %v", again, err)
}

// TestSessionContext: the role behind a session has its path, which the session does not
// tell.
func TestSessionContext(t *testing.T) {
	w := emptyWorld(t)
	const name = "AWSReservedSSO_ops_0123"
	role := w.Make(iam.RoleType, "ops", props{"name": name, "path": "/aws-reserved/sso.amazonaws.com/", "assumeRolePolicy": nodeTrust})
	of := func(arn string) string {
		found, err := w.Invoke("aws:iam/getSessionContext:getSessionContext", props{"arn": arn})
		assert.NilError(t, err)
		return found.Str("issuerArn")
	}
	assert.Check(t, is.Equal(of("arn:aws:sts::111122223333:assumed-role/"+name+"/someone@example.com"), role.Out.Str("arn")))
	assert.Check(t, is.Contains(role.Out.Str("arn"), ":role/aws-reserved/sso.amazonaws.com/"+name))
	const user = "arn:aws:iam::111122223333:user/someone"
	assert.Check(t, is.Equal(of(user), user))
	_, err := w.Invoke("aws:iam/getSessionContext:getSessionContext", props{"arn": "arn:aws:sts::111122223333:assumed-role/gone/x"})
	assert.ErrorContains(t, err, "unable to get role (gone): couldn't find resource")
}
