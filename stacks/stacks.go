// Package stacks knows the two stacks of a cluster and the one of an account by their
// names. What they make is in stacks/programs, which takes every provider's SDK along.
package stacks

import (
	"fmt"
	"strings"
)

// Project is the name of the Pulumi project that all stacks are in.
const Project = "tombolo"

// Kind is a kind of stack.
type Kind string

// The kinds. Core builds the network and the cluster; Bootstrap prepares the
// cluster and hands it to the GitOps engine. Pipelines makes the roles of pipelines
// in an account.
const (
	Core      Kind = "core"
	Bootstrap Kind = "bootstrap"
	Pipelines Kind = "pipelines"
)

// Kinds lists the kinds of a cluster in the order of deployment.
func Kinds() []Kind { return []Kind{Core, Bootstrap} }

// Name is the name of a stack of a cluster or an account, such as demo-core.
func Name(cluster string, k Kind) string { return cluster + "-" + string(k) }

// Names are those of a cluster's stacks, in the order of deployment.
func Names(cluster string) []string {
	return []string{Name(cluster, Core), Name(cluster, Bootstrap)}
}

// AllKinds lists the kinds of clusters and of accounts.
func AllKinds() []Kind { return append(Kinds(), Pipelines) }

// Parse splits the name of a stack. Cluster names may contain dashes.
func Parse(stack string) (cluster string, k Kind, err error) {
	for _, kind := range AllKinds() {
		if name, ok := strings.CutSuffix(stack, "-"+string(kind)); ok && name != "" {
			return name, kind, nil
		}
	}
	return "", "", fmt.Errorf("stack %q is not named after a cluster and a kind: expected <cluster>-core, <cluster>-bootstrap or <account>-pipelines", stack)
}
