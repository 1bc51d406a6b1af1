package bootstrap

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/distribution"
	"tombolo/config"
)

// pullPasswordPath is where the cluster file refers to the password of the mirrors.
const pullPasswordPath = "egress.images.pullSecret.password"

// manifestOf is the engine's distribution as the cluster gets it: what was released, changed
// so that no team has it run a command, and that it goes by the file's egress. Files for Git are
// made of the same.
func manifestOf(ctx context.Context, product distribution.Product, c *config.Cluster) ([]byte, error) {
	manifest, err := product.Load(ctx, source(c))
	if err == nil {
		manifest, err = product.Environment.Set(manifest)
	}
	if err != nil {
		return nil, err
	}
	return engineEgress(c).Change(manifest)
}

func engineEgress(c *config.Cluster) distribution.Egress {
	e := c.Egress
	out := distribution.Egress{
		Proxy: e.Proxy.URL, CertificateAuthority: e.Certificates(), Mirrors: e.Images.Mirrors, PullSecret: e.Images.PullSecret != nil,
	}
	if out.Proxy != "" {
		out.NoProxy = c.NoProxy()
	}
	return out
}

// pullConfig has the credentials for the engine's images; nil for none.
func (p *program) pullConfig() (pulumi.StringInput, error) {
	images := p.c.Egress.Images
	if images.PullSecret == nil {
		return nil, nil
	}
	password, err := p.secrets().resolve(pullPasswordPath, images.PullSecret.Password)
	if err != nil {
		return nil, err
	}
	return password.ToStringOutput().ApplyT(func(password string) (string, error) {
		return dockerConfig(images, password)
	}).(pulumi.StringOutput), nil
}

// dockerConfig has the credentials for every mirror, by its host. Source of the form:
// https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/
func dockerConfig(images config.ImageSources, password string) (string, error) {
	user := images.PullSecret.Username
	auths := map[string]any{}
	for _, host := range images.MirrorHosts() {
		auths[host] = map[string]string{
			"username": user, "password": password, "auth": base64.StdEncoding.EncodeToString([]byte(user + ":" + password)),
		}
	}
	text, err := json.Marshal(map[string]any{"auths": auths})
	return string(text), err
}
