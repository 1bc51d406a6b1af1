package distribution

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const released = `# the release's comment
apiVersion: v1
kind: Service
metadata:
  name: source-controller
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: source-controller
spec:
  template:
    metadata:
      annotations: {prometheus.io/scrape: "true"}
    spec:
      initContainers:
        - name: copy
          image: redis:7.0.15
      containers:
        - name: manager
          image: ghcr.io/fluxcd/source-controller:v1.7.4 # pinned
          env:
            - name: RUNTIME_NAMESPACE
              valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
            - name: NO_PROXY
              value: by-hand
          volumeMounts: [{name: data, mountPath: /data}]
      volumes:
        - name: data
          emptyDir: {}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: init
spec:
  template:
    spec:
      containers:
        - name: init
          image: quay.io/argoproj/argocd:v3.2.1
`

func company() Egress {
	return Egress{
		Proxy: "http://proxy.corp.example:3128", NoProxy: []string{".svc", "10.0.0.0/16"},
		CertificateAuthority: "-----BEGIN CERTIFICATE-----\n", PullSecret: true,
		Mirrors: map[string]string{"ghcr.io": "mirror.corp.example/ghcr", "docker.io": "mirror.corp.example:8443"},
	}
}

// TestEgress: pods get what they need, in every place that starts programs.
func TestEgress(t *testing.T) {
	out, err := company().Change([]byte(released))
	assert.NilError(t, err)
	documents, err := documentsOf(out)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(documents, 3))
	var deployment struct {
		Spec struct {
			Template struct {
				Metadata struct{ Annotations map[string]string }
				Spec     struct {
					ImagePullSecrets           []map[string]string `yaml:"imagePullSecrets"`
					InitContainers, Containers []struct {
						Image        string
						Env          []map[string]any
						VolumeMounts []map[string]any `yaml:"volumeMounts"`
					}
					Volumes []map[string]any
				}
			}
		}
	}
	assert.NilError(t, documents[1].Decode(&deployment))
	template := deployment.Spec.Template
	assert.DeepEqual(t, template.Spec.ImagePullSecrets, []map[string]string{{"name": "image-pull"}})
	assert.Check(t, template.Metadata.Annotations["prometheus.io/scrape"] == "true" && len(template.Metadata.Annotations["tombolo/company-ca"]) == 16)
	assert.DeepEqual(t, template.Spec.Volumes[1], map[string]any{"name": "company-ca", "configMap": map[string]any{"name": "company-ca"}})
	manager := template.Spec.Containers[0]
	assert.Equal(t, manager.Image, "mirror.corp.example/ghcr/fluxcd/source-controller:v1.7.4")
	assert.DeepEqual(t, manager.VolumeMounts[1], map[string]any{"name": "company-ca", "mountPath": "/etc/company-ca", "readOnly": true})
	assert.DeepEqual(t, manager.Env[1:], []map[string]any{
		{"name": "NO_PROXY", "value": "by-hand"},
		{"name": "HTTP_PROXY", "value": "http://proxy.corp.example:3128"},
		{"name": "HTTPS_PROXY", "value": "http://proxy.corp.example:3128"},
		{"name": "SSL_CERT_DIR", "value": "/etc/company-ca"},
		{"name": "GIT_SSL_CAPATH", "value": "/etc/company-ca"},
	})
	assert.Check(t, strings.Contains(string(out), "# the release's comment"))
	assert.Check(t, strings.Contains(string(out), "mirror.corp.example:8443/library/redis:7.0.15"))
	assert.Check(t, strings.Contains(string(out), "value: .svc,10.0.0.0/16,source-controller\n"), "the engine's own Services are not reached directly")
	assert.Check(t, strings.Contains(string(out), "image: quay.io/argoproj/argocd:v3.2.1"), "an image without a mirror changed")
	again, err := company().Change([]byte(released))
	assert.NilError(t, err)
	assert.Equal(t, string(again), string(out))
}

// TestNoEgress: a manifest is left as it is, so that its digest stays.
func TestNoEgress(t *testing.T) {
	out, err := Egress{}.Change([]byte(released))
	assert.NilError(t, err)
	assert.Equal(t, string(out), released)
}

// TestEgressOfAnotherAuthority: an authority that changes changes the pods, which read it once.
func TestEgressOfAnotherAuthority(t *testing.T) {
	first, err := company().Change([]byte(released))
	assert.NilError(t, err)
	other := company()
	other.CertificateAuthority += "x"
	second, err := other.Change([]byte(released))
	assert.NilError(t, err)
	assert.Check(t, string(first) != string(second))
}

func TestImageAtMirror(t *testing.T) {
	e := Egress{Mirrors: map[string]string{"docker.io": "m.test/hub", "localhost:5000": "m.test", "registry.k8s.io": "m.test/k8s"}}
	for name, want := range map[string]string{
		"nginx":                          "m.test/hub/library/nginx",
		"nginx:1.29@sha256:abc":          "m.test/hub/library/nginx:1.29@sha256:abc",
		"grafana/loki:3":                 "m.test/hub/grafana/loki:3",
		"docker.io/grafana/loki":         "m.test/hub/grafana/loki",
		"docker.io/redis":                "m.test/hub/library/redis",
		"localhost:5000/a/b":             "m.test/a/b",
		"localhost/a":                    "localhost/a",
		"registry.k8s.io/pause:3.10":     "m.test/k8s/pause:3.10",
		"public.ecr.aws/docker/library/": "public.ecr.aws/docker/library/",
	} {
		assert.Check(t, is.Equal(e.image(name), want))
	}
}

// TestEgressRefusesNoManifest names the document that is not to be read.
func TestEgressRefusesNoManifest(t *testing.T) {
	_, err := company().Change([]byte("kind: Service\n---\n{"))
	assert.Check(t, is.ErrorContains(err, "document 2 of the distribution"))
}

// around are the documents before and after the one that is changed.
const around = `# builds what teams deliver
apiVersion: v1
kind: ConfigMap
metadata: {name: builder}
data: {note: "a builder   of images"} # as it is
---
BUILDER
--- # the last
apiVersion: apps/v1
kind: StatefulSet
metadata: {name:   builder}
`

const builder = `kind: Deployment
metadata:
  name: builder # ours
spec:
  template:
    spec:
      containers:
        - name: sidecar
        - name: main
          env:
            - name: LEVEL
              value: info`

func built() Environment {
	return Environment{Deployment: "builder", Containers: []string{"manager", "main"}, Variables: [][2]string{{"PATH", "/bin"}, {"LEVEL", "debug"}}}
}

// TestEnvironmentIsSet in the one container, and leaves what the manifest has, comments too.
func TestEnvironmentIsSet(t *testing.T) {
	got, err := built().Set([]byte(strings.Replace(around, "BUILDER", builder, 1)))
	assert.NilError(t, err)
	assert.Equal(t, string(got), strings.Replace(around, "BUILDER", builder+`
            - name: PATH
              value: /bin`, 1))
	again, err := built().Set(got)
	assert.NilError(t, err)
	assert.Equal(t, string(again), string(got))
	inOneLine, err := built().Set([]byte(`{"kind": "Deployment", "metadata": {"name": "builder"}, "spec": {"template": {"spec": {"containers": [{"name": "manager"}]}}}}`))
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(inOneLine), "PATH"))
}

func TestEnvironmentHasNoPlace(t *testing.T) {
	other := strings.ReplaceAll(strings.Replace(around, "BUILDER", builder, 1), "name: main", "name: other")
	_, err := built().Set([]byte(other))
	assert.Error(t, err, "deployment builder of the distribution has no container named manager or main, in which no team may start Git; take a manifest or a chart that names it so")
	for _, text := range []string{"", "kind: Deployment\nmetadata: {name: another}\n", strings.ReplaceAll(other, "kind: Deployment", "kind: DaemonSet"), "builder: ["} {
		got, err := built().Set([]byte(text))
		assert.NilError(t, err)
		assert.Equal(t, string(got), text)
	}
	got, err := Environment{}.Set([]byte(other))
	assert.NilError(t, err)
	assert.Equal(t, string(got), other)
}
