package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	azurenative "github.com/pulumi/pulumi-azure-native-sdk/v2"
	"github.com/pulumi/pulumi-azure-native-sdk/v2/utilities"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/cloud/scratch"
	"tombolo/automation/pulumicli"
	"tombolo/config"
)

// caller is who the credentials in use are.
type caller struct {
	// subscription and tenant that they lead to.
	subscription, tenant string
	// client is the application that signed in, object the identity in Entra.
	client, object string
	// token for the Resource Manager.
	token string
}

// identify asks the provider who the caller is.
func identify(p *pulumi.Context, c *config.Cluster) (caller, error) {
	account, err := provider(p, c)
	if err != nil {
		return caller{}, err
	}
	// By the functions' names: the package of the SDK takes all of Azure's authorization along.
	var who struct {
		ClientID       string `pulumi:"clientId"`
		ObjectID       string `pulumi:"objectId"`
		SubscriptionID string `pulumi:"subscriptionId"`
		TenantID       string `pulumi:"tenantId"`
	}
	if err := p.Invoke("azure-native:authorization:getClientConfig", nil, &who, account...); err != nil {
		return caller{}, err
	}
	var granted struct {
		Token string `pulumi:"token"`
	}
	if err := p.Invoke("azure-native:authorization:getClientToken", nil, &granted, account...); err != nil {
		return caller{}, err
	}
	return caller{subscription: who.SubscriptionID, tenant: who.TenantID, client: who.ClientID, object: who.ObjectID, token: granted.Token}, nil
}

// provider is the one that core uses: for the subscription of the file, by the credentials of
// the environment.
func provider(p *pulumi.Context, c *config.Cluster) ([]pulumi.InvokeOption, error) {
	made, err := azurenative.NewProvider(p, "lookup", &azurenative.ProviderArgs{SubscriptionId: pulumi.String(c.Cloud.Account)})
	return utilities.PkgInvokeDefaultOpts([]pulumi.InvokeOption{pulumi.Provider(made)}), err
}

// managerVariable is an address to ask in place of Azure's Resource Manager in the public
// cloud, for tests.
const managerVariable = "TOMBOLO_AZURE_MANAGER"

// connect returns a client with the credentials that core has, and whose they are.
func (a Cloud) connect(ctx context.Context, what string, c *config.Cluster) (arm.Client, caller, error) {
	env := os.Getenv
	if a.Pulumi.Getenv != nil {
		env = a.Pulumi.Getenv
	}
	client, err := arm.HTTP(env)
	if err != nil {
		return arm.Client{}, caller{}, failed(ctx, what, c, err)
	}
	var who caller
	err = scratch.Ask(ctx, a.Pulumi, what, c.Name, func(p *pulumi.Context) (err error) {
		who, err = identify(p, c)
		return err
	})
	return arm.Client{Endpoint: cmp.Or(env(managerVariable), arm.Public), Token: who.token, HTTP: client}, who, err
}

// look connects to the subscription of the cluster and no other, and asks.
func (a Cloud) look(ctx context.Context, what string, c *config.Cluster, ask func(arm.Client) error) error {
	client, who, err := a.connect(ctx, what, c)
	if err != nil {
		return err
	}
	if c.Cloud.Tenant != "" && who.tenant != c.Cloud.Tenant {
		return failed(ctx, what, c, fmt.Errorf("the credentials are of tenant %s, and the cluster is for %s", who.tenant, c.Cloud.Tenant))
	}
	return failed(ctx, what, c, ask(client))
}

// laterRemedy is what to do about what passes by itself.
const laterRemedy = "run the same command again in some minutes: Azure is asked too often, or does not answer"

// orLater is the remedy for what Azure has said, unless that passes by itself.
func orLater(said, remedy string) string {
	if strings.Contains(said, arm.Tired) {
		return laterRemedy
	}
	return remedy
}

// failed is an error for people; nil for none.
func failed(ctx context.Context, what string, c *config.Cluster, err error) error {
	if err == nil {
		return nil
	}
	about := pulumicli.Failed{Stack: c.Name, Operation: what}
	if cause := ctx.Err(); cause != nil {
		return pulumicli.Interrupted(about, cause)
	}
	remedy := "run the same command again"
	if refused := new(arm.Error); arm.IsPassing(err) {
		remedy = laterRemedy
	} else if errors.As(err, &refused) {
		remedy = "resolve the cause, and run the same command again"
	}
	return &pulumicli.Error{Stack: about.Stack, Operation: about.Operation, Reasons: []string{err.Error()}, Remedy: remedy, Err: err}
}
