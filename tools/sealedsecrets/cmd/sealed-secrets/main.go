// Command sealed-secrets is the controller of Sealed Secrets on a host: its own code, but for
// the start, which knows only the configuration of a pod. It takes the flags that a release
// of the chart gives, and makes no keys: it opens what is sealed for the keys that are in
// its namespace.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bitnami/sealed-secrets/pkg/client/clientset/versioned"
	"github.com/bitnami/sealed-secrets/pkg/client/informers/externalversions"
	"github.com/bitnami/sealed-secrets/pkg/controller"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(); err != nil {
		slog.Error("the controller ends", "error", err)
		os.Exit(1)
	}
}

func run() error {
	flags := pflag.NewFlagSet("sealed-secrets", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	listen := flags.String("listen-addr", "127.0.0.1:8080", "address of the API")
	renew := flags.Duration("key-renew-period", 30*24*time.Hour, "time after which a key is made")
	retries := flags.Int("max-unseal-retries", 5, "how often a SealedSecret is tried again")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return err
	}
	if *renew != 0 {
		return fmt.Errorf("--key-renew-period is %s, and this controller makes no keys: set it to 0", *renew)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	sealed, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	namespace := os.Getenv("POD_NAMESPACE")
	keys := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = controller.SealedSecretsKeyLabel + "=active" }))
	c, err := controller.NewController(client, sealed,
		externalversions.NewSharedInformerFactory(sealed, 0), informers.NewSharedInformerFactory(client, 0), keys,
		controller.NewKeyRegistry(client, namespace, "sealed-secrets-key", controller.SealedSecretsKeyLabel, 4096),
		*retries, "CertNotBefore")
	if err != nil {
		return err
	}
	go c.Run(ctx.Done())
	server := &http.Server{Addr: *listen, ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !c.HasSynced() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, "ok\n")
	})}
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background())
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}
