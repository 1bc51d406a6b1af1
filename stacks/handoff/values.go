package handoff

import (
	"cmp"
	"fmt"
	"reflect"

	"tombolo/config"
	"tombolo/internal/armid"
)

// Values is a hand-off with plain values, for programs that read a stack's
// outputs. Its fields are those of Handoff.
type Values struct {
	Cloud           string
	ClusterName     string            `output:"clusterName"`
	ClusterID       string            `output:"clusterId"`
	Owner           string            `output:"owner"`
	ClusterVersion  string            `output:"clusterVersion"`
	ClusterEndpoint string            `output:"clusterEndpoint"`
	ClusterCA       string            `output:"clusterCa"`
	Region          string            `output:"region"`
	OIDCIssuer      string            `output:"oidcIssuer"`
	AddonOutputs    map[string]string `output:"addonOutputs"`

	AWS   AWSValues   `cloud:"aws"`
	Azure AzureValues `cloud:"azure"`

	// By says with which credentials the cluster is reached. It is the reader's cluster
	// file's, and no part of the hand-off; the zero value is the environment's.
	By config.Cloud
}

// AWSValues is the part of a cluster on AWS.
type AWSValues struct {
	ClusterARN             string            `output:"clusterArn"`
	AccountID              string            `output:"accountId"`
	Partition              string            `output:"partition"`
	OIDCProviderARN        string            `output:"oidcProviderArn"`
	VPCID                  string            `output:"vpcId"`
	VPCCIDR                string            `output:"vpcCidr"`
	PrivateSubnetIDs       []string          `output:"privateSubnetIds"`
	PublicSubnetIDs        []string          `output:"publicSubnetIds"`
	ClusterSecurityGroupID string            `output:"clusterSecurityGroupId"`
	NodeRoleARN            string            `output:"nodeRoleArn"`
	ServiceRoleARNs        map[string]string `output:"serviceRoleArns"`
	ArgoCDRoleARN          string            `output:"argocdRoleArn"`
	RegistrationRoleARN    string            `output:"registrationRoleArn"`
}

// AzureValues is the part of a cluster on Azure.
type AzureValues struct {
	SubscriptionID    string            `output:"subscriptionId"`
	TenantID          string            `output:"tenantId"`
	ResourceGroup     string            `output:"resourceGroup"`
	NodeResourceGroup string            `output:"nodeResourceGroup"`
	VNetID            string            `output:"vnetId"`
	VNetCIDR          string            `output:"vnetCidr"`
	NodeSubnetID      string            `output:"nodeSubnetId"`
	KubeletClientID   string            `output:"kubeletClientId"`
	GitClientID       string            `output:"gitClientId"`
	ServiceClientIDs  map[string]string `output:"serviceClientIds"`
}

// FromOutputs reads a core stack's outputs, as JSON decodes them. It fails when
// the stack has no hand-off, one of another version, or one with a field
// missing or of another type.
func FromOutputs(outputs map[string]any) (Values, error) {
	const stack = "core"
	version := outputs[versionKey]
	if i, ok := version.(int); ok {
		version = float64(i)
	}
	if err := checkVersion(stack, version); err != nil {
		return Values{}, err
	}
	var values Values
	values.Cloud, _ = outputs[cloudKey].(string)
	targets := map[string]reflect.Value{}
	eachOf(reflect.ValueOf(&values).Elem(), values.Cloud, func(key string, field reflect.Value) { targets[key] = field })
	var problem error
	each(&Handoff{Cloud: values.Cloud}, func(key string, field reflect.Value) {
		decoded, err := decode(stack, key, outputs[key], field.Type())
		if err != nil {
			problem = err
			return
		}
		targets[key].Set(reflect.ValueOf(decoded))
	})
	if problem != nil {
		return Values{}, fmt.Errorf("read hand-off: %w", problem)
	}
	return values, nil
}

// Kubeconfig is a kubeconfig for the cluster. It holds no credentials: a program
// makes a token whenever one is needed.
func (v Values) Kubeconfig() ([]byte, error) {
	by := v.By
	by.Tenant = cmp.Or(by.Tenant, v.Azure.TenantID)
	return Kubeconfig(v.Cloud, v.ClusterName, v.Region, v.ClusterEndpoint, v.ClusterCA, by)
}

// Network is what a cluster's network is for people and for checks.
type Network struct {
	// Key of the infra ConfigMap that has the network's id, and that ID: no other
	// cluster's ConfigMap has the same.
	Key, ID string
	// Text describes it.
	Text string
}

// Network of the cluster, as its cloud has networks.
func (v Values) Network() Network {
	network, ok := map[string]func(Values) Network{string(config.AWS): awsNetwork, string(config.Azure): azureNetwork}[v.Cloud]
	if !ok {
		return Network{}
	}
	return network(v)
}

func awsNetwork(v Values) Network {
	return Network{Key: "vpc_id", ID: v.AWS.VPCID, Text: fmt.Sprintf("%s (%s), %d private and %d public subnets",
		v.AWS.VPCID, v.AWS.VPCCIDR, len(v.AWS.PrivateSubnetIDs), len(v.AWS.PublicSubnetIDs))}
}

func azureNetwork(v Values) Network {
	text := v.Azure.VNetID
	if subnet, err := armid.ParseSubnet(v.Azure.NodeSubnetID); err == nil {
		text = fmt.Sprintf("%s (%s) in resource group %s, subnet %s", subnet.Network, v.Azure.VNetCIDR, subnet.Group, subnet.Subnet)
	}
	return Network{Key: "network_id", ID: v.Azure.VNetID, Text: text}
}
