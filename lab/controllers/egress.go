package controllers

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/internal/file"
)

// inside are what a process reaches without any proxy.
const inside = "127.0.0.1,localhost"

// way is the environment by which a process goes out; env is the workload's own. A proxy that the
// workload names is taken when it is one of this machine: any other name means something in a
// cluster's network alone.
func (o Options) way(env []string) []string {
	direct, out := inside, []string{}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		by := o.Proxy
		if own := lookup(env, name); ofThisMachine(own) {
			by, direct = own, strings.Trim(inside+","+lookup(env, "NO_PROXY"), ",")
		}
		out = append(out, name+"="+by)
	}
	return append(out, "NO_PROXY="+direct)
}

func ofThisMachine(proxy string) bool {
	u, err := url.Parse(proxy)
	return err == nil && u.Hostname() == "127.0.0.1"
}

// lookup is the last value of a variable.
func lookup(env []string, name string) (value string) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// mount is a ConfigMap in a container's files, to which a variable of its environment leads.
type mount struct{ path, volume, configMap string }

// mountsOf a container.
func mountsOf(c corev1.Container, volumes []corev1.Volume) []mount {
	var out []mount
	for _, m := range c.VolumeMounts {
		i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == m.Name && v.ConfigMap != nil })
		named := slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return below(e.Value, m.MountPath) })
		if i >= 0 && named {
			out = append(out, mount{m.MountPath, m.Name, volumes[i].ConfigMap.Name})
		}
	}
	return out
}

func below(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// read takes the environment of a workload's container, and the mounts to which it leads. Any
// other path means something in the image alone, but for PATH: see search.
func (p *plan) read(c corev1.Container, w workload) {
	p.mounts = mountsOf(c, w.template.Spec.Volumes)
	p.env = slices.DeleteFunc(slices.Clone(c.Env), func(e corev1.EnvVar) bool {
		return e.Name != searched && path.IsAbs(e.Value) && !slices.ContainsFunc(p.mounts, func(m mount) bool { return below(e.Value, m.path) })
	})
}

// onHost is the environment with the mounts in the process's own directory.
func (p plan) onHost(dir string) []corev1.EnvVar {
	env := slices.Clone(p.env)
	for i, e := range env {
		for _, m := range p.mounts {
			if below(e.Value, m.path) {
				env[i].Value = filepath.Join(dir, "volumes", m.volume, strings.TrimPrefix(e.Value, m.path))
			}
		}
	}
	return env
}

// mount writes what a process reads of ConfigMaps.
func (w *watch) mount(ctx context.Context, p plan, dir string) error {
	for _, m := range p.mounts {
		object, err := w.client.CoreV1().ConfigMaps(p.namespace).Get(ctx, m.configMap, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("MountVolume.SetUp failed for volume %q: configmap %q not found", m.volume, m.configMap)
		}
		if err != nil {
			return fmt.Errorf("read ConfigMap %s/%s: %w", p.namespace, m.configMap, err)
		}
		at := filepath.Join(dir, "volumes", m.volume)
		if err := os.MkdirAll(at, 0o700); err != nil {
			return fmt.Errorf("make a volume: %w", err)
		}
		for name, text := range object.Data {
			if err := file.Replace(filepath.Join(at, name), []byte(text), 0o600); err != nil {
				return fmt.Errorf("write a volume: %w", err)
			}
		}
	}
	return nil
}
