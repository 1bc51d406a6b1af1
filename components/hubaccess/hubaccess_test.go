package hubaccess

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/components/recorder"
)

func args() *HubAccessArgs {
	return &HubAccessArgs{
		RoleName: "demo-argocd-spoke", HubRoleARN: "arn:aws:iam::111122223333:role/mgmt-argocd",
		Group: "tombolo:argocd", ClusterName: pulumi.String("demo"),
	}
}

func TestHubAccess(t *testing.T) {
	r := &recorder.Recorder{}
	r.Sound(t, r.Run("demo-core", recorder.Probing("demo-hub", NewHubAccess, args(), func(access *HubAccess) pulumi.Map {
		return pulumi.Map{"arn": access.RoleARN}
	})))
	role := r.OfType("aws:iam/role:Role")[0]
	recorder.Golden(t, "trust.json", role.String("assumeRolePolicy"))
	role.Expect(t, map[string]string{"name": "demo-argocd-spoke"})
	r.OfType("aws:eks/accessEntry:AccessEntry")[0].Expect(t, map[string]string{
		"clusterName": "demo", "type": "STANDARD", "kubernetesGroups[0]": "tombolo:argocd", "kubernetesGroups[1]": "",
	})
	for _, res := range r.All() {
		assert.Check(t, !strings.Contains(res.Type, "olicy"), "%s %s: the role needs no rights in the cloud, and the group has its own on the cluster", res.Type, res.Name)
	}
	r.Probed().ExpectAfter(t, "arn", "demo-hub-access")
}

func TestHubAccessValidate(t *testing.T) {
	recorder.Refuses(t, "demo-hub", NewHubAccess, "hub access demo-hub: ", args, map[string]func(*HubAccessArgs){
		"has 65 characters; IAM allows 1 to 64":                            func(a *HubAccessArgs) { a.RoleName = strings.Repeat("x", 65) },
		"the hub's role, the group and the cluster's name are required":    func(a *HubAccessArgs) { a.HubRoleARN = "" },
		"hub access demo-hub: the hub's role, the group and the cluster's": func(a *HubAccessArgs) { a.ClusterName = nil },
	})
}
