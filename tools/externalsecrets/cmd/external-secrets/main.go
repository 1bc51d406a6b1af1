// Command external-secrets is the controller of External Secrets on a host: its own code for
// ExternalSecrets and their stores, with the providers of AWS, Azure and Vault alone. The webhook, the other
// kinds and the other providers are left out. It takes the flags that a release of the chart
// gives, and does what it does without leader election: the lab runs one.
package main

import (
	"fmt"
	"os"
	"time"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	genv1alpha1 "github.com/external-secrets/external-secrets/apis/generators/v1alpha1"
	ctrlcommon "github.com/external-secrets/external-secrets/pkg/controllers/common"
	"github.com/external-secrets/external-secrets/pkg/controllers/externalsecret"
	"github.com/external-secrets/external-secrets/pkg/controllers/externalsecret/esmetrics"
	"github.com/external-secrets/external-secrets/pkg/controllers/metrics"
	"github.com/external-secrets/external-secrets/pkg/controllers/secretstore"
	"github.com/external-secrets/external-secrets/pkg/controllers/secretstore/cssmetrics"
	"github.com/external-secrets/external-secrets/pkg/controllers/secretstore/ssmetrics"
	_ "github.com/external-secrets/external-secrets/pkg/provider/aws" // registers itself
	_ "github.com/external-secrets/external-secrets/pkg/provider/azure/keyvault"
	_ "github.com/external-secrets/external-secrets/pkg/provider/vault"
	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	ctrl.SetLogger(zap.New(zap.Level(zapcore.InfoLevel)))
	if err := run(); err != nil {
		ctrl.Log.Error(err, "the controller ends")
		os.Exit(1)
	}
}

func run() error {
	flags := pflag.NewFlagSet("external-secrets", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	live := flags.String("live-addr", ":8082", "address of the health checks")
	concurrent := flags.Int("concurrent", 1, "how many objects of a kind are reconciled at a time")
	stores := flags.Duration("store-requeue-interval", 5*time.Minute, "how often a store is validated")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return err
	}
	m, err := newManager(*live)
	if err != nil {
		return err
	}
	options := func() controller.Options {
		return controller.Options{MaxConcurrentReconciles: *concurrent, RateLimiter: ctrlcommon.BuildRateLimiter()}
	}
	metrics.SetUpLabelNames(false)
	esmetrics.SetUpMetrics()
	ssmetrics.SetUpMetrics()
	cssmetrics.SetUpMetrics()
	log := ctrl.Log.WithName("controllers")
	if err := (&secretstore.StoreReconciler{
		Client: m.GetClient(), Log: log.WithName("SecretStore"), Scheme: m.GetScheme(), RequeueInterval: *stores,
	}).SetupWithManager(m, options()); err != nil {
		return fmt.Errorf("set up the controller of SecretStores: %w", err)
	}
	if err := (&secretstore.ClusterStoreReconciler{
		Client: m.GetClient(), Log: log.WithName("ClusterSecretStore"), Scheme: m.GetScheme(), RequeueInterval: *stores,
	}).SetupWithManager(m, options()); err != nil {
		return fmt.Errorf("set up the controller of ClusterSecretStores: %w", err)
	}
	if err := (&externalsecret.Reconciler{
		Client: m.GetClient(), SecretClient: m.GetClient(), Log: log.WithName("ExternalSecret"), Scheme: m.GetScheme(),
		RestConfig: m.GetConfig(), RequeueInterval: time.Hour, ClusterSecretStoreEnabled: true, EnableFloodGate: true,
	}).SetupWithManager(m, options()); err != nil {
		return fmt.Errorf("set up the controller of ExternalSecrets: %w", err)
	}
	return m.Start(ctrl.SetupSignalHandler())
}

func newManager(live string) (ctrl.Manager, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, esv1.AddToScheme, genv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	m, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, HealthProbeBindAddress: live, Metrics: server.Options{BindAddress: "0"},
		// As upstream by default: Secrets and ConfigMaps are read when they are needed.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
	})
	if err != nil {
		return nil, err
	}
	return m, m.AddHealthzCheck("healthz", healthz.Ping)
}
