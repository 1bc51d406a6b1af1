//go:build lab

package lab

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	clientauthv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	"tombolo/lab/azure/arm"
	"tombolo/lab/entra"
	"tombolo/lab/kubeconfig"
	"tombolo/lab/standin"
	"tombolo/tests/tier"
)

// kubelogin are the arguments of the exec plugin in a kubeconfig for AKS.
func kubelogin(tenant string) []string {
	return []string{"get-token", "--server-id", entra.ServerID, "--environment", "AzurePublicCloud", "--tenant-id", tenant}
}

// aksCluster brings up a control plane as AKS has one, in which the group of the lab's
// credentials is the only admin.
func aksCluster(t *testing.T, d *daemon) standin.ClusterInfo {
	t.Helper()
	info, err := d.clusters.Start(t.Context(), standin.ClusterSpec{
		Name: "aks", Version: "1.34", Region: AzureRegion, Tenant: AzureTenant, AdminGroups: []string{AzureAdmins},
		ID:     "/subscriptions/" + AzureSubscription + "/resourceGroups/aks/providers/Microsoft.ContainerService/managedClusters/aks",
		Issuer: "https://germanywestcentral.oic.prod-aks.azure.com/" + AzureTenant + "/1/",
	})
	assert.NilError(t, err)
	return info
}

// TestKubelogin: the real kubelogin gets a token from the lab's Entra by workload identity,
// and the API server of a cluster takes it.
func TestKubelogin(t *testing.T) {
	tier.Short(t, "the real kubelogin gets a token that a cluster's API takes")
	d := start(t, checkout(t, map[string]string{"settings.yaml": settingsOf("plain")}))
	info := aksCluster(t, d)
	assert.NilError(t, d.lab.writeKubelogin())
	env, err := d.lab.Env()
	assert.NilError(t, err)
	for name, value := range env {
		t.Setenv(name, value)
	}
	began := time.Now()
	var failed strings.Builder
	login := exec.CommandContext(t.Context(), "kubelogin", kubelogin(AzureTenant)...)
	login.Stderr = &failed
	out, err := login.Output()
	assert.NilError(t, err, failed.String())
	t.Logf("kubelogin took %v", time.Since(began))
	var given clientauthv1.ExecCredential
	assert.NilError(t, json.Unmarshal(out, &given))
	name, groups, err := d.authenticate("aks", given.Status.Token)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(name, arm.ClientObject))
	assert.Check(t, is.DeepEqual(groups, []string{AzureAdmins}))

	config := filepath.Join(t.TempDir(), "kubeconfig")
	user := &api.AuthInfo{Exec: &api.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "kubelogin", Args: kubelogin(AzureTenant), InteractiveMode: api.NeverExecInteractiveMode,
	}}
	assert.NilError(t, kubeconfig.Write(config, info.Endpoint, info.CA, user, "default"))
	k := kubectl{t, d.lab.paths().tools(), config}
	k.await(arm.ClientObject, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
	k.await("yes\n", "auth", "can-i", "*", "*", "--all-namespaces")

	other := exec.CommandContext(t.Context(), "kubelogin", kubelogin(AzureTenant)...)
	other.Env = append(os.Environ(), "AZURE_TENANT_ID=00000000-0000-4000-8000-00000000000b")
	said, err := other.CombinedOutput()
	assert.Check(t, err != nil && strings.Contains(string(said), "AADSTS90002"), string(said))
}

// TestTokensRefusedAtTheAPI: a token for something else, one that has expired and one of
// another tenant are nobody's, and a group without a binding may do nothing.
func TestTokensRefusedAtTheAPI(t *testing.T) {
	tier.Short(t, "tokens of others are nobody's at the API of a cluster in Azure")
	d := start(t, checkout(t, map[string]string{"settings.yaml": settingsOf("plain")}))
	info := aksCluster(t, d)
	const (
		otherTenant = "00000000-0000-4000-8000-00000000000b"
		otherGroup  = "00000000-0000-4000-8000-0000000000a2"
	)
	claims := map[string]any{
		"aud": entra.ServerID, "iss": entra.Issuer(AzureTenant), "tid": AzureTenant, "oid": arm.ClientObject,
		"groups": []string{AzureAdmins}, "exp": time.Now().Add(time.Hour).Unix(),
	}
	list := func(other map[string]any) string {
		changed := maps.Clone(claims)
		maps.Copy(changed, other)
		token, err := d.entra.Sign(changed)
		assert.NilError(t, err)
		ca := filepath.Join(t.TempDir(), "ca.crt")
		assert.NilError(t, os.WriteFile(ca, info.CA, 0o600))
		nobody := kubectl{t, d.lab.paths().tools(), os.DevNull}
		out, _ := nobody.command("", "--server", info.Endpoint, "--certificate-authority", ca, "--token", token, "get", "secrets", "-n", "kube-system")
		return out
	}
	assert.Check(t, is.Contains(list(nil), "No resources found"))
	const unauthorized = "Unauthorized"
	for name, c := range map[string]struct {
		claims map[string]any
		want   string
	}{
		"a wrong audience": {map[string]any{"aud": "https://management.azure.com"}, unauthorized},
		"an expired token": {map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}, unauthorized},
		"another tenant":   {map[string]any{"iss": entra.Issuer(otherTenant), "tid": otherTenant}, unauthorized},
		"a group without a binding": {
			map[string]any{"groups": []string{otherGroup}},
			`User "` + arm.ClientObject + `" cannot list resource "secrets" in API group "" in the namespace "kube-system"`,
		},
	} {
		assert.Check(t, is.Contains(list(c.claims), c.want), name)
	}
	classes, err := kubectlOf(t, d, "aks").command("", "get", "storageclasses", "-o", "jsonpath={.items[*].metadata.name}")
	assert.NilError(t, err)
	assert.Check(t, slices.Contains(strings.Fields(classes), "managed-csi"), classes)
}
