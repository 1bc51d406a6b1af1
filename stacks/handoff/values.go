package handoff

import (
	"fmt"
	"reflect"
)

// Values is a hand-off with plain values, for programs that read a stack's
// outputs. Its fields are those of Handoff.
type Values struct {
	ClusterName            string            `output:"clusterName"`
	ClusterARN             string            `output:"clusterArn"`
	ClusterVersion         string            `output:"clusterVersion"`
	ClusterEndpoint        string            `output:"clusterEndpoint"`
	ClusterCA              string            `output:"clusterCa"`
	Region                 string            `output:"region"`
	AccountID              string            `output:"accountId"`
	Partition              string            `output:"partition"`
	OIDCIssuer             string            `output:"oidcIssuer"`
	OIDCProviderARN        string            `output:"oidcProviderArn"`
	VPCID                  string            `output:"vpcId"`
	VPCCIDR                string            `output:"vpcCidr"`
	PrivateSubnetIDs       []string          `output:"privateSubnetIds"`
	PublicSubnetIDs        []string          `output:"publicSubnetIds"`
	ClusterSecurityGroupID string            `output:"clusterSecurityGroupId"`
	NodeRoleARN            string            `output:"nodeRoleArn"`
	ServiceRoleARNs        map[string]string `output:"serviceRoleArns"`
	AddonOutputs           map[string]string `output:"addonOutputs"`
	ArgoCDRoleARN          string            `output:"argocdRoleArn"`
	RegistrationRoleARN    string            `output:"registrationRoleArn"`
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
	var problem error
	target := reflect.ValueOf(&values).Elem()
	each(&Handoff{}, func(key string, field reflect.Value) {
		decoded, err := decode(stack, key, outputs[key], field.Type())
		if err != nil {
			problem = err
			return
		}
		for i := range target.NumField() {
			if target.Type().Field(i).Tag.Get("output") == key {
				target.Field(i).Set(reflect.ValueOf(decoded))
			}
		}
	})
	if problem != nil {
		return Values{}, fmt.Errorf("read hand-off: %w", problem)
	}
	return values, nil
}

// Kubeconfig is a kubeconfig for the cluster. It holds no credentials: the AWS
// CLI makes a token of 15 minutes whenever one is needed.
func (v Values) Kubeconfig() ([]byte, error) {
	return Kubeconfig(v.ClusterName, v.Region, v.ClusterEndpoint, v.ClusterCA, "")
}
