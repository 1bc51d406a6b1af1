package bootstrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumiconfig "github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"

	"tombolo/components/channel"
	"tombolo/components/distribution"
	"tombolo/components/sealingkey"
	"tombolo/config"
	"tombolo/internal/file"
	"tombolo/internal/githubapp"
	"tombolo/internal/names"
	"tombolo/stacks/catalog"
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

func (p *program) secrets() secrets {
	return secrets{ctx: p.ctx, cluster: p.c, env: p.o.Env, unknown: p.o.WithoutSecrets}
}

// auth is gitops.auth for either engine; nil when the file has none.
func (s secrets) auth(g config.GitOps) (*distribution.Auth, error) {
	a := g.Auth
	if a == nil {
		return nil, nil
	}
	switch a.Type {
	case config.AuthBasic:
		password, err := s.resolve("gitops.auth.password", a.Password)
		if err != nil {
			return nil, err
		}
		return &distribution.Auth{Username: pulumi.String(a.Username), Password: password}, nil
	case config.AuthSSH, config.AuthGitHubApp:
		key, err := s.resolve(gitKeyPath, a.PrivateKey)
		if err != nil {
			return nil, err
		}
		out := &distribution.Auth{PrivateKey: key, KnownHosts: a.KnownHosts}
		if a.Type == config.AuthGitHubApp {
			out.App = &distribution.App{ID: a.AppID, InstallationID: a.InstallationID, API: g.GitHubAPI()}
		}
		return out, nil
	default:
		return nil, unknownAuth(a.Type)
	}
}

// gitKeyPath is where the cluster file refers to a private key for the repository.
const gitKeyPath = "gitops.auth.privateKey"

func unknownAuth(t config.AuthType) error {
	return fmt.Errorf("gitops.auth.type: %q is unknown; expected basic, ssh, github-app or workload-identity", t)
}

// checkGitKey reads the private key of a GitHub App that is kept outside of Pulumi.
func (s secrets) checkGitKey(a *config.Auth) error {
	if a.PrivateKey == nil || a.PrivateKey.Config != "" {
		return nil
	}
	text, err := s.read(gitKeyPath, a.PrivateKey)
	if err != nil || a.Type != config.AuthGitHubApp {
		return err
	}
	if _, err := githubapp.ParseKey(text); err != nil {
		return fmt.Errorf("%s %w; take the file that GitHub gave when the key was made", gitKeyPath, err)
	}
	return nil
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

// channelAddressPath is where the cluster file refers to the address of the platform's channel.
const channelAddressPath = "gitops.channel.address"

// channel makes the Secrets with the address of the platform's channel, if the file has one.
func (p *program) channel(inside pulumi.ResourceOption) ([]pulumi.Resource, error) {
	c := p.c.GitOps.Channel
	if c == nil {
		return nil, nil
	}
	address, err := p.secrets().resolve(channelAddressPath, c.Address)
	if err != nil {
		return nil, err
	}
	namespaces := channelNamespaces(p.c)
	if len(namespaces) == 0 {
		return nil, nil // only notices go there
	}
	made, err := channel.NewChannel(p.ctx, p.c.Name, &channel.Args{Namespaces: namespaces, Address: address}, p.own.provider, inside)
	if err != nil {
		return nil, err
	}
	return made.Resources, nil
}

// channelNamespaces are those of Flux's notification-controller and of Alertmanager.
func channelNamespaces(c *config.Cluster) []string {
	var out []string
	if c.GitOps.Engine == config.Flux {
		out = append(out, names.FluxNamespace)
	}
	for _, a := range c.Addons.Enabled() {
		if a.Name == config.PrometheusAddon {
			out = append(out, a.Namespace)
		}
	}
	return out
}

// ChannelAddress reads the address of the platform's channel, for who writes to it besides the
// cluster; kept reads a key of the bootstrap stack's encrypted config. No error holds any of it.
func ChannelAddress(c *config.Cluster, env map[string]string, kept func(key string) (string, error)) (string, error) {
	if c.GitOps.Channel == nil {
		return "", fmt.Errorf("%s has no gitops.channel", c.Name)
	}
	address, err := secrets{cluster: c, env: env}.plain(channelAddressPath, c.GitOps.Channel.Address, kept)
	if err != nil {
		return "", err
	}
	if err := names.CheckChannel(address); err != nil {
		return "", fmt.Errorf("%s: %w", channelAddressPath, err)
	}
	return address, nil
}

// GitCredentials resolves gitops.auth; nil when the file has none, or an identity, which the engine's
// pods alone have. kept reads a key of the bootstrap stack's encrypted config. No error holds a secret.
func GitCredentials(c *config.Cluster, env map[string]string, kept func(key string) (string, error)) (*catalog.Credentials, error) {
	auth := c.GitOps.Auth
	if auth == nil || c.GitOps.ByIdentity() {
		return nil, nil
	}
	s := secrets{cluster: c, env: env}
	plain := func(path string, ref *config.SecretRef) (string, error) { return s.plain(path, ref, kept) }
	var out catalog.Credentials
	var err error
	switch auth.Type {
	case config.AuthBasic:
		out.Username = auth.Username
		out.Password, err = plain("gitops.auth.password", auth.Password)
	case config.AuthSSH:
		out.KnownHosts = auth.KnownHosts
		out.PrivateKey, err = plain(gitKeyPath, auth.PrivateKey)
	case config.AuthGitHubApp:
		out.App = &githubapp.App{ID: auth.AppID, Installation: auth.InstallationID, API: c.GitOps.GitHubAPI()}
		out.App.Key, err = plain(gitKeyPath, auth.PrivateKey)
	default:
		err = unknownAuth(auth.Type)
	}
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// plain reads a secret as text; kept reads a key of the bootstrap stack's encrypted config.
func (s secrets) plain(path string, ref *config.SecretRef, kept func(key string) (string, error)) (string, error) {
	if ref == nil || ref.Config == "" {
		return s.read(path, ref)
	}
	value, err := kept(ref.Config)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}

// Where the cluster file refers to the key of Sealed Secrets, and to its certificate.
const (
	sealingKeyPath         = "gitops.sealedSecrets.key"
	sealingCertificatePath = "gitops.sealedSecrets.certificate"
)

// seal makes the key of Sealed Secrets, if the file has one: no resource without.
func (p *program) seal(inside pulumi.ResourceOption) ([]pulumi.Resource, error) {
	s := p.c.GitOps.SealedSecrets
	if s == nil {
		return nil, nil
	}
	key, err := p.secrets().resolve(sealingKeyPath, s.Key)
	if err != nil {
		return nil, err
	}
	certificate, err := p.secrets().resolve(sealingCertificatePath, s.Certificate)
	if err != nil {
		return nil, err
	}
	made, err := sealingkey.NewSealingKey(p.ctx, p.c.Name, &sealingkey.Args{Key: key, Certificate: certificate}, p.own.provider, inside)
	if err != nil {
		return nil, err
	}
	return made.Resources, nil
}

// checkSealing reads what is kept outside of Pulumi, and holds the key to its certificate
// when both are.
func (s secrets) checkSealing() error {
	ref := s.cluster.GitOps.SealedSecrets
	if ref == nil {
		return nil
	}
	if ref.Key.Config != "" || ref.Certificate.Config != "" {
		if err := s.check(sealingKeyPath, ref.Key, nil); err != nil {
			return err
		}
		return s.check(sealingCertificatePath, ref.Certificate, nil)
	}
	key, err := s.read(sealingKeyPath, ref.Key)
	if err != nil {
		return err
	}
	certificate, err := s.read(sealingCertificatePath, ref.Certificate)
	if err != nil {
		return err
	}
	return sealingkey.Check(key, certificate)
}
