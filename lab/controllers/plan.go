package controllers

import (
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"tombolo/lab/ports"
	"tombolo/lab/process"
)

// known are the controllers that the lab has as binaries, by the base name of
// their image.
var known = []string{"source-controller", "kustomize-controller", "helm-controller"}

const sourceController = "source-controller"

// usualNamespace is left out of the processes' names.
const usualNamespace = "flux-system"

// plan is a controller to run, as its Deployment describes it.
type plan struct {
	process        string // name in the lab
	tool           string
	namespace      string
	serviceAccount string
	args           []string // the Deployment's own
	env            []string // the Deployment's own, KEY=value
}

func (p plan) equal(q plan) bool {
	return p.process == q.process && p.tool == q.tool && p.namespace == q.namespace &&
		p.serviceAccount == q.serviceAccount && slices.Equal(p.args, q.args) && slices.Equal(p.env, q.env)
}

// planFor says what to run for a Deployment; false when nothing.
func planFor(cluster string, d *appsv1.Deployment) (plan, bool) {
	if d.DeletionTimestamp != nil || d.Spec.Replicas != nil && *d.Spec.Replicas == 0 {
		return plan{}, false
	}
	pod := d.Spec.Template.Spec
	for _, c := range pod.Containers {
		tool := imageName(c.Image)
		if !slices.Contains(known, tool) {
			continue
		}
		p := plan{process: cluster + "-" + d.Name, tool: tool, namespace: d.Namespace, serviceAccount: pod.ServiceAccountName}
		if d.Namespace != usualNamespace {
			p.process = cluster + "-" + d.Namespace + "-" + d.Name
		}
		if p.serviceAccount == "" {
			p.serviceAccount = "default"
		}
		for _, arg := range slices.Concat(c.Command, c.Args) {
			// A command starts with a binary of the image; ours is another.
			if strings.HasPrefix(arg, "-") || len(p.args) > 0 {
				p.args = append(p.args, strings.ReplaceAll(arg, "$(RUNTIME_NAMESPACE)", d.Namespace))
			}
		}
		p.env = literalEnv(c.Env)
		return p, true
	}
	return plan{}, false
}

// imageName is the last part of an image's repository: host:5000/a/b:v1 -> b.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// literalEnv keeps the variables with a value that means the same outside a
// container: not those filled by the kubelet, and no paths.
func literalEnv(env []corev1.EnvVar) []string {
	var literal []string
	for _, e := range env {
		if e.ValueFrom == nil && e.Value != "" && !path.IsAbs(e.Value) {
			literal = append(literal, e.Name+"="+e.Value)
		}
	}
	return literal
}

// listeners are the addresses of one controller; source is the storage server
// of its cluster's source-controller, the same for all of them.
type listeners struct{ metrics, health, source int }

func chooseListeners(book *ports.Book, cluster, process string) (l listeners, err error) {
	if l.metrics, err = book.Get(process + "-metrics"); err != nil {
		return l, err
	}
	if l.health, err = book.Get(process + "-health"); err != nil {
		return l, err
	}
	l.source, err = book.Get(cluster + "-sources")
	return l, err
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// spec is the process of a plan.
func (p plan) spec(o Options, dir string, l listeners) process.Spec {
	s := process.Spec{
		Name: p.process,
		Path: filepath.Join(o.Tools, p.tool),
		Args: adapt(p.args, p.tool, filepath.Join(dir, "data"), l),
		Env: append(slices.Clone(p.env),
			"PATH="+os.Getenv("PATH"), "HOME="+o.Home, "TMPDIR="+filepath.Join(dir, "tmp"), "TUF_ROOT="+filepath.Join(dir, "tuf"),
			"KUBECONFIG="+filepath.Join(dir, "kubeconfig"), "RUNTIME_NAMESPACE="+p.namespace,
			"SOURCE_CONTROLLER_LOCALHOST="+address(l.source),
			"HTTP_PROXY="+o.Proxy, "HTTPS_PROXY="+o.Proxy, "NO_PROXY=127.0.0.1,localhost",
		),
		Dir:     dir,
		Ports:   []int{l.metrics, l.health},
		Healthy: process.HTTPHealthy(fmt.Sprintf("http://%s/readyz", address(l.health)), nil),
		Restart: true,
	}
	if p.tool == sourceController {
		s.Ports = append(s.Ports, l.source)
		s.Healthy = process.HTTPHealthy(fmt.Sprintf("http://%s/", address(l.source)), nil)
	}
	return s
}

// adapted are the flags that mean something else on the host. Those with true
// take no value of their own.
var adapted = map[string]bool{
	"events-addr": false, "storage-path": false, "storage-addr": false, "storage-adv-addr": false,
	"requeue-dependency": false, "metrics-addr": false, "health-addr": false, "enable-leader-election": true,
}

// adapt replaces the flags of a container by those of a host process: free
// ports on loopback, its own storage, no election, and no events sent to a
// service address that nothing answers on.
func adapt(args []string, tool, storage string, l listeners) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		boolean, drop := adapted[name]
		switch {
		case !strings.HasPrefix(args[i], "-") || !drop:
			out = append(out, args[i])
		case !hasValue && !boolean && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			i++ // its value is the next argument
		}
	}
	out = append(out, "--enable-leader-election=false", "--metrics-addr="+address(l.metrics), "--health-addr="+address(l.health))
	if tool == sourceController {
		return append(out, "--storage-path="+storage, "--storage-addr="+address(l.source), "--storage-adv-addr="+address(l.source))
	}
	// What depends on something not ready is looked at again after this time;
	// the usual 30s is made for many objects on a shared cluster.
	return append(out, "--requeue-dependency=2s")
}
