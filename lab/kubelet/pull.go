package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// pullTimeout is how long a registry may take to answer.
const pullTimeout = 10 * time.Second

// login of a registry.
type login struct {
	Username string `json:"username"`
	Password string `json:"password"`
	Auth     string `json:"auth"` // base64 of both; what kubectl writes besides
}

// pull looks an image up as containerd does before it fetches the layers, by the registry's
// API: https://github.com/opencontainers/distribution-spec/blob/main/spec.md
func pull(ctx context.Context, image string, node Egress, logins map[string]login, proxies map[string]string) error {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return fmt.Errorf("couldn't parse image name %q: %w", image, err)
	}
	endpoint, mirrored := node.Endpoints[reference.Domain(named)]
	if !mirrored {
		endpoint = "https://" + reference.Domain(named) + "/v2"
	}
	tag := "latest"
	if t, ok := named.(reference.Tagged); ok {
		tag = t.Tag()
	}
	if d, ok := named.(reference.Digested); ok {
		tag = d.Digest().String()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, endpoint+"/"+reference.Path(named)+"/manifests/"+tag, nil)
	if err != nil {
		return err
	}
	// A login is by the name in the image, and goes to no mirror of another name.
	if l, ok := logins[reference.Domain(named)]; ok && !mirrored {
		request.SetBasicAuth(l.Username, l.Password)
	}
	response, err := node.client(proxies).Do(request)
	if err != nil {
		return fmt.Errorf("failed to resolve reference %q: %w", named, hidden(err))
	}
	response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusUnauthorized:
		return fmt.Errorf("failed to resolve reference %q: pull access denied, it may require authorization", named)
	}
	return fmt.Errorf("failed to resolve reference %q: unexpected status %s", named, response.Status)
}

// hidden is an error without the URL of the lab's own port, which has a password.
func hidden(err error) error {
	if e := new(url.Error); errors.As(err, &e) {
		return fmt.Errorf("%s: %w", e.URL, e.Err)
	}
	return err
}

// loginsOf a pod are those of its own pull secrets and of its service account's, by host.
func loginsOf(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) (map[string]login, error) {
	out := map[string]login{}
	for _, ref := range pod.Spec.ImagePullSecrets { // admission has put the service account's here
		secret, err := client.CoreV1().Secrets(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			continue // the kubelet tries without it, too
		}
		var config struct {
			Auths map[string]login `json:"auths"`
		}
		if err := json.Unmarshal(secret.Data[corev1.DockerConfigJsonKey], &config); err != nil {
			return nil, fmt.Errorf("read pull secret %s: %w", ref.Name, err)
		}
		for host, l := range config.Auths {
			if decoded, err := decode(l.Auth); err == nil && l.Username == "" {
				l.Username, l.Password, _ = strings.Cut(decoded, ":")
			}
			out[strings.TrimPrefix(host, "https://")] = l
		}
	}
	return out, nil
}
