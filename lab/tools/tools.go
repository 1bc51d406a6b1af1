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

// Variable of the environment names the directory of the tools.
const Variable = "TOMBOLO_TOOLS"

// Built are the tools for the lab of a project.
type Built struct {
	// Dir has the programs in bin, the providers in plugins, and what they read in share.
	Dir string
	// checkout says that the project is the source of what is built.
	checkout bool
}

// Of finds the tools for the project at root: in the directory that Variable names, or else in .tools
// of the project, of the directory with this program, or of the one above it. Without any of them it
// is the project's, which then lacks everything.
func Of(root string) Built {
	own := filepath.Join(root, ".tools")
	_, err := os.Stat(filepath.Join(root, "tools", "build"))
	b := Built{Dir: own, checkout: err == nil}
	if named, err := filepath.Abs(os.Getenv(Variable)); err == nil && os.Getenv(Variable) != "" {
		b.Dir = named
		return b
	}
	dirs := []string{own}
	if self, err := os.Executable(); err == nil {
		with := filepath.Dir(self)
		dirs = append(dirs, filepath.Join(with, ".tools"), filepath.Join(filepath.Dir(with), ".tools"))
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "bin")); err == nil {
			b.Dir = dir
			break
		}
	}
	return b
}

// Programs is the directory of the programs.
func (b Built) Programs() string { return filepath.Join(b.Dir, "bin") }

// Plugins is the directory of Pulumi's providers.
func (b Built) Plugins() string { return filepath.Join(b.Dir, "plugins") }

// Share is the directory of files that tools read, and of the engines' install manifests.
func (b Built) Share() string { return filepath.Join(b.Dir, "share") }

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
func (b Built) Any() error {
	if err := b.lacks("tools", requiredTools...); err != nil {
		return err
	}
	if err := b.lacksProvider("resource-kubernetes"); err != nil {
		return err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return errors.New("git is missing; install it")
	}
	return nil
}

// EKS says what a cluster in AWS would lack: the EKS component, and Node.js, which runs it.
func (b Built) EKS() error {
	if err := b.lacksProvider(EKSProvider); err != nil {
		return err
	}
	if _, err := exec.LookPath("node"); err != nil {
		return errors.New("node, which runs the EKS provider, is missing; install Node.js 20 or newer")
	}
	return nil
}

// AKS says what a cluster in Azure would lack.
func (b Built) AKS() error { return b.lacks("tools-azure", "kubelogin") }

// ArgoCD says what a cluster with Argo CD would lack: its tools are built apart from the others.
func (b Built) ArgoCD() error { return b.lacks("tools-argocd", argocdTools...) }

// SealedSecrets says what a cluster with the addon sealed-secrets would lack.
func (b Built) SealedSecrets() error { return b.lacks("tools-secrets", "sealed-secrets") }

// ExternalSecrets says what a cluster with the addon external-secrets would lack.
func (b Built) ExternalSecrets() error { return b.lacks("tools-secrets", "external-secrets") }

// Vault says what the lab's server of Vault's API would lack.
func (b Built) Vault() error { return b.lacks("tools-secrets", "vault-server") }

// lacks names the programs that have not been built, and the target of make that builds them.
func (b Built) lacks(target string, names ...string) error {
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := os.Stat(filepath.Join(b.Programs(), name))
		return err == nil
	})
	if len(missing) > 0 {
		return fmt.Errorf("%s missing in %s; %s", strings.Join(missing, ", "), b.Programs(), b.remedy(target))
	}
	return nil
}

// lacksProvider says that a provider of Pulumi's has not been built.
func (b Built) lacksProvider(name string) error {
	if found, _ := filepath.Glob(filepath.Join(b.Plugins(), name+"-v*")); len(found) == 0 {
		return fmt.Errorf("%s missing in %s; %s", name, b.Plugins(), b.remedy("tools"))
	}
	return nil
}

// remedy says how what is missing is made: by a target of make, where the source is.
func (b Built) remedy(target string) string {
	if b.checkout {
		return fmt.Sprintf("run `make %s`", target)
	}
	return "unpack the tools of a release into " + b.Dir + ", or have " + Variable + " name the directory that has them"
}
