package controllers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"tombolo/internal/names"
	"tombolo/lab/ports"
	"tombolo/lab/process"
)

// flux is the family of Flux's controllers.
type flux struct{}

// fluxControllers are those that the lab has as binaries, by the base name of
// their image.
var fluxControllers = []string{sourceController, "kustomize-controller", "helm-controller", notificationController}

const (
	sourceController       = "source-controller"
	notificationController = "notification-controller"
)

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
		p.args = asOlder(p.args, c.Image)
		p.read(c, w)
		return p, true
	}
	return plan{}, false
}

// strictSince is the first release of kustomize-controller that refuses a variable without
// a value; strictGate has later ones do as those before.
// https://github.com/fluxcd/kustomize-controller/blob/v1.9.0/CHANGELOG.md
const (
	strictSince = "v1.9.0"
	strictGate  = "StrictPostBuildSubstitutions="
)

// asOlder has the lab's kustomize-controller substitute as the release of an image does,
// when that is older.
func asOlder(args []string, image string) []string {
	version := imageTag(image)
	said := slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, strictGate) })
	if imageName(image) != "kustomize-controller" || !semver.IsValid(version) || semver.Compare(version, strictSince) >= 0 || said {
		return args
	}
	for i, arg := range args {
		if strings.HasPrefix(arg, "--feature-gates=") {
			args[i] = arg + "," + strictGate + "false"
			return args
		}
	}
	return append(args, "--feature-gates="+strictGate+"false")
}

// listeners are the ports of one controller. source is the storage server of its
// cluster's source-controller and events what its notification-controller is told of
// events at: the same for all of them. receiver is where notification-controller
// hears of pushes.
type listeners struct{ metrics, health, source, events, receiver int }

func chooseListeners(book *ports.Book, p plan) (l listeners, _ error) {
	wanted := map[string]*int{
		p.process + "-metrics": &l.metrics, p.process + "-health": &l.health,
		p.cluster + "-sources": &l.source, p.cluster + "-events": &l.events,
	}
	if p.tool == notificationController {
		wanted[p.process+"-receiver"] = &l.receiver
	}
	return l, book.Fill(wanted)
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
			o.search(env, os.Getenv(searched)), "HOME=" + o.Home, "TMPDIR=" + filepath.Join(dir, "tmp"), "TUF_ROOT=" + filepath.Join(dir, "tuf"),
			"KUBECONFIG=" + filepath.Join(dir, "kubeconfig"), "RUNTIME_NAMESPACE=" + p.namespace,
			"SOURCE_CONTROLLER_LOCALHOST=" + address(l.source),
			"SSL_CERT_FILE=" + o.CA, // of the hosts that the lab plays
		}),
		Dir:     dir,
		Ports:   []int{l.metrics, l.health},
		Healthy: process.HTTPHealthy(fmt.Sprintf("http://%s/readyz", address(l.health)), nil),
		Restart: true,
	}
	switch p.tool {
	case sourceController:
		s.Ports = append(s.Ports, l.source)
		s.Healthy = process.HTTPHealthy(fmt.Sprintf("http://%s/", address(l.source)), nil)
	case notificationController:
		s.Ports = append(s.Ports, l.events, l.receiver)
	}
	return s, nil
}

// adapted are the flags that mean something else on the host. Those with true
// take no value of their own.
var adapted = map[string]bool{
	"events-addr": false, "storage-path": false, "storage-addr": false, "storage-adv-addr": false,
	"requeue-dependency": false, "metrics-addr": false, "health-addr": false, "enable-leader-election": true,
	"receiverAddr": false,
}

// adapt replaces the flags of a container by those of a host process: free
// ports on loopback, its own storage and no election. Events go to the cluster's
// notification-controller when the workload has an address for them: a manifest without
// that controller has none.
func adapt(args []string, tool, storage string, l listeners) []string {
	var out []string
	events := ""
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		boolean, drop := adapted[name]
		if name == "events-addr" {
			events = value
			if !hasValue && i+1 < len(args) {
				events = args[i+1]
			}
		}
		switch {
		case !strings.HasPrefix(args[i], "-") || !drop:
			out = append(out, args[i])
		case !hasValue && !boolean && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			i++ // its value is the next argument
		}
	}
	out = append(out, "--enable-leader-election=false", "--metrics-addr="+address(l.metrics), "--health-addr="+address(l.health))
	if tool == notificationController {
		return append(out, "--events-addr="+address(l.events), "--receiverAddr="+address(l.receiver))
	}
	if events != "" {
		out = append(out, "--events-addr=http://"+address(l.events)+"/")
	}
	if tool == sourceController {
		return append(out, "--storage-path="+storage, "--storage-addr="+address(l.source), "--storage-adv-addr="+address(l.source))
	}
	// What depends on something not ready is looked at again after this time;
	// the usual 30s is made for many objects on a shared cluster.
	return append(out, "--requeue-dependency=1s")
}
