package controllers

import (
	"cmp"
	"maps"
	"net"
	"path"
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"tombolo/lab/process"
)

// family is a GitOps engine's controllers: how their workloads are recognised,
// and how each runs on the host.
type family interface {
	// plan says what to run for a workload; false when nothing.
	plan(cluster string, w workload) (plan, bool)
	// spec is the process of a plan of this family. env is what the workload
	// itself sets, dir the process's own directory.
	spec(o Options, p plan, dir string, env []string) (process.Spec, error)
}

func families() []family { return []family{flux{}, argocd{}, sealedSecrets, externalSecrets} }

// plan is a controller to run, as its workload describes it.
type plan struct {
	family         family
	cluster        string
	process        string // name in the lab
	tool           string // its binary
	namespace      string
	serviceAccount string
	inits          []invocation    // what runs to its end before it
	args           []string        // the workload's own
	env            []corev1.EnvVar // the workload's own, as far as it means the same outside a container
	// annotations of the pods: a new one, as of `kubectl rollout restart`,
	// means new pods.
	annotations map[string]string
	// labels of the pods.
	labels map[string]string
	// mounts to which the environment leads.
	mounts []mount
}

// invocation is a command of the tools and its arguments.
type invocation struct {
	tool string
	args []string
}

func (p plan) equal(q plan) bool { return reflect.DeepEqual(p, q) }

// planFor says what to run for a workload; false when nothing.
func planFor(cluster string, w workload) (plan, bool) {
	if !w.wanted {
		return plan{}, false
	}
	for _, f := range families() {
		if p, ok := f.plan(cluster, w); ok {
			return p, true
		}
	}
	return plan{}, false
}

// newPlan is what the families' plans have in common. usual is the engine's
// own namespace, which is left out of the processes' names.
func newPlan(f family, cluster, usual string, w workload) plan {
	p := plan{
		family: f, cluster: cluster, process: cluster + "-" + w.name, namespace: w.namespace,
		serviceAccount: cmp.Or(w.template.Spec.ServiceAccountName, "default"),
		annotations:    maps.Clone(w.template.Annotations),
		labels:         w.template.Labels,
	}
	if w.namespace != usual {
		p.process = cluster + "-" + w.namespace + "-" + w.name
	}
	return p
}

// imageName is the last part of an image's repository: host:5000/a/b:v1 -> b.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// imageTag is the tag of an image: host:5000/a/b:v1 -> v1.
func imageTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(image), ":")
	return tag
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
