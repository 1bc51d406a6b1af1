package bootstrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumiconfig "github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"

	"tombolo/config"
	"tombolo/internal/file"
)

// secrets resolves the cluster file's references to secrets. What it returns is
// always a Pulumi secret: state holds it encrypted, and no output shows it.
type secrets struct {
	ctx     *pulumi.Context
	cluster *config.Cluster
	env     map[string]string
	// unknown says that none is read, in a preview.
	unknown bool
}

// gitAuth is gitops.auth, for either engine: user name and password, or private
// key and known hosts.
type gitAuth struct {
	username, password, privateKey pulumi.StringInput
	knownHosts                     string
}

func (p *program) secrets() secrets {
	return secrets{ctx: p.ctx, cluster: p.c, env: p.o.Env, unknown: p.o.WithoutSecrets}
}

// auth is nil when the file has none.
func (s secrets) auth(a *config.Auth) (*gitAuth, error) {
	if a == nil {
		return nil, nil
	}
	switch a.Type {
	case config.AuthBasic:
		password, err := s.resolve("gitops.auth.password", a.Password)
		if err != nil {
			return nil, err
		}
		return &gitAuth{username: pulumi.String(a.Username), password: password}, nil
	case config.AuthSSH:
		key, err := s.resolve("gitops.auth.privateKey", a.PrivateKey)
		if err != nil {
			return nil, err
		}
		return &gitAuth{privateKey: key, knownHosts: a.KnownHosts}, nil
	default:
		return nil, fmt.Errorf("gitops.auth.type: %q is unknown; expected basic or ssh", a.Type)
	}
}

// resolve reads the secret that ref refers to; path is where ref is in the
// cluster file, for errors. No error holds the secret.
func (s secrets) resolve(path string, ref *config.SecretRef) (pulumi.StringInput, error) {
	if s.unknown {
		return pulumi.UnsafeUnknownOutput(nil).ApplyT(func(any) string { return "" }).(pulumi.StringOutput), nil
	}
	if ref != nil && ref.Config != "" {
		value, err := pulumiconfig.New(s.ctx, "").TrySecret(ref.Config)
		if err != nil {
			return nil, fmt.Errorf("%s: stack %s has no secret %s; set it: pulumi config set --secret %s -s %s",
				path, s.ctx.Stack(), ref.Config, ref.Config, s.ctx.Stack())
		}
		return value, nil
	}
	value, err := s.read(path, ref)
	if err != nil {
		return nil, err
	}
	return pulumi.ToSecret(pulumi.String(value)).(pulumi.StringOutput), nil
}

// ReadSecret reads a secret that is kept outside of Pulumi, as the program does; path is where ref
// is in the cluster file, for errors.
func ReadSecret(c *config.Cluster, env map[string]string, path string, ref *config.SecretRef) (string, error) {
	return secrets{cluster: c, env: env}.read(path, ref)
}

// read reads a secret that is kept outside of Pulumi.
func (s secrets) read(path string, ref *config.SecretRef) (string, error) {
	switch {
	case ref == nil:
		return "", fmt.Errorf("%s is required", path)
	case ref.Env != "":
		value := s.lookup(ref.Env)
		// Azure Pipelines writes $(NAME) in the place of a variable that is not there. Source:
		// learn.microsoft.com/azure/devops/pipelines/process/variables, "Runtime parsing of variables".
		if value == "" || value == "$("+ref.Env+")" {
			return "", fmt.Errorf("%s: the environment variable %s is not set", path, ref.Env)
		}
		return value, nil
	case ref.File != "":
		return s.file(path, ref.File)
	default:
		return "", fmt.Errorf("%s says neither config nor env nor file", path)
	}
}

func (s secrets) lookup(name string) string {
	if value, ok := s.env[name]; ok {
		return value
	}
	return os.Getenv(name)
}

// maxSecret is more than a secret has that Kubernetes takes, in bytes
// (MaxSecretSize in k8s.io/api/core/v1: 1 MiB).
const maxSecret = 1 << 20

// file reads a secret; the line's end that editors add belongs to the file.
func (s secrets) file(path, name string) (string, error) {
	name, err := config.NamedFile(s.cluster.File, name)
	if err != nil {
		return "", fmt.Errorf("%s: %w; keep it in the project, or name its directory in %s", path, err, config.SecretDirs)
	}
	content, err := file.Read(name, maxSecret)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: the file %s does not exist; paths are relative to the cluster file", path, name)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	text := string(content)
	if !strings.Contains(text, "-----BEGIN ") {
		// A PEM key keeps its last line's end; ssh wants it.
		text = strings.TrimRight(text, "\r\n")
	}
	if text == "" {
		return "", fmt.Errorf("%s: the file %s is empty", path, name)
	}
	return text, nil
}
