package programs

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/stacks"
)

// ClustersVariable names the environment variable with the directory of the
// cluster files, for plain `pulumi up`. Default: clusters, in the directory of Pulumi.yaml.
const ClustersVariable = "TOMBOLO_CLUSTERS"

// AccountsVariable does the same for the account files. Default: accounts.
const AccountsVariable = "TOMBOLO_ACCOUNTS"

// Plain is the program for plain `pulumi up -s <cluster>-<kind>`: it finds the
// cluster file, or the account file, by the stack's name and runs the stack's
// program, the one that the driver runs.
func Plain(ctx *pulumi.Context) error {
	name, kind, err := stacks.Parse(ctx.Stack())
	if err != nil {
		return err
	}
	cluster, err := loadPlain(ctx, name, kind)
	if err != nil {
		return fmt.Errorf("stack %s: %w", ctx.Stack(), err)
	}
	program, err := Of(cluster, kind, Options{})
	if err != nil {
		return err
	}
	return program(ctx)
}

func loadPlain(ctx *pulumi.Context, name string, kind stacks.Kind) (*config.Cluster, error) {
	if kind != stacks.Pipelines {
		dir := cmp.Or(os.Getenv(ClustersVariable), filepath.Join(ctx.RootDirectory(), "clusters"))
		return config.Load(filepath.Join(dir, name+".yaml"))
	}
	dir := cmp.Or(os.Getenv(AccountsVariable), filepath.Join(ctx.RootDirectory(), "accounts"))
	account, err := config.LoadAccount(filepath.Join(dir, name+".yaml"))
	if err != nil {
		return nil, err
	}
	return account.Cluster(), nil
}

// loggedInto is the URL of the backend that Pulumi uses, in the CLI's order: the
// variable, the project, the login; "" when none is known.
func loggedInto(ctx *pulumi.Context) string {
	if url := os.Getenv("PULUMI_BACKEND_URL"); url != "" {
		return url
	}
	if project, err := workspace.LoadProject(filepath.Join(ctx.RootDirectory(), "Pulumi.yaml")); err == nil && project.Backend != nil {
		return project.Backend.URL
	}
	if login, err := workspace.GetStoredCredentials(); err == nil {
		return login.Current
	}
	return ""
}
