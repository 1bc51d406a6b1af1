package aks

import (
	"encoding/base64"
	"errors"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"sigs.k8s.io/yaml"
)

// way is how the Kubernetes API is reached.
type way struct{ server, ca pulumi.StringOutput }

// wayIn asks AKS for the kubeconfig of a user, and takes server and certificate authority of
// it. Of a cluster with Entra it has no credentials, but a program that gets some; the answer
// is a secret all the same, and nothing else of it goes on.
func (b *builder) wayIn() way {
	args := containerservice.ListManagedClusterUserCredentialsOutputArgs{
		ResourceGroupName: pulumi.String(b.args.GroupName),
		// Of the id, so that a preview without a cluster does not ask.
		ResourceName: b.cluster.ID().ApplyT(func(pulumi.ID) string { return b.args.Name }).(pulumi.StringOutput),
	}
	if kind := b.args.API.fqdn(); kind != "" {
		args.ServerFqdn = pulumi.String(kind)
	}
	answer := containerservice.ListManagedClusterUserCredentialsOutput(b.ctx, args, b.parent)
	part := func(take func(endpoint) string) pulumi.StringOutput {
		found := pulumi.ToSecret(answer).ApplyT(func(v any) (string, error) {
			e, err := endpointOf(v.(containerservice.ListManagedClusterUserCredentialsResult).Kubeconfigs)
			return take(e), err
		})
		return pulumi.Unsecret(found).(pulumi.StringOutput)
	}
	return way{
		server: part(func(e endpoint) string { return e.Server }),
		ca:     part(func(e endpoint) string { return e.CA }),
	}
}

// fqdn is which name of the API is wanted: a private one without a zone has a public name only.
func (a API) fqdn() string {
	if a.Private && a.PrivateDNSZone == NoZone {
		return "public"
	}
	return ""
}

// endpoint is what is taken of a kubeconfig.
type endpoint struct {
	Server string `json:"server"`
	CA     string `json:"certificate-authority-data"`
}

var errNoEndpoint = errors.New("AKS answered with a kubeconfig without server or certificate authority; run up again")

// endpointOf reads the first kubeconfig of an answer. No error holds any of it.
func endpointOf(answer []containerservice.CredentialResultResponse) (endpoint, error) {
	if len(answer) == 0 {
		return endpoint{}, errNoEndpoint
	}
	text, err := base64.StdEncoding.DecodeString(answer[0].Value)
	if err != nil {
		return endpoint{}, errNoEndpoint
	}
	var config struct {
		Clusters []struct {
			Cluster endpoint `json:"cluster"`
		} `json:"clusters"`
	}
	if yaml.Unmarshal(text, &config) != nil || len(config.Clusters) == 0 {
		return endpoint{}, errNoEndpoint
	}
	found := config.Clusters[0].Cluster
	if found.Server == "" || found.CA == "" {
		return endpoint{}, errNoEndpoint
	}
	return found, nil
}
