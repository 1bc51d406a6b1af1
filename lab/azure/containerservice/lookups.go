package containerservice

import (
	"encoding/base64"
	"fmt"
	"strings"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// Functions look up clusters and pools, and tell how a cluster is reached.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"azure-native:containerservice/v20240901:getManagedCluster": {
			SDK: containerservice.LookupManagedCluster, Run: arm.Lookup(cluster, withPools),
		},
		"azure-native:containerservice/v20240901:getAgentPool": {
			SDK: containerservice.LookupAgentPool, Run: arm.Lookup(pool, nil),
		},
		"azure-native:containerservice/v20240901:listManagedClusterUserCredentials": {
			SDK: containerservice.ListManagedClusterUserCredentials, Run: userCredentials,
		},
	}
}

// withPools tells of the pools that a cluster has by now.
func withPools(q *standin.Query, r *standin.Record, out standin.Props) {
	list := []any{}
	for p := range PoolsOf(q.Cloud, r.ID) {
		profile := p.Outputs.Clone()
		profile["type"] = "VirtualMachineScaleSets"
		list = append(list, map[string]any(profile))
	}
	out["agentPoolProfiles"] = list
}

// userCredentials is the kubeconfig as Azure gives it to a user of a cluster with Entra: it
// asks kubelogin for a token by a device code, and has no credential. Source:
// https://learn.microsoft.com/en-us/azure/aks/kubelogin-authentication
func userCredentials(q *standin.Query) (standin.Props, error) {
	r, err := arm.Read(q, cluster, arm.Filled(cluster.Path, arm.SubscriptionFor(q.Call), q.Args))
	if err != nil {
		return nil, err
	}
	if r.Control == nil {
		return nil, &arm.Error{Status: 409, Code: "OperationNotAllowed", Message: "Operation is not allowed: the managed cluster " + r.Outputs.Str("name") + " is not provisioned yet."}
	}
	text := base64.StdEncoding.EncodeToString([]byte(kubeconfig(r)))
	return standin.Props{"kubeconfigs": []any{map[string]any{"name": "clusterUser", "value": text}}}, nil
}

// The applications of AKS in every tenant, which kubelogin asks for. Source:
// https://azure.github.io/kubelogin/concepts/aks.html
const (
	serverApplication = "6dae42f8-4368-4678-94ff-3960e28e3630"
	clientApplication = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
)

func kubeconfig(r *standin.Record) string {
	name := r.Outputs.Str("name")
	user := fmt.Sprintf("clusterUser_%s_%s", armid.NameOf(armid.GroupOf(r.ID)), name)
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: %s\n    server: %s\n  name: %s\n",
		base64.StdEncoding.EncodeToString(r.Control.CA), r.Control.Endpoint, name)
	fmt.Fprintf(&b, "contexts:\n- context:\n    cluster: %[1]s\n    user: %[2]s\n  name: %[1]s\ncurrent-context: %[1]s\nkind: Config\npreferences: {}\nusers:\n- name: %[2]s\n", name, user)
	if !r.Outputs.Sub("aadProfile").Boolean("managed") {
		b.WriteString("  user: {}\n") // a certificate and a token, which the lab does not give out
		return b.String()
	}
	fmt.Fprintf(&b, "  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n      args:\n")
	for _, argument := range []string{
		"get-token", "--environment", "AzurePublicCloud", "--server-id", serverApplication, "--client-id", clientApplication, "--tenant-id", arm.Tenant, "--login", "devicecode",
	} {
		fmt.Fprintf(&b, "      - %s\n", argument)
	}
	b.WriteString("      command: kubelogin\n      env: null\n      provideClusterInfo: false\n")
	return b.String()
}
