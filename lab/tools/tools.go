// Package tools says which of the built tools a lab lacks, for what is to run in it. It imports
// nothing of the lab: commands ask before they start one.
package tools

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Checkout is the directory of a project, whose .tools has what was built.
type Checkout string

func (c Checkout) programs() string { return filepath.Join(string(c), ".tools", "bin") }
func (c Checkout) plugins() string  { return filepath.Join(string(c), ".tools", "plugins") }

// requiredTools are the binaries that the lab cannot do without.
var requiredTools = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok",
	"source-controller", "kustomize-controller", "helm-controller", "notification-controller",
}

// argocdTools are the binaries that Argo CD in a lab's cluster needs, and that
// a lab without it does not.
var argocdTools = []string{
	"argocd", "argocd-application-controller", "argocd-applicationset-controller", "argocd-k8s-auth", "argocd-redis",
	"argocd-repo-server", "argocd-server", "argocd-notifications", "helm", "kustomize",
}

// EKSProvider is the Pulumi provider that clusters in AWS need, and those in Azure do not.
const EKSProvider = "resource-eks"

// Any names the tools that every lab needs and this one lacks, all at once.
func (c Checkout) Any() error {
	if err := c.lacks("tools", requiredTools...); err != nil {
		return err
	}
	if err := c.lacksProvider("resource-kubernetes"); err != nil {
		return err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return errors.New("git is missing; install it")
	}
	return nil
}

// EKS says what a cluster in AWS would lack: the EKS component, and Node.js, which runs it.
func (c Checkout) EKS() error {
	if err := c.lacksProvider(EKSProvider); err != nil {
		return err
	}
	if _, err := exec.LookPath("node"); err != nil {
		return errors.New("node, which runs the EKS provider, is missing; install Node.js 20 or newer")
	}
	return nil
}

// AKS says what a cluster in Azure would lack.
func (c Checkout) AKS() error { return c.lacks("tools-azure", "kubelogin") }

// ArgoCD says what a cluster with Argo CD would lack: its tools are built apart from the others.
func (c Checkout) ArgoCD() error { return c.lacks("tools-argocd", argocdTools...) }

// SealedSecrets says what a cluster with the addon sealed-secrets would lack.
func (c Checkout) SealedSecrets() error { return c.lacks("tools-secrets", "sealed-secrets") }

// ExternalSecrets says what a cluster with the addon external-secrets would lack.
func (c Checkout) ExternalSecrets() error { return c.lacks("tools-secrets", "external-secrets") }

// lacks names the programs that have not been built, and the target of make that builds them.
func (c Checkout) lacks(target string, names ...string) error {
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := os.Stat(filepath.Join(c.programs(), name))
		return err == nil
	})
	if len(missing) > 0 {
		return fmt.Errorf("%s missing in %s; run `make %s`", strings.Join(missing, ", "), c.programs(), target)
	}
	return nil
}

// lacksProvider says that a provider of Pulumi's has not been built.
func (c Checkout) lacksProvider(name string) error {
	if found, _ := filepath.Glob(filepath.Join(c.plugins(), name+"-v*")); len(found) == 0 {
		return fmt.Errorf("%s missing in %s; run `make tools`", name, c.plugins())
	}
	return nil
}
