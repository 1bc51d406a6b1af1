package controllers

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// environment resolves the variables of a container as the kubelet does when
// it starts one: a later change of a ConfigMap or a Secret is not seen until
// the next start. What only a pod has, such as its own address and limits, is
// left out.
func environment(ctx context.Context, client kubernetes.Interface, namespace string, env []corev1.EnvVar) ([]string, error) {
	objects := references{client: client, namespace: namespace, found: map[string]map[string]string{}}
	var resolved []string
	for _, e := range env {
		value, ok, err := objects.value(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("resolve %s of the environment: %w", e.Name, err)
		}
		if ok {
			resolved = append(resolved, e.Name+"="+value)
		}
	}
	return resolved, nil
}

// searched is the variable with the directories in which a process finds programs.
const searched = "PATH"

// ofImages is the directory in which images have their own programs: the tools, here.
const ofImages = "/usr/local/bin"

// search is PATH of a process: what its workload says, so that a program that its container
// would not find is not found here either, and what that has is. Directories of the system are
// this machine's own. Without a word of the workload it is usual, as an image has all it needs.
func (o Options) search(env []string, usual ...string) string {
	dirs := usual
	if own := lookup(env, searched); own != "" {
		dirs = filepath.SplitList(own)
		for i, dir := range dirs {
			if filepath.Clean(dir) == ofImages {
				dirs[i] = o.Tools
			}
		}
	}
	return searched + "=" + strings.Join(dirs, string(filepath.ListSeparator))
}

// references are the ConfigMaps and Secrets of a namespace that an environment
// refers to. Each is read once.
type references struct {
	client    kubernetes.Interface
	namespace string
	found     map[string]map[string]string // data by kind/name; nil for one that does not exist
}

// value of a variable; false when it has none.
func (r references) value(ctx context.Context, e corev1.EnvVar) (_ string, ok bool, _ error) {
	from := e.ValueFrom
	switch {
	case from == nil:
		return e.Value, true, nil
	case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
		return r.namespace, true, nil
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		data, err := r.data(ctx, "configmap", ref.Name, r.configMap)
		return pick(data, err, ref.Key, ref.Name, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		data, err := r.data(ctx, "secret", ref.Name, r.secret)
		return pick(data, err, ref.Key, ref.Name, ref.Optional)
	}
	return "", false, nil
}

// pick takes a key out of an object's data; without it, only an optional
// reference is no error.
func pick(data map[string]string, err error, key, name string, optional *bool) (string, bool, error) {
	if err != nil {
		return "", false, err
	}
	if value, ok := data[key]; ok {
		return value, true, nil
	}
	if optional != nil && *optional {
		return "", false, nil
	}
	return "", false, fmt.Errorf("there is no key %s in %s yet", key, name)
}

func (r references) data(ctx context.Context, kind, name string, read func(context.Context, string) (map[string]string, error)) (map[string]string, error) {
	id := kind + "/" + name
	if data, ok := r.found[id]; ok {
		return data, nil
	}
	data, err := read(ctx, name)
	if apierrors.IsNotFound(err) {
		data, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", kind, r.namespace, name, err)
	}
	r.found[id] = data
	return data, nil
}

func (r references) configMap(ctx context.Context, name string) (map[string]string, error) {
	object, err := r.client.CoreV1().ConfigMaps(r.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return object.Data, nil
}

func (r references) secret(ctx context.Context, name string) (map[string]string, error) {
	object, err := r.client.CoreV1().Secrets(r.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	data := make(map[string]string, len(object.Data))
	for key, value := range object.Data {
		data[key] = string(value)
	}
	return data, nil
}
