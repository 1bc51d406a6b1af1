//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/sts"
	"tombolo/lab/standin"
	"tombolo/tests/tier"
)

// account makes resources as a controller would.
type account struct {
	*standin.Client
	t *testing.T
}

func accountOf(t *testing.T, d *daemon) account {
	t.Helper()
	return account{d.accounts.home().Client(Region), t}
}

func (a account) make(typ string, in map[string]any) standin.Resource {
	a.t.Helper()
	made, err := a.Create(a.t.Context(), typ, in)
	assert.NilError(a.t, err)
	return made
}

func allow(principal, action string, conditions map[string]any) string {
	kind, name, _ := strings.Cut(principal, " ")
	statement := map[string]any{"Effect": "Allow", "Principal": map[string]any{kind: name}, "Action": action}
	if conditions != nil {
		statement["Condition"] = map[string]any{"StringEquals": conditions}
	}
	document, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{statement}})
	if err != nil {
		panic(err)
	}
	return string(document)
}

func (a account) role(name, trust string) string {
	a.t.Helper()
	return a.make("aws:iam/role:Role", map[string]any{"name": name, "assumeRolePolicy": trust}).Text("arn")
}

// clusters makes EKS clusters in a network of their own, where load balancers may be.
func (a account) clusters(version string, names ...string) []standin.Resource {
	a.t.Helper()
	vpc := a.make("aws:ec2/vpc:Vpc", map[string]any{"cidrBlock": "10.0.0.0/16"}).ID
	a.make("aws:ec2/internetGateway:InternetGateway", map[string]any{"vpcId": vpc})
	var subnets []any
	for i, zone := range []string{"a", "b"} {
		subnets = append(subnets, a.make("aws:ec2/subnet:Subnet", map[string]any{
			"vpcId": vpc, "cidrBlock": fmt.Sprintf("10.0.%d.0/24", i), "availabilityZone": Region + zone,
			"tags": map[string]any{"kubernetes.io/role/elb": "1"},
		}).ID)
	}
	role := a.role("clusters", allow("Service eks.amazonaws.com", "sts:AssumeRole", nil))
	a.make("aws:iam/rolePolicyAttachment:RolePolicyAttachment", map[string]any{
		"role": "clusters", "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy",
	})
	var made []standin.Resource
	for _, name := range names {
		made = append(made, a.make("aws:eks/cluster:Cluster", map[string]any{
			"name": name, "roleArn": role, "version": version, "vpcConfig": map[string]any{"subnetIds": subnets},
			"accessConfig": map[string]any{"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": true},
		}))
	}
	return made
}

// argocdRole makes the role of a hub's application controller, which may assume
// the roles of spokes.
func (a account) argocdRole(hub standin.Resource) string {
	a.t.Helper()
	issuer := standin.Props(hub.Properties).At("identities", "oidcs", "issuer")[0]
	provider := a.make("aws:iam/openIdConnectProvider:OpenIdConnectProvider", map[string]any{
		"url": issuer, "clientIdLists": []any{"sts.amazonaws.com"},
	}).ID
	host := strings.TrimPrefix(issuer, "https://")
	role := a.role("hub-argocd", allow("Federated "+provider, "sts:AssumeRoleWithWebIdentity", map[string]any{
		host + ":aud": "sts.amazonaws.com", host + ":sub": "system:serviceaccount:argocd:argocd-application-controller",
	}))
	a.make("aws:iam/rolePolicy:RolePolicy", map[string]any{
		"role": "hub-argocd", "name": "spokes",
		"policy": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::` + Account + `:role/*-argocd-spoke"}]}`,
	})
	return role
}

const groupOfArgoCD = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: argocd}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "tombolo:argocd"}]
`

// TestArgoCDByRole has the real Argo CD reach another cluster without a secret:
// by the role of its service account, a role of the other cluster, and that
// cluster's access entry.
func TestArgoCDByRole(t *testing.T) {
	tier.Short(t, "the real Argo CD reaches another cluster by a role alone")
	root := checkout(t, argocdTree())
	d := start(t, root)
	a := accountOf(t, d)
	made := a.clusters("1.35", "hub", "spoke")
	hubRole := a.argocdRole(made[0])
	spokeRole := a.role("spoke-argocd-spoke", allow("AWS "+hubRole, "sts:AssumeRole", nil))
	a.make("aws:eks/accessEntry:AccessEntry", map[string]any{
		"clusterName": "spoke", "principalArn": spokeRole, "kubernetesGroups": []any{"tombolo:argocd"},
	})
	hub, spoke := kubectlOf(t, d, "hub"), kubectlOf(t, d, "spoke")
	token, _, err := authenticator.GetToken(d.accounts.home(), sts.UserCredentials(d.accounts.home()), "spoke")
	assert.NilError(t, err)
	kubectl{t, d.lab.paths().tools(), os.DevNull}.await("arn:aws:iam::"+Account+":user/tombolo", "--server", made[1].Text("endpoint"),
		"--insecure-skip-tls-verify", "--token", token, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
	spoke.run(groupOfArgoCD, "apply", "-f", "-")
	hub.run("", "create", "namespace", "argocd")
	hub.run(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"argocd-application-controller","namespace":"argocd","annotations":{"eks.amazonaws.com/role-arn":"`+hubRole+`"}}}`,
		"apply", "--server-side", "--field-manager=irsa", "-f", "-")
	hub.run("", "apply", "-n", "argocd", "--server-side", "-f", root+"/.tools/share/argocd-install.yaml")
	awaitServerKey(hub)
	config := fmt.Sprintf(`{"awsAuthConfig": {"clusterName": "spoke", "roleARN": %q}, "tlsClientConfig": {"caData": %q}}`,
		spokeRole, standin.Props(made[1].Properties).Sub("certificateAuthority").Str("data"))
	hub.run(strings.NewReplacer(
		"GIT_TOKEN", gitToken(t, d), "SPOKE_ENDPOINT", made[1].Text("endpoint"),
		`{"bearerToken": "SPOKE_TOKEN", "tlsClientConfig": {"caData": "SPOKE_CA"}}`, config,
	).Replace(argocdObjects), "apply", "--server-side", "-f", "-")
	spoke.await("plain", "get", "configmap", "settings", "-n", "default", "-o", "jsonpath={.data.vpc}")
	hub.await("Synced Healthy", "get", "application", "settings-spoke", "-n", "argocd", "-o", "jsonpath={.status.sync.status} {.status.health.status}")
}
