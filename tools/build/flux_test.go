package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
)

// TestALayoutThatHasChanged: a release that has no longer what is cut is not compiled whole.
func TestALayoutThatHasChanged(t *testing.T) {
	upstream := module{Path: "example.com/tool", Version: "v1.2.3", Dir: t.TempDir()}
	files.Write(t, filepath.Join(upstream.Dir, "main.go"), "import \"example.com/sdk\"\n")
	for want, c := range map[string]cut{
		"":                            {edits: []edit{lines("main.go", `"example\.com/sdk"`, 1)}},
		"1 times, not 2":              {edits: []edit{lines("main.go", `.`, 2)}},
		"v1.2.3 has no file ^sdk":     {without: regexp.MustCompile(`^sdk`)},
		"main.go of example.com/tool": {edits: []edit{block("main.go", "func", "}", "")}},
	} {
		err := c.change().copyTo(upstream, t.TempDir())
		if want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "its layout has changed")
	}
}

// kubernetesModules are stand-ins for what the group kubernetes is built from, with what is cut
// of each. Only the
// main packages are compiled.
func kubernetesModules() map[string]tree {
	const (
		flux     = "github.com/fluxcd/"
		source   = "\t\"github.com/fluxcd/source-controller/internal/"
		verifier = "\tCosignVerifierFactory *scosign.CosignVerifierFactory\n"
		signs    = source + "oci/cosign\"\n" + source + "oci/notation\"\n\t\"github.com/sigstore/cosign\"\n\t\"github.com/notaryproject/notation-go\"\n\t\"encoding/json\"\n"
	)
	return map[string]tree{
		"k8s.io/kubernetes": {
			"pkg/controller/podgc/gc_controller.go": "\t\"k8s.io/kubernetes/pkg/kubelet/eviction\"\n\teviction.PodIsEvicted(i.Status), eviction.PodIsEvicted(j.Status)\n",
			"cmd/kube-controller-manager/app/core.go": "\t\"k8s.io/kubernetes/pkg/controller/volume/attachdetach\"\n\t\"k8s.io/kubernetes/pkg/controller/volume/selinuxwarning\"\n" +
				"func newPersistentVolumeAttachDetachController() {\n}\nfunc newSELinuxWarningController() {\n}\n",
			"cmd/kube-controller-manager/app/plugins.go": "\t\"k8s.io/kubernetes/pkg/volume/csi\"\n\tcsi.ProbeVolumePlugins()\n",
		},
		flux + "pkg/auth": {
			"utils/provider.go": cloudsNamed("\t\"github.com/fluxcd/pkg/auth/*\"\n\tcase *.ProviderName:\n\t\t*.Provider{}\n") + "provider '%s' not implemented",
			"azure/provider.go": "\t\"os\"\n\t\"regexp\"\n" + strings.Join([]string{
				"azcore/arm\"", "azcore/cloud\"", "azcontainerregistry\"", "golang-jwt/", "go-containerregistry/", "client-go/rest\"", "client-go/tools\"",
			}, "\n") + "\n// GetAccessTokenOptionsForArtifactRepository implements\n// GetAccessTokenOptionsForGitRepository implements\n",
			"azure/implementation.go": "azcore/arm\"\nazcontainerregistry\"\narmcontainerservice\"\n\tExchangeToken(\n\tNewManagedClustersClient(\n" +
				"// AKSClient provides\ntype implementation struct\n\nfunc (implementation) ExchangeAAD\n",
		},
		flux + "source-controller": {
			"main.go": "package main\n\nimport (\n" + source + "oci/cosign\"\n)\n\nfunc main() {\n" + strings.Repeat(verifier, 3) + "}\n",
			"internal/controller/bucket_controller.go": source + "bucket/azure\"\n" + source + "bucket/gcp\"\n" + source + "bucket/minio\"\n" +
				"\tswitch obj.Spec.Provider {\n\tcase sourcev1.BucketProviderGoogle:\n\t}\n",
			"internal/controller/helmchart_controller.go": signs + "\t\"github.com/google/go-containerregistry/pkg/v1/remote\"\n" + verifier +
				"\tvar verifiers []soci.Verifier\n\tverifyOpts := 1\n\tdefault:\n\t\treturn\n\t}\n",
			"internal/controller/ocirepository_controller.go": signs + verifier + "\t\"github.com/google/go-containerregistry/pkg/authn/k8schain\"\n\tk8schain.New\n" +
				"\tctxTimeout, cancel := 1\n\tdefer cancel()\n\n\tprovider := obj.Spec.Verify.Provider\n\tdefault:\n\t\treturn\n\t}\n",
		},
		flux + "kustomize-controller": {
			"main.go": program,
			"internal/controller/kustomization_controller.go": "\t\"github.com/fluxcd/kustomize-controller/internal/decryptor\"\n\t// Build decryptor.\n\terror decrypting sources\n\t}\n" +
				"\t\tif obj.Spec.Decryption != nil {\n\t\t\toutRes, err := dec.DecryptResource()\n\t\t}\n\tif decryptor.IsEncryptedSecret(u) && true {\n\t\tInterval:    5 * time.Second,\n",
		},
		flux + "helm-controller": {"main.go": program, "internal/action/wait.go": "\t\tInterval:    5 * time.Second,\n"},
		flux + "notification-controller": {
			"main.go":                           "package main\n\nimport _ \"github.com/fluxcd/notification-controller/internal/notifier\"\n\nfunc main() {}\n",
			"internal/notifier/factory.go":      notifierFactory(),
			"internal/notifier/datadog.go":      "package notifier\n\nimport _ \"example.com/sdk\"\n",
			"internal/server/event_handlers.go": "\tctx = notifier.WithAlertMetadata(ctx)\n",
			"internal/server/receiver_handlers.go": "\t\"github.com/cdevents/sdk-go/pkg/api\"\n\t\"github.com/cdevents/sdk-go/pkg/api/v04\"\n\t\"github.com/google/go-github/v64/github\"\n" +
				"\t\"google.golang.org/api/idtoken\"\n\t\"encoding/base64\"\n\t\"encoding/json\"\n\t\"time\"\n" +
				"\tcase apiv1.GitHubReceiver:\n\tcase apiv1.CDEventsReceiver:\n\t}\n\n\treturn nil, fmt.Errorf(\"not supported\")\nfunc authenticateGCRRequest() {\n}\n",
		},
		"github.com/google/go-github/v64": {
			"github/github.go": "package github\n\nimport _ \"example.com/sdk\"\n",
			"github/messages.go": "package github\n\nimport (\n\t\"encoding/json\"\n\t\"reflect\"\n\t\"sort\"\n)\n\nvar (\n\t// eventTypeMapping maps\n)\n\nfunc init() {\n}\n" +
				"\n// ParseWebHook parses the payload.\nfunc ParseWebHook() Event {}\n",
		},
		kwokModule: {
			"cmd/kwok/main.go": program, "kustomize/stage/pod/fast/pod-ready.yaml": "kind: Pods",
			"kustomize/stage/node/fast/node-ready.yaml": "kind: Nodes", "kustomize/stage/node/heartbeat-with-lease/node-lease.yaml": "kind: Leases",
		},
		"helm.sh/helm/v4": {
			"internal/plugin/loader.go": "\textism \"github.com/extism/go-sdk\"\n\t\"github.com/tetratelabs/wazero\"\n\t\"helm.sh/helm/v4/pkg/helmpath\"\n\tcc, err := wazero.New()\n\t}\n" +
				"\t\t\t\"extism/v1\": {\n\t\t\t},\n",
			"internal/plugin/runtime_extismv1.go": "import (\n\t\"os\"\n)\n\ntype RuntimeExtismV1 struct{}\n",
			"pkg/storage/driver/sql.go":           "",
			"pkg/action/action.go":                "\t\"os\"\n\tcase \"sql\":\n\t\tstore = storage.Init(d)\n",
		},
	}
}

// cloudsNamed is a text once for each cloud, with the cloud's name for an asterisk.
func cloudsNamed(text string) string {
	all := ""
	for _, cloud := range []string{"aws", "azure", "gcp"} {
		all += strings.ReplaceAll(text, "*", cloud)
	}
	return all
}

// notifierFactory compiles only without the notifiers that are cut.
func notifierFactory() string {
	const cut = 17
	return "package notifier\n\nvar _ = map[string]any{\n" + strings.Repeat("\t\tapiv1.DataDogProvider: dataDogNotifierFunc,\n", cut) + "}\n\n" +
		strings.Repeat("func dataDogNotifierFunc(o other) {\n}\n", cut) + "\nconst _ = \"provider %s not supported\"\n"
}
