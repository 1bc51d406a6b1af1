package controllers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/internal/names"
	"tombolo/lab/ports"
	"tombolo/lab/process"
)

// flux is the family of Flux's controllers.
type flux struct{}

// fluxControllers are those that the lab has as binaries, by the base name of
// their image.
var fluxControllers = []string{"source-controller", "kustomize-controller", "helm-controller"}

const sourceController = "source-controller"

func (f flux) plan(cluster string, w workload) (plan, bool) {
	for _, c := range w.template.Spec.Containers {
		tool := imageName(c.Image)
		if w.kind != deployment || !slices.Contains(fluxControllers, tool) {
			continue
		}
		p := newPlan(f, cluster, names.FluxNamespace, w)
		p.tool = tool
		for _, arg := range slices.Concat(c.Command, c.Args) {
			// A command starts with a binary of the image; ours is another.
			if strings.HasPrefix(arg, "-") || len(p.args) > 0 {
				p.args = append(p.args, strings.ReplaceAll(arg, "$(RUNTIME_NAMESPACE)", w.namespace))
			}
		}
		p.read(c, w)
		return p, true
	}
	return plan{}, false
}

// listeners are the addresses of one controller; source is the storage server
// of its cluster's source-controller, the same for all of them.
type listeners struct{ metrics, health, source int }

func chooseListeners(book *ports.Book, p plan) (l listeners, err error) {
	err = book.Fill(map[string]*int{
		p.process + "-metrics": &l.metrics, p.process + "-health": &l.health, p.cluster + "-sources": &l.source,
	})
	return l, err
}

func (flux) spec(o Options, p plan, dir string, env []string) (process.Spec, error) {
	l, err := chooseListeners(o.Ports, p)
	if err != nil {
		return process.Spec{}, err
	}
	s := process.Spec{
		Name: p.process,
		Path: filepath.Join(o.Tools, p.tool),
		Args: adapt(p.args, p.tool, filepath.Join(dir, "data"), l),
		Env: slices.Concat(env, o.way(env), []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + o.Home, "TMPDIR=" + filepath.Join(dir, "tmp"), "TUF_ROOT=" + filepath.Join(dir, "tuf"),
			"KUBECONFIG=" + filepath.Join(dir, "kubeconfig"), "RUNTIME_NAMESPACE=" + p.namespace,
			"SOURCE_CONTROLLER_LOCALHOST=" + address(l.source),
		}),
		Dir:     dir,
		Ports:   []int{l.metrics, l.health},
		Healthy: process.HTTPHealthy(fmt.Sprintf("http://%s/readyz", address(l.health)), nil),
		Restart: true,
	}
	if p.tool == sourceController {
		s.Ports = append(s.Ports, l.source)
		s.Healthy = process.HTTPHealthy(fmt.Sprintf("http://%s/", address(l.source)), nil)
	}
	return s, nil
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
