package registration

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

// access runs the component on a cluster that fills tokens' Secrets. token is
// what it puts out, hidden whether that is a secret.
func access(t *testing.T, args *AccessArgs) (r *recorder.Recorder, token any, hidden bool) {
	t.Helper()
	r = &recorder.Recorder{Outputs: map[string]resource.PropertyMap{secretType: {
		"data": resource.NewProperty(resource.PropertyMap{
			"token": resource.NewProperty(base64.StdEncoding.EncodeToString([]byte("t0ken"))),
		}),
	}}}
	err := r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		made, err := NewAccess(ctx, "demo", args)
		if err != nil || made.Token == nil {
			return err
		}
		result, err := internals.UnsafeAwaitOutput(ctx.Context(), made.Token.ToStringOutput())
		token, hidden = result.Value, result.Secret
		return err
	})
	assert.NilError(t, err)
	assert.Check(t, is.Len(r.Problems(), 0))
	return r, token, hidden
}

func TestRightsAreTheGroups(t *testing.T) {
	r, token, _ := access(t, &AccessArgs{})
	role := r.OfType("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole")[0]
	rules, err := json.Marshal(role.Inputs["rules"].Mappable())
	assert.NilError(t, err)
	recorder.Golden(t, "rules.json", string(rules))
	r.OfType("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")[0].Expect(t, map[string]string{
		"metadata.name": "tombolo:argocd", "roleRef.name": "tombolo:argocd",
		"subjects[0].kind": "Group", "subjects[0].name": "tombolo:argocd", "subjects[1]": "",
	})
	if n := len(r.OfType(secretType)) + len(r.OfType("kubernetes:core/v1:ServiceAccount")); n != 0 || token != nil {
		t.Errorf("%d objects of a service account, with the token %v; none was asked for", n, token)
	}
}

func TestServiceAccount(t *testing.T) {
	r, token, hidden := access(t, &AccessArgs{Namespace: "tombolo", Rotation: 3})
	assert.Check(t, token == "t0ken" && hidden, "the token is %v (secret: %t)", token, hidden)
	secret, ok := r.Named(secretType, "demo-token-3")
	assert.Assert(t, ok, "the resource of the token does not carry its number: another one would replace it before the hub has the new one")
	secret.Expect(t, map[string]string{
		"metadata.name": "argocd-manager-3", "metadata.namespace": "tombolo", "type": "kubernetes.io/service-account-token",
		`metadata.annotations["kubernetes.io/service-account.name"]`: "argocd-manager",
	})
	r.OfType("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")[0].Expect(t, map[string]string{
		"subjects[0].kind": "ServiceAccount", "subjects[0].name": "argocd-manager", "subjects[0].namespace": "tombolo", "subjects[1]": "",
	})
}

func TestAccessRefuses(t *testing.T) {
	for want, args := range map[string]*AccessArgs{
		"arguments are missing":                           nil,
		"rotation -1 is negative":                         {Rotation: -1},
		"a namespace for the service account is required": {Rotation: 1},
	} {
		_, err := recorder.Make("demo-bootstrap", "demo", NewAccess, args)
		assert.Check(t, is.ErrorContains(err, "access demo: "+want))
	}
}
