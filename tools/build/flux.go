package main

import "regexp"

// fluxCuts leave out of Flux's controllers what no lab has: clouds, their registries and
// buckets, what talks to hosters of Git, signatures of images and encrypted files. With the
// SDKs for those there is five times as much to compile. What is left out says so when
// somebody asks for it.
func fluxCuts() []cut {
	return []cut{cloudsOfFlux(), sourceCut(), kustomizeCut(), notificationCut(), githubCut(), releaseCut(), helmCut()}
}

// everySecond has a controller look each second whether what it applied is ready, in place of
// every five: in a lab that takes less than a second, and five stages waited for most of a minute.
func everySecond(file string) edit {
	return edit{file, regexp.MustCompile(`Interval:    5 \* time\.Second,`), "Interval: time.Second,", 1}
}

// cloudsOfFlux leaves out the clouds whose credentials all controllers can get, and of Azure all but
// what reads Git.
func cloudsOfFlux() cut {
	const provider = "utils/provider.go"
	const (
		azure       = "azure/provider.go"
		azureClient = "azure/implementation.go"
	)
	return cut{module: "github.com/fluxcd/pkg/auth", edits: []edit{
		lines(provider, `"github\.com/fluxcd/pkg/auth/(aws|gcp)"`, 2),
		{provider, regexp.MustCompile(`(?m)^\tcase (aws|gcp)\.ProviderName:\n.*\n`), "", 2},
		lines(azure, `^\t"(os|regexp)"$|azcore/(arm|cloud)"|azcontainerregistry"$|golang-jwt/|go-containerregistry/|client-go/`, 9),
		{azure, regexp.MustCompile(`(?s)// GetAccessTokenOptionsForArtifactRepository implements.*?(// GetAccessTokenOptionsForGitRepository implements)`), "$1", 1},
		lines(azureClient, `azcore/arm"|azcontainerregistry"|armcontainerservice"|^\t(Exchange\w+|NewManagedClustersClient)\(`, 5),
		{azureClient, regexp.MustCompile(`(?s)// AKSClient provides.*?(type implementation struct)`), "$1", 1},
		{azureClient, regexp.MustCompile(`(?s)\nfunc \(implementation\) ExchangeAAD.*`), "", 1},
		{provider, regexp.MustCompile(`provider '%s' not implemented`), "the lab's build has no provider '%s'", 1},
	}}
}

// sourceCut leaves out buckets, signatures, and the registries of clouds.
func sourceCut() cut {
	const (
		bucket = "internal/controller/bucket_controller.go"
		chart  = "internal/controller/helmchart_controller.go"
		image  = "internal/controller/ocirepository_controller.go"

		verifiers    = `source-controller/internal/oci/(cosign|notation)"|"github\.com/(sigstore|notaryproject)/|"encoding/json"`
		factory      = `\bCosignVerifierFactory\b`
		noSignatures = `errors.New("the lab's build verifies no signatures")`
	)
	return cut{module: "github.com/fluxcd/source-controller", edits: []edit{
		lines(bucket, `source-controller/internal/bucket/`, 3),
		block(bucket, `\tswitch obj\.Spec\.Provider \{\n\tcase sourcev1\.BucketProviderGoogle:`, `\n\t}\n`, `	return nil, errors.New("the lab's build has no buckets")`),
		lines(chart, verifiers+`|go-containerregistry/pkg/v1/remote"`, 6),
		block(chart, `\tvar verifiers \[\]soci\.Verifier\n\tverifyOpts`, `\n\tdefault:\n.*?\n\t}\n`, "\treturn nil, "+noSignatures),
		lines(chart, factory, 1),
		lines(image, verifiers, 5),
		block(image, `\tctxTimeout, cancel := [^\n]*\n\tdefer cancel\(\)\n\n\tprovider := obj\.Spec\.Verify\.`, `\n\tdefault:\n.*?\n\t}\n`,
			"\treturn soci.VerificationResultFailed, "+noSignatures),
		lines(image, factory, 1),
		{image, regexp.MustCompile(`authn/k8schain"`), `authn/kubernetes"`, 1},
		{image, regexp.MustCompile(`k8schain\.`), `kubernetes.`, 1},
		lines("main.go", verifiers, 1),
		lines("main.go", factory, 3),
	}}
}

// kustomizeCut leaves out SOPS, which has the key services of all clouds in it, and waits less.
func kustomizeCut() cut {
	const controller = "internal/controller/kustomization_controller.go"
	return cut{module: "github.com/fluxcd/kustomize-controller", edits: []edit{
		lines(controller, `kustomize-controller/internal/decryptor"`, 1),
		block(controller, `\t// Build decryptor\.\n`, `error decrypting sources.*?\n\t}\n`,
			"\tif obj.Spec.Decryption != nil {\n\t\treturn nil, errors.New(\"the lab's build decrypts nothing: leave spec.decryption out\")\n\t}"),
		block(controller, `\t\tif obj\.Spec\.Decryption != nil \{\n\t\t\toutRes, err := dec\.`, `\n\t\t}\n`, ""),
		{
			controller, regexp.MustCompile(`if decryptor\.IsEncryptedSecret\(u\) && .* \{`),
			`if _, encrypted, _ := unstructured.NestedFieldNoCopy(u.Object, "sops"); encrypted && u.GetKind() == "Secret" {`, 1,
		},
		everySecond(controller),
	}}
}

// releaseCut has helm-controller wait less.
func releaseCut() cut {
	return cut{module: "github.com/fluxcd/helm-controller", edits: []edit{everySecond("internal/action/wait.go")}}
}

// notificationCut leaves out the notifiers that have an SDK, and the receivers of webhooks
// that CDEvents, Bitbucket and registries call. Slack, Teams and other addresses are left.
func notificationCut() cut {
	const (
		factory  = "internal/notifier/factory.go"
		events   = "internal/server/event_handlers.go"
		receiver = "internal/server/receiver_handlers.go"
		sdks     = `(azure|bitbucket|dataDog|git|googlePubSub|nats|otel|pagerDuty|sentry)\w*NotifierFunc`
	)
	return cut{
		module:  "github.com/fluxcd/notification-controller",
		without: regexp.MustCompile(`^internal/notifier/(azure|bitbucket|datadog|git(ea|hub|lab)|google_(helpers|pubsub)|nats|otel|pagerduty|sentry).*\.go$`),
		edits: []edit{
			lines(factory, `^\t\tapiv1\.\w+: +`+sdks+`,$`, 17),
			{factory, regexp.MustCompile(`(?ms)^func ` + sdks + `\(.*?^}\n`), "", 17},
			{factory, regexp.MustCompile(`provider %s not supported`), "provider %s not supported by the lab's build", 1},
			lines(events, `\bnotifier\.WithAlertMetadata\(`, 1), // the notifier otel has it
			lines(receiver, `"(github\.com/cdevents/.*|google\.golang\.org/api/idtoken|encoding/(base64|json)|time)"$`, 6),
			{
				receiver, regexp.MustCompile(`(?s)\tcase apiv1\.CDEventsReceiver:.*?\n\t}\n\n(\treturn nil, fmt.Errorf\(".*?not supported)`),
				"\t}\n\n$1 by the lab's build", 1,
			},
			{receiver, regexp.MustCompile(`(?ms)^func authenticateGCRRequest\(.*?^}\n`), "", 1},
		},
	}
}

// githubCut leaves all of GitHub's API out but what checks the signatures of webhooks.
func githubCut() cut {
	const messages = "github/messages.go"
	return cut{
		module:  "github.com/google/go-github/v64",
		without: regexp.MustCompile(`^github/([^m].*|m[^e].*|meta.*|messages_test)\.go$`),
		edits: []edit{
			lines(messages, `^\t"(encoding/json|reflect|sort)"$`, 3),
			{messages, regexp.MustCompile(`(?ms)^var \(\n\t// eventTypeMapping .*?^}\n`), "", 1},
			{messages, regexp.MustCompile(`(?s)// ParseWebHook parses .*`), "", 1},
		},
	}
}

// helmCut leaves out of Helm what runs plugins in WebAssembly, and releases kept in SQL.
func helmCut() cut {
	const (
		loader = "internal/plugin/loader.go"
		wasm   = "internal/plugin/runtime_extismv1.go"
		action = "pkg/action/action.go"
	)
	return cut{
		module:  "helm.sh/helm/v4",
		without: regexp.MustCompile(`^pkg/storage/driver/sql\.go$`),
		edits: []edit{
			lines(loader, `"(github\.com/(extism|tetratelabs)/.*|helm\.sh/helm/v4/pkg/helmpath)"$`, 3),
			block(loader, `\tcc, err := wazero\.`, `\n\t}\n`, ""),
			block(loader, `\t\t\t"extism/v1": `, `\n\t\t\t},\n`, ""),
			block(wasm, `import \(\n`, `\n\)\n`, ""),
			{wasm, regexp.MustCompile(`(?s)\ntype RuntimeExtismV1 struct.*`), "", 1},
			lines(action, `^\t"os"$`, 1),
			block(action, `\tcase "sql":\n`, `store = storage\.Init\(d\)\n`, ""),
		},
	}
}
