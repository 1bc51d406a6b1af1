package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/iam"
)

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
