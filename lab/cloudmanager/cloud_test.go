package cloudmanager

import (
	"context"
	"crypto"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"tombolo/lab/aws"
	"tombolo/lab/standin"
)

// noPlanes has the stand-in's clusters without control planes.
type noPlanes struct{}

func (noPlanes) Start(_ context.Context, spec standin.ClusterSpec) (standin.ClusterInfo, error) {
	return standin.ClusterInfo{Endpoint: "https://127.0.0.1:1/" + spec.Name, CA: []byte("PEM")}, nil
}
func (noPlanes) Stop(context.Context, string) error                             { return nil }
func (noPlanes) SetNodes(context.Context, string, string, []standin.Node) error { return nil }
func (noPlanes) TokenKey(string) (crypto.PublicKey, error)                      { return nil, errors.New("no key") }

const (
	vpcType     = "aws:ec2/vpc:Vpc"
	gatewayType = "aws:ec2/internetGateway:InternetGateway"
)

// account is the stand-in with the cluster demo in it.
type account struct {
	t       *testing.T
	cloud   *standin.Cloud
	client  *standin.Client
	vpc     string
	subnets []any
}

func newAccount(t *testing.T) *account {
	t.Helper()
	cloud, err := aws.Open(t.TempDir(), standin.Options{Clusters: noPlanes{}})
	assert.NilError(t, err)
	t.Cleanup(cloud.Close)
	a := &account{t: t, cloud: cloud, client: cloud.Client("eu-central-1")}
	a.vpc = a.make(vpcType, map[string]any{"cidrBlock": "10.0.0.0/16"})
	a.make(gatewayType, map[string]any{"vpcId": a.vpc})
	for zone, block := range map[string]string{"a": "10.0.0.0/24", "b": "10.0.1.0/24"} {
		a.subnets = append(a.subnets, a.make(subnetType, map[string]any{
			"vpcId": a.vpc, "cidrBlock": block, "availabilityZone": "eu-central-1" + zone,
			"tags": map[string]any{"kubernetes.io/role/elb": "1"},
		}))
	}
	role := a.make("aws:iam/role:Role", map[string]any{
		"name":             "demo",
		"assumeRolePolicy": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":"sts:AssumeRole"}]}`,
	})
	arn := ""
	for _, r := range a.client.Find("aws:iam/role:Role", nil) {
		if r.ID == role {
			arn = r.Text("arn")
		}
	}
	a.make(clusterType, map[string]any{"name": "demo", "roleArn": arn, "vpcConfig": map[string]any{"subnetIds": a.subnets}})
	return a
}

func (a *account) make(token string, inputs map[string]any) string {
	a.t.Helper()
	made, err := a.client.Create(a.t.Context(), token, inputs)
	assert.NilError(a.t, err)
	return made.ID
}

// kinds are the types of what exists beside the network and the cluster.
func (a *account) kinds() string {
	var kinds []string
	for _, item := range a.cloud.Inventory() {
		name := item.Type[strings.LastIndex(item.Type, ":")+1:]
		if !slices.Contains([]string{"Vpc", "Subnet", "InternetGateway", "Cluster", "Role", "Zone"}, name) {
			kinds = append(kinds, name)
		}
	}
	return strings.Join(kinds, " ")
}

// watching is a watch of a cluster with these objects.
func (a *account) watching(objects ...runtime.Object) *watch {
	c := clients{client: fake.NewClientset(objects...), objects: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(
		runtime.NewScheme(), map[schema.GroupVersionResource]string{nodeClaims: "NodeClaimList", nodePools: "NodePoolList"},
	)}
	return newWatch(standin.ClusterSpec{Name: "demo"}, a.client, c, slog.New(slog.DiscardHandler))
}
