//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/sts"
	"tombolo/tests/tier"
)

// account makes resources as an engine would.
type account struct {
	t      *testing.T
	server pulumirpc.ResourceProviderServer
}

func accountOf(t *testing.T, d *daemon) account {
	t.Helper()
	a := account{t, d.accounts.home().Provider()}
	if _, err := a.server.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: a.wire(map[string]any{"region": Region})}); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a account) wire(in map[string]any) *structpb.Struct {
	a.t.Helper()
	s, err := structpb.NewStruct(in)
	assert.NilError(a.t, err)
	return s
}

// make returns the id and the outputs of a new resource.
func (a account) make(typ, name string, in map[string]any) (string, map[string]any) {
	a.t.Helper()
	urn := "urn:pulumi:test::tombolo::" + typ + "::" + name
	checked, err := a.server.Check(a.t.Context(), &pulumirpc.CheckRequest{Urn: urn, News: a.wire(in), RandomSeed: []byte(name)})
	if err != nil || len(checked.Failures) > 0 {
		a.t.Fatalf("check %s: %v, %v", urn, checked.GetFailures(), err)
	}
	made, err := a.server.Create(a.t.Context(), &pulumirpc.CreateRequest{Urn: urn, Properties: checked.Inputs})
	if err != nil {
		a.t.Fatalf("create %s: %v", urn, err)
	}
	return made.Id, made.Properties.AsMap()
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
	_, out := a.make("aws:iam/role:Role", name, map[string]any{"name": name, "assumeRolePolicy": trust})
	return out["arn"].(string)
}

// clusters makes EKS clusters in a network of their own, and returns the outputs
// of each.
func (a account) clusters(names ...string) []map[string]any {
	a.t.Helper()
	vpc, _ := a.make("aws:ec2/vpc:Vpc", "net", map[string]any{"cidrBlock": "10.0.0.0/16"})
	var subnets []any
	for i, zone := range []string{"a", "b"} {
		id, _ := a.make("aws:ec2/subnet:Subnet", zone, map[string]any{
			"vpcId": vpc, "cidrBlock": fmt.Sprintf("10.0.%d.0/24", i), "availabilityZone": Region + zone,
		})
		subnets = append(subnets, id)
	}
	role := a.role("clusters", allow("Service eks.amazonaws.com", "sts:AssumeRole", nil))
	a.make("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "clusters", map[string]any{
		"role": "clusters", "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy",
	})
	var made []map[string]any
	for _, name := range names {
		_, out := a.make("aws:eks/cluster:Cluster", name, map[string]any{
			"name": name, "roleArn": role, "version": "1.35", "vpcConfig": map[string]any{"subnetIds": subnets},
			"accessConfig": map[string]any{"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": true},
		})
		made = append(made, out)
	}
	return made
}

// argocdRole makes the role of a hub's application controller, which may assume
// the roles of spokes.
func (a account) argocdRole(hub map[string]any) string {
	a.t.Helper()
	identity := hub["identities"].([]any)[0].(map[string]any)["oidcs"].([]any)[0].(map[string]any)
	issuer := identity["issuer"].(string)
	provider, _ := a.make("aws:iam/openIdConnectProvider:OpenIdConnectProvider", "hub", map[string]any{
		"url": issuer, "clientIdLists": []any{"sts.amazonaws.com"},
	})
	host := strings.TrimPrefix(issuer, "https://")
	role := a.role("hub-argocd", allow("Federated "+provider, "sts:AssumeRoleWithWebIdentity", map[string]any{
		host + ":aud": "sts.amazonaws.com", host + ":sub": "system:serviceaccount:argocd:argocd-application-controller",
	}))
	a.make("aws:iam/rolePolicy:RolePolicy", "hub", map[string]any{
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
	made := a.clusters("hub", "spoke")
	hubRole := a.argocdRole(made[0])
	spokeRole := a.role("spoke-argocd-spoke", allow("AWS "+hubRole, "sts:AssumeRole", nil))
	a.make("aws:eks/accessEntry:AccessEntry", "spoke", map[string]any{
		"clusterName": "spoke", "principalArn": spokeRole, "kubernetesGroups": []any{"tombolo:argocd"},
	})
	hub, spoke := kubectlOf(t, d, "hub"), kubectlOf(t, d, "spoke")
	token, _, err := authenticator.GetToken(d.accounts.home(), sts.UserCredentials(d.accounts.home()), "spoke")
	assert.NilError(t, err)
	kubectl{t, d.lab.paths().tools(), os.DevNull}.await("arn:aws:iam::"+Account+":user/tombolo", "--server", made[1]["endpoint"].(string),
		"--insecure-skip-tls-verify", "--token", token, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
	spoke.run(groupOfArgoCD, "apply", "-f", "-")
	hub.run("", "create", "namespace", "argocd")
	hub.run(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"argocd-application-controller","namespace":"argocd","annotations":{"eks.amazonaws.com/role-arn":"`+hubRole+`"}}}`,
		"apply", "--server-side", "--field-manager=irsa", "-f", "-")
	hub.run("", "apply", "-n", "argocd", "--server-side", "-f", root+"/.tools/share/argocd-install.yaml")
	awaitServerKey(hub)
	config := fmt.Sprintf(`{"awsAuthConfig": {"clusterName": "spoke", "roleARN": %q}, "tlsClientConfig": {"caData": %q}}`,
		spokeRole, made[1]["certificateAuthority"].(map[string]any)["data"])
	hub.run(strings.NewReplacer(
		"GIT_TOKEN", gitToken(t, d), "SPOKE_ENDPOINT", made[1]["endpoint"].(string),
		`{"bearerToken": "SPOKE_TOKEN", "tlsClientConfig": {"caData": "SPOKE_CA"}}`, config,
	).Replace(argocdObjects), "apply", "--server-side", "-f", "-")
	spoke.await("plain", "get", "configmap", "settings", "-n", "default", "-o", "jsonpath={.data.vpc}")
	hub.await("Synced Healthy", "get", "application", "settings-spoke", "-n", "argocd", "-o", "jsonpath={.status.sync.status} {.status.health.status}")
}
