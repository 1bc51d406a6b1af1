// Package catalog is what is said to the programs of stacks, and what they say. The programs
// themselves are in stacks/programs, which takes every provider's SDK along.
package catalog

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/internal/githubapp"
	"tombolo/stacks"
	"tombolo/stacks/core/live"
)

// Programs are the programs of all stacks, and what else is known of what they make. programs.All
// returns it; tests have one of their own.
type Programs struct {
	// Of is the program of a stack of a cluster, or of an account that a cluster stands for.
	Of func(c *config.Cluster, k stacks.Kind, o Options) (pulumi.RunFunc, error)
	// Preflight checks what the programs of a cluster's stacks will need besides its file,
	// before the first of them starts. All problems are reported together.
	Preflight func(ctx context.Context, c *config.Cluster, o Options) error
	// Live is what the resources of a core stack tell of the cluster file that they were made
	// from; nil when no cluster lives.
	Live func(c *config.Cluster, all live.Resources) *config.Live
	// CheckValues holds the values that a cluster file takes from other stacks to the outputs
	// that these have, by the whole names of the stacks, with secrets masked, and reads the
	// states of Terraform, with env before the process's environment: all but those of
	// Parameter Store. The error is strict.Problems.
	CheckValues func(ctx context.Context, c *config.Cluster, outputs map[string]map[string]any, env map[string]string) error
	// ContentsOf works out what GitOps reads on a cluster where core has these outputs, and
	// these values were read from other stacks and from Parameter Store.
	ContentsOf func(ctx context.Context, c *config.Cluster, outputs, read map[string]any) (Contents, error)
	// Roles are those that others can make in place of core; none in a cloud that has no such
	// roles. issuer is the URL of the cluster's OIDC issuer, "" when it is not known.
	Roles func(c *config.Cluster, issuer string) ([]RoleDocument, error)
	// TerraformNetwork reads the network that a state of Terraform or OpenTofu has, with env before the process's environment.
	// Paths of files start from dir. of is the id of the VPC or subnet where the state has several, or "".
	TerraformNetwork func(ctx context.Context, dir, address, of string, env map[string]string) (TerraformNetwork, error)
	// GitFiles are the files by which the cluster's engine manages itself from the cluster's
	// repository, by their name below gitops.path. Those in that directory itself bring the others;
	// without any, the directories of the others are what the tree lists.
	GitFiles func(ctx context.Context, c *config.Cluster) (map[string][]byte, error)

	// ReadSecret reads a secret that is kept outside of Pulumi, as bootstrap does; path is the
	// key of the file that refers to it, for errors. No error of it, and of the next three,
	// holds a secret.
	ReadSecret func(c *config.Cluster, env map[string]string, path string, ref *config.SecretRef) (string, error)
	// GitCredentials resolves gitops.auth; nil when the file has none, or an identity.
	GitCredentials func(c *config.Cluster, env map[string]string, kept Kept) (*Credentials, error)
	// ChannelAddress is the address of the platform's channel.
	ChannelAddress func(c *config.Cluster, env map[string]string, kept Kept) (string, error)
	// HubKubeconfig is for the cluster's external hub.
	HubKubeconfig func(c *config.Cluster, env map[string]string, kept Kept) ([]byte, error)
}

// TerraformNetwork is a network for network.existing, with the Region and Account that it is in, "" where the state does not
// say so, its way out in Azure, and the subnets that have none and are Isolated.
type TerraformNetwork struct {
	Existing        config.ExistingNetwork
	Outbound        config.Outbound
	Region, Account string
	Isolated        []string
}

// Options of a program.
type Options struct {
	// Placeholders stand for core's outputs in a preview of bootstrap, when
	// core does not have them yet. They cannot be applied.
	Placeholders bool
	// Predicted are core's outputs as a preview of core has just told them, for
	// a preview of bootstrap that shows what follows. They cannot be applied.
	Predicted map[string]any
	// Told says that Predicted, and PredictedHub of a spoke's hub, are all that is known
	// of these outputs: the backend of the run has neither stack.
	Told         bool
	PredictedHub map[string]any
	// ToldStacks are the outputs of the stacks that the cluster file takes values from,
	// by their whole names, with secrets masked, when the backend of the run does not
	// have these stacks, or not as they will be. Nil when it has them. A stack that has nil
	// itself comes before in the order, and its outputs are not known.
	ToldStacks map[string]map[string]any
	// WithoutSecrets takes the secrets that the cluster file names as unknown, in a preview.
	WithoutSecrets bool
	// New says that the stack has no resources: bootstrap hands over what it makes of the
	// engine's distribution in the same run.
	New bool
	// Hub is the cluster that config.LoadHub returns for a spoke. Default: it
	// is loaded from beside the spoke's file.
	Hub *config.Cluster
	// Env is the environment of the run, before the process's own: secrets
	// are read from it, and the AWS CLI runs in it. May be nil.
	Env map[string]string
	// Backend is the URL of the state, whose fingerprint marks what core makes.
	// Default: where Pulumi looks, by variable, project and login.
	Backend string
}

// Contents is what GitOps reads on a cluster: texts by object, as namespace/name, and
// key.
type Contents struct {
	// Data of the ConfigMaps.
	Data map[string]map[string]string
	// Annotations of the registration with Argo CD.
	Annotations map[string]map[string]string
}

// Credentials are gitops.auth in plain text, for who reads and writes the
// repository as the engine does: Username and Password, or PrivateKey and
// KnownHosts, or App.
type Credentials struct {
	Username, Password     string
	PrivateKey, KnownHosts string
	App                    *githubapp.App
}

// Kept reads a key of a bootstrap stack's encrypted config.
type Kept = func(key string) (string, error)

// RoleDocument is a role of a cluster that cloud.roles.given can name, as its owner has to
// make it. Trust and Policy are documents of IAM in JSON.
type RoleDocument struct {
	// Key of the cluster file, such as cloud.roles.given.nodes.
	Key string `json:"key"`
	// ARN that the file has there; "" has core make the role.
	ARN string `json:"arn,omitempty"`
	// Trust policy.
	Trust string `json:"trustPolicy"`
	// PolicyARNs of AWS's policies to attach.
	PolicyARNs []string `json:"policyArns,omitempty"`
	// Policy of its own; "" for none.
	Policy string `json:"policy,omitempty"`
}

// IssuerPlace stands in a trust policy for the cluster's OIDC issuer, without https://, as
// long as nobody knows it: EKS makes it with the cluster.
const IssuerPlace = "OIDC_ISSUER"

// AddonsAnnotation of the general ConfigMap names the addons that are
// turned on, separated by commas.
const AddonsAnnotation = "tombolo/addons"
