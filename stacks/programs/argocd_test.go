package programs

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks"
)

const (
	kubeSecret     = "kubernetes:core/v1:Secret"
	kubeNamespace  = "kubernetes:core/v1:Namespace"
	spokeRole      = "arn:aws:iam::222233334444:role/spoke-argocd-spoke"
	hubRole        = "arn:aws:iam::111122223333:role/mgmt-argocd"
	bearerToken    = "t0ken-of-the-service-account"
	credentialText = `{"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential", "status": {"token": "k8s-aws-v1.x"}}`
)

// deployed is a world in which core of every cluster was deployed: its
// hand-off leads to an empty Kubernetes API.
func deployed(t *testing.T) (*recorder.Recorder, Options) {
	t.Helper()
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/secrets/") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write([]byte(`{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": []}`))
		assert.Check(t, err)
	}))
	t.Cleanup(api.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw})
	outputs := coreOutputs(&config.Cluster{})
	maps.Copy(outputs, map[string]any{
		"clusterId": "arn:aws:eks:eu-central-1:1:cluster/eks-name", "clusterArn": "arn:aws:eks:eu-central-1:1:cluster/eks-name",
		"clusterEndpoint": api.URL, "clusterCa": base64.StdEncoding.EncodeToString(ca), "addonOutputs": map[string]any{},
	})
	plugin := filepath.Join(t.TempDir(), "aws")
	assert.NilError(t, os.WriteFile(plugin, []byte("#!/bin/sh\necho '"+credentialText+"'\n"), 0o700))
	r := &recorder.Recorder{Outputs: map[string]resource.PropertyMap{
		"pulumi:pulumi:StackReference": {"outputs": resource.NewProperty(resource.NewPropertyMapFromMap(outputs))},
		kubeSecret: {"data": resource.NewProperty(resource.PropertyMap{
			"token": resource.NewProperty(base64.StdEncoding.EncodeToString([]byte(bearerToken))),
		})},
	}}
	return r, Options{Env: map[string]string{"PATH": filepath.Dir(plugin) + ":/bin:/usr/bin", tokenVariable: "hunter2"}}
}

// bootstrapped runs bootstrap for a cluster of the test data.
func bootstrapped(t *testing.T, name string) (*config.Cluster, *recorder.Recorder) {
	t.Helper()
	c := load(t, name)
	r, o := deployed(t)
	assert.NilError(t, run(t, r, c, stacks.Bootstrap, o))
	assert.Check(t, is.Len(r.Problems(), 0))
	return c, r
}

// registrationOf is the cluster's Secret, and what its data says.
func registrationOf(t *testing.T, r *recorder.Recorder, cluster string) (recorder.Resource, map[string]string) {
	t.Helper()
	secret, ok := r.Named(kubeSecret, cluster+"-secret")
	assert.Assert(t, ok, "%s is not registered", cluster)
	data, _ := secret.Value("data")
	assert.Assert(t, data.IsSecret(), "the data is no Pulumi secret")
	return secret, secret.SecretData(t)
}

// keys of a property that is a map.
func keysOf(res recorder.Resource, path string) []string {
	value, _ := res.Value(path)
	var keys []string
	for key := range value.ObjectValue() {
		keys = append(keys, string(key))
	}
	slices.Sort(keys)
	return keys
}

func TestHub(t *testing.T) {
	c, r := bootstrapped(t, "mgmt")
	_, data := registrationOf(t, r, "mgmt")
	for key, want := range map[string]string{
		"name": "mgmt", "server": "https://kubernetes.default.svc", "config": `{"tlsClientConfig":{"insecure":false}}`,
	} {
		assert.Check(t, data[key] == want, "%s is %q, expected %q", key, data[key], want)
	}
	// The Secret is made after its component and deleted before it.
	component, _ := r.Named("tombolo:registration:Registration", "mgmt")
	if root := "Application::mgmt-root"; !slices.ContainsFunc(component.DependsOn, func(urn string) bool { return strings.HasSuffix(urn, root) }) {
		t.Errorf("the registration does not wait for the engine, and would outlive it: %v", component.DependsOn)
	}
	for _, patch := range r.OfType("kubernetes:core/v1:ServiceAccountPatch") {
		patch.Expect(t, map[string]string{`metadata.annotations["eks.amazonaws.com/role-arn"]`: hubRole})
	}
	rights, _ := r.Named("kubernetes:core/v1:ConfigMapPatch", "mgmt-argocd-rbac-cm")
	rights.Expect(t, map[string]string{`data["policy.tombolo.csv"]`: "g, platform, role:admin\n"})
	infra, _ := r.Named("kubernetes:core/v1:ConfigMap", "mgmt-general")
	infra.Expect(t, map[string]string{"metadata.namespace": "argocd", "data.gitops_path": "clusters/dev"})
	assert.Check(t, is.Len(r.OfType("pulumi:providers:kubernetes"), 1))
	names := namesOf(r, kubeNamespace)
	assert.Check(t, slices.Equal(names, []string{"mgmt-argocd"}), "namespaces %v", names)
	assert.Assert(t, c.GitOps.Auth != nil, "the sample has no credentials to look for")
	sealed(t, r, "hunter2")
}

func namesOf(r *recorder.Recorder, token string) []string {
	var names []string
	for _, res := range r.OfType(token) {
		names = append(names, res.Name)
	}
	return names
}

// TestSpoke: the bridge. What core made is on the registration, which is on the
// hub, and nothing else of the spoke's is.
func TestSpoke(t *testing.T) {
	c, r := bootstrapped(t, "spoke")
	secret, data := registrationOf(t, r, "spoke")
	if want := `{"awsAuthConfig":{"clusterName":"eks-name","roleARN":"` + spokeRole + `"},"tlsClientConfig":{"insecure":false,"caData":"`; !strings.HasPrefix(data["config"], want) {
		t.Errorf("config is %s", data["config"])
	}
	assert.Check(t, !strings.Contains(data["config"], "oken") && strings.HasPrefix(data["server"], "https://127.0.0.1:"), "data is %v", data)
	labels := c.RegistrationLabels()
	labels["argocd.argoproj.io/secret-type"] = "cluster"
	for key, want := range labels {
		secret.Expect(t, map[string]string{`metadata.labels["` + key + `"]`: want})
	}
	assert.Check(t, is.DeepEqual(keysOf(secret, "metadata.labels"), slices.Sorted(maps.Keys(labels))))
	want := append(c.RegistrationAnnotationKeys(), "pulumi.com/patchForce")
	slices.Sort(want)
	assert.Check(t, is.DeepEqual(keysOf(secret, "metadata.annotations"), want))
	secret.Expect(t, map[string]string{
		"metadata.annotations.vpc_id": "vpc-1", "metadata.annotations.domain": "spoke.example.com",
		`metadata.annotations["tombolo/repository"]`: "https://git.example.com/platform.git", `metadata.annotations["tombolo/revision"]`: "main",
		"metadata.annotations.owner": "platform@example.com", "metadata.annotations.gitops_path": "clusters/dev",
	})
	for _, res := range r.All() {
		if onHub := strings.Contains(res.Provider, "::hub::"); strings.HasPrefix(res.Type, "kubernetes:") && onHub != (res.Name == secret.Name) {
			t.Errorf("%s %s is made by the provider %s", res.Type, res.Name, res.Provider)
		}
	}
	hub, _ := r.Named("pulumi:providers:kubernetes", "hub")
	hub.ExpectAfter(t, "kubeconfig", "organization/tombolo/mgmt-core")
	hub.Expect(t, map[string]string{"enableSecretMutable": "true", "enableServerSideApply": "true"})
	infra, _ := r.Named("kubernetes:core/v1:ConfigMap", "spoke-general")
	infra.Expect(t, map[string]string{"metadata.namespace": "tombolo"})
	assert.Check(t, is.Len(r.OfType("tombolo:argocd:Engine"), 0))
}

func TestSpokeValues(t *testing.T) {
	_, r := bootstrapped(t, "spoke")
	secret, _ := registrationOf(t, r, "spoke")
	var values struct {
		Cluster map[string]string         `json:"cluster"`
		Addons  map[string]map[string]any `json:"addons"`
	}
	assert.NilError(t, json.Unmarshal([]byte(secret.String(`metadata.annotations["tombolo/values"]`)), &values))
	infra, _ := r.Named("kubernetes:core/v1:ConfigMap", "spoke-general")
	if got, want := slices.Sorted(maps.Keys(values.Cluster)), keysOf(infra, "data"); !slices.Equal(got, want) || values.Cluster["vpc_id"] != "vpc-1" {
		t.Errorf("cluster has %v, expected the keys %v", values.Cluster, want)
	}
	if got := slices.Sorted(maps.Keys(values.Addons)); !slices.Equal(got, []string{"external-secrets", "metrics-server"}) {
		t.Errorf("addons %v", got)
	}
	assert.Check(t, values.Addons["metrics-server"] != nil && len(values.Addons["external-secrets"]) > 0,
		"addons have the values %v; expected {} for metrics-server, which has none", values.Addons)
}

// TestTokenIsSealed: the token of a service account is in no input that is not
// secret, in no encoding.
func TestTokenIsSealed(t *testing.T) {
	_, r := bootstrapped(t, "token")
	_, data := registrationOf(t, r, "token")
	assert.Check(t, is.Contains(data["config"], `"bearerToken":"`+bearerToken+`"`))
	sealed(t, r, bearerToken)
	if _, ok := r.Named(kubeSecret, "token-token-2"); !ok {
		t.Errorf("no token of the file's rotation among %v", namesOf(r, kubeSecret))
	}
}

// sealed looks for a secret among everything that state would hold in plain.
func sealed(t *testing.T, r *recorder.Recorder, secret string) {
	t.Helper()
	forms := []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))}
	var look func(where string, v resource.PropertyValue)
	look = func(where string, v resource.PropertyValue) {
		switch {
		case v.IsString():
			for _, form := range forms {
				assert.Check(t, !strings.Contains(v.StringValue(), form), "%s holds a secret in plain", where)
			}
		case v.IsArray():
			for _, e := range v.ArrayValue() {
				look(where, e)
			}
		case v.IsObject():
			for key, e := range v.ObjectValue() {
				look(where+"."+string(key), e)
			}
		case v.IsOutput():
			if !v.OutputValue().Secret {
				look(where, v.OutputValue().Element)
			}
		}
	}
	for _, res := range r.All() {
		look(res.Name, resource.NewProperty(res.Inputs))
	}
}

// TestSpokeIsSmall: a spoke's bootstrap is namespaces, ConfigMaps, the hub's
// rights and the registration.
func TestSpokeIsSmall(t *testing.T) {
	_, r := bootstrapped(t, "spoke")
	var objects []string
	for _, res := range r.All() {
		if res.Custom && strings.HasPrefix(res.Type, "kubernetes:") {
			objects = append(objects, res.Type+" "+res.Name)
		}
	}
	assert.Check(t, len(objects) >= 6 && len(objects) <= 10,
		"bootstrap has %d objects, allowed are 10:\n%s", len(objects), strings.Join(objects, "\n"))
}

func TestHubIsSmall(t *testing.T) {
	_, r := bootstrapped(t, "mgmt")
	var own []string
	for _, res := range r.All() {
		distribution := strings.Contains(res.Parent, "tombolo:argocd:Engine") && !strings.Contains(res.Type, "argoproj.io") && !strings.HasSuffix(res.Type, "Patch")
		if res.Custom && strings.HasPrefix(res.Type, "kubernetes:") && (!distribution || res.Name == "mgmt-auth") {
			own = append(own, res.Type+" "+res.Name)
		}
	}
	assert.Check(t, len(own) >= 8 && len(own) <= 12,
		"bootstrap has %d objects besides the distribution, allowed are 12:\n%s", len(own), strings.Join(own, "\n"))
}

func TestRolesBetweenHubAndSpoke(t *testing.T) {
	hub := account("111122223333")
	assert.NilError(t, run(t, hub, load(t, "mgmt"), stacks.Core, Options{}, recorder.Preview))
	if _, ok := hub.Named("aws:iam/rolePolicy:RolePolicy", "mgmt-argocd-policy"); !ok {
		t.Error("the hub's Argo CD may assume no role")
	}
	spoke := account("222233334444")
	assert.NilError(t, run(t, spoke, load(t, "spoke"), stacks.Core, Options{}, recorder.Preview))
	role, _ := spoke.Named("aws:iam/role:Role", "spoke-hub-role")
	assert.Check(t, is.Contains(role.String("assumeRolePolicy"), `"Principal":{"AWS":"`+hubRole+`"}`))
	entry, _ := spoke.Named("aws:eks/accessEntry:AccessEntry", "spoke-hub-access")
	entry.Expect(t, map[string]string{"kubernetesGroups[0]": "tombolo:argocd"})
	token := account("333344445555")
	assert.NilError(t, run(t, token, load(t, "token"), stacks.Core, Options{}, recorder.Preview))
	if _, ok := token.Named("aws:iam/role:Role", "token-hub-role"); ok {
		t.Error("a spoke with a service account has a role for the hub, too")
	}
}

func TestHubIsMissing(t *testing.T) {
	c := load(t, "spoke")
	c.File = filepath.Join("testdata", "elsewhere", "spoke.yaml")
	want := "load the hub of spoke: read cluster file testdata/elsewhere/spoke.yaml: file does not exist"
	_, err := Of(c, stacks.Bootstrap, Options{})
	assert.Check(t, is.ErrorContains(err, want))
	r, o := deployed(t)
	o.Hub = load(t, "mgmt")
	assert.Check(t, run(t, r, c, stacks.Bootstrap, o), "with the hub given")
}
