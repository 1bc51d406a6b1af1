package controllers

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"tombolo/internal/names"
	"tombolo/lab/process"
)

// argocd is the family of Argo CD's workloads. Their pods are told apart by
// the command they run, and each becomes one process, whatever its number of
// replicas. Not among them is dex: the lab has no sign-in, and its pod is Ready by
// kwok alone.
type argocd struct{}

// The programs of Argo CD. All but Redis's are one binary by several names.
const (
	applicationController    = "argocd-application-controller"
	applicationSetController = "argocd-applicationset-controller"
	repoServer               = "argocd-repo-server"
	argocdServer             = "argocd-server"
	notificationsController  = "argocd-notifications"
	argocdRedis              = "argocd-redis"
)

func (f argocd) plan(cluster string, w workload) (plan, bool) {
	p := newPlan(f, cluster, names.ArgoCDNamespace, w)
	p.inits = argocdInits(w.template.Spec.InitContainers)
	for _, c := range w.template.Spec.Containers {
		words := slices.Concat(c.Command, c.Args)
		switch i := slices.IndexFunc(words, isArgoCD); {
		case i >= 0:
			p.tool, p.args = path.Base(words[i]), words[i+1:]
			p.read(c, w)
			p.env = slices.DeleteFunc(p.env, notOnHost)
			return p, true
		case isRedis(w, c):
			// Its own arguments are another program's.
			p.tool, p.env = argocdRedis, []corev1.EnvVar{redisPassword()}
			return p, true
		}
	}
	return plan{}, false
}

func isArgoCD(word string) bool {
	return slices.Contains([]string{applicationController, applicationSetController, repoServer, argocdServer, notificationsController}, path.Base(word))
}

// isRedis says whether a container is what Argo CD's programs reach as Redis:
// Redis itself, or where several replicate, the proxy in front of them.
func isRedis(w workload, c corev1.Container) bool {
	return w.kind == deployment && w.labels["app.kubernetes.io/part-of"] == "argocd" &&
		w.labels["app.kubernetes.io/component"] == "redis" && slices.Contains([]string{"redis", "haproxy"}, imageName(c.Image))
}

// notOnHost says whether a variable means something else on the host: the address of the
// server's metrics, which renames the flag for it.
func notOnHost(e corev1.EnvVar) bool { return e.Name == "ARGOCD_SERVER_METRICS_LISTEN_ADDRESS" }

// redisPassword is where Argo CD keeps the password; the init container of
// Redis makes it.
func redisPassword() corev1.EnvVar {
	return corev1.EnvVar{Name: "REDIS_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "argocd-redis"}, Key: "auth",
	}}}
}

// argocdInits are the init containers that call Argo CD's command. The others
// copy files from one image to another.
func argocdInits(containers []corev1.Container) []invocation {
	var inits []invocation
	for _, c := range containers {
		words := slices.Concat(c.Command, c.Args)
		if len(words) > 0 && path.Base(words[0]) == "argocd" {
			inits = append(inits, invocation{tool: "argocd", args: words[1:]})
		}
	}
	return inits
}

// argocdPorts are those of one process, and of the two that others call.
type argocdPorts struct{ main, metrics, webhook, redis, repo int }

func (o Options) argocdPorts(p plan) (n argocdPorts, err error) {
	shared := p.cluster + "-" + p.namespace + "-"
	err = o.Ports.Fill(map[string]*int{
		p.process + "-main": &n.main, p.process + "-metrics": &n.metrics, p.process + "-webhook": &n.webhook,
		shared + argocdRedis: &n.redis, shared + repoServer: &n.repo,
	})
	return n, err
}

func (argocd) spec(o Options, p plan, dir string, env []string) (process.Spec, error) {
	n, err := o.argocdPorts(p)
	if err != nil {
		return process.Spec{}, err
	}
	s := process.Spec{
		Name: p.process, Path: filepath.Join(o.Tools, p.tool), Dir: dir, Restart: true,
		Env: slices.Concat(env, o.argocdEnv(p, dir, env)),
	}
	if _, err := os.Stat(s.Path); err != nil {
		return s, fmt.Errorf("%s is missing (%s)", p.tool, s.Path)
	}
	own := n.flags(p.tool)
	s.Args = append(slices.Clone(p.args), own...) // the last of two wins
	if p.tool == argocdRedis {
		s.Args = own // the workload's are another program's
	}
	s.Ports, s.Healthy = n.listens(p.tool, slices.Contains(env, "ARGOCD_SERVER_INSECURE=true") || slices.Contains(p.args, "--insecure"))
	return s, nil
}

// flags put a program on the host: free ports on loopback, and the addresses
// of those it calls.
func (n argocdPorts) flags(tool string) []string {
	redis, repo := "--redis="+address(n.redis), "--repo-server="+address(n.repo)
	switch tool {
	case argocdRedis:
		return []string{number("--port", n.redis)}
	case repoServer:
		return []string{
			"--address=127.0.0.1", number("--port", n.repo),
			"--metrics-address=127.0.0.1", number("--metrics-port", n.metrics), redis,
		}
	case argocdServer:
		return []string{
			"--address=127.0.0.1", number("--port", n.main),
			"--metrics-address=127.0.0.1", number("--metrics-port", n.metrics), redis, repo,
		}
	case notificationsController:
		return []string{number("--metrics-port", n.metrics), "--argocd-repo-server=" + address(n.repo)}
	case applicationSetController:
		return []string{
			"--metrics-addr=" + address(n.metrics), "--probe-addr=" + address(n.main), "--webhook-addr=" + address(n.webhook),
			"--argocd-repo-server=" + address(n.repo), "--enable-leader-election=false",
		}
	}
	return []string{number("--metrics-port", n.metrics), redis, repo} // the application controller's
}

func number(flag string, n int) string { return flag + "=" + strconv.Itoa(n) }

// listens says which ports a program listens on, and when it is healthy.
func (n argocdPorts) listens(tool string, insecure bool) ([]int, func(context.Context) error) {
	metrics := "http://" + address(n.metrics)
	switch tool {
	case argocdRedis:
		return []int{n.redis}, process.Listening(n.redis)
	case repoServer:
		return []int{n.repo, n.metrics}, process.HTTPHealthy(metrics+"/healthz?full=true", nil)
	case notificationsController:
		return []int{n.metrics}, process.HTTPHealthy(metrics+"/metrics", nil)
	case applicationSetController:
		return []int{n.main, n.metrics, n.webhook}, process.HTTPHealthy(metrics+"/metrics", nil)
	case argocdServer:
		scheme := "https"
		if insecure {
			scheme = "http"
		}
		// It signs its certificate itself, and this is its own machine.
		trust := &tls.Config{InsecureSkipVerify: true}
		return []int{n.main, n.metrics}, process.HTTPHealthy(scheme+"://"+address(n.main)+"/healthz", trust)
	}
	return []int{n.metrics}, process.HTTPHealthy(metrics+"/healthz", nil)
}

// argocdEnv is the environment on the host, over the workload's own.
func (o Options) argocdEnv(p plan, dir string, env []string) []string {
	data, helm := filepath.Join(dir, "data"), filepath.Join(dir, "tmp", "helm")
	way := o.way(env)
	return append(slices.Clone(way),
		"http_proxy="+lookup(way, "HTTP_PROXY"), // git takes no other for http://
		o.search(env, o.Bin, o.Tools, os.Getenv(searched)),
		"SSL_CERT_FILE="+o.CA, "GIT_SSL_CAINFO="+o.CA, // of the hosts that the lab plays
		"HOME="+o.Home, "TMPDIR="+filepath.Join(dir, "tmp"), "KUBECONFIG="+filepath.Join(dir, "kubeconfig"),
		// The kubeconfig is how the cluster it runs in is reached.
		"ARGOCD_FAKE_IN_CLUSTER=true",
		// One process has every cluster, however many would share them.
		"ARGOCD_CONTROLLER_REPLICAS=1",
		// Signatures need a keyring of the image's.
		"ARGOCD_GPG_ENABLED=false",
		"ARGOCD_ASK_PASS_SOCK="+o.socket(p.process),
		// What a pod has in volumes. Those of certificates are empty here.
		"ARGOCD_PLUGINSOCKFILEPATH="+data, "ARGOCD_TLS_DATA_PATH="+data, "ARGOCD_SSH_DATA_PATH="+data,
		"HELM_CACHE_HOME="+helm, "HELM_CONFIG_HOME="+helm, "HELM_DATA_HOME="+helm, "KUBECACHEDIR="+filepath.Join(dir, "tmp", "kube"),
	)
}

// socket is a path for a process's socket, as short as can be told apart:
// systems limit it to a hundred bytes.
func (o Options) socket(process string) string {
	sum := sha256.Sum256([]byte(process))
	return filepath.Join(o.Sockets, hex.EncodeToString(sum[:4]))
}
