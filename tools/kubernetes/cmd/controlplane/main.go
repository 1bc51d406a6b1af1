// Command controlplane holds a Kubernetes control plane in one binary: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler and kubectl. The
// part to run is chosen by the name it is called by, or by the first argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's exec and OIDC credentials
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics, as upstream's mains
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric, as upstream's mains
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	part := filepath.Base(os.Args[0])
	run, ok := parts()[part]
	if !ok && len(os.Args) > 1 {
		part, os.Args = os.Args[1], os.Args[1:]
		run, ok = parts()[part]
	}
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: controlplane etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl [flags]")
		os.Exit(2)
	}
	os.Exit(run())
}

func parts() map[string]func() int {
	command := func(c func() *cobra.Command) func() int {
		return func() int { return cli.Run(c()) }
	}
	return map[string]func() int{
		"etcd":                    func() int { etcdmain.Main(os.Args); return 0 },
		"kube-apiserver":          command(apiserver.NewAPIServerCommand),
		"kube-controller-manager": command(controllermanager.NewControllerManagerCommand),
		"kube-scheduler":          command(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
		"kubectl": func() int {
			if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
				util.CheckErr(err) // prints and exits as kubectl does
			}
			return 0
		},
	}
}
