//go:build lab

package automation

import (
	"fmt"
	"net"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/lab/aws"
	iamlab "tombolo/lab/aws/iam"
	"tombolo/lab/standin"
	"tombolo/stacks"
	awscore "tombolo/stacks/core/aws"
	"tombolo/stacks/owner"
	"tombolo/stacks/programs"
	"tombolo/tests/tier"
)

// TestOneNameInTwoAccounts: a cluster is destroyed with its leftovers in one account, and
// the one of its name in another account stays as it is. Neither is in the other's way.
func TestOneNameInTwoAccounts(t *testing.T) {
	tier.Short(t, "a destroy in one account leaves the cluster of its name in another")
	t.Parallel()
	first, second := newFaultBench(t), newFaultBenchOf(t, "444455556666")
	_, err := first.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	other := demo()
	other.Cloud.Account = "444455556666"
	_, err = second.Up(t.Context(), other, UpOptions{Force: true})
	assert.NilError(t, err)
	made := first.made()
	_, err = second.Destroy(t.Context(), other, DestroyOptions{Leftovers: teardown.DeleteLeftovers})
	assert.NilError(t, err)
	assert.DeepEqual(t, first.made(), made)
	left := second.made()
	assert.Check(t, len(left) == 0, "left in the second account: %v", left)
	first.converged()
}

// The three accounts of a fleet: the credentials are of the first, and the others have a
// role for its user, in an organisation that lets no role be made without the boundary.
const (
	toolingAccount = "111122223333"
	toolingUser    = "arn:aws:iam::" + toolingAccount + ":user/tombolo"
	fleetBoundary  = "arn:aws:iam::aws:policy/PowerUserAccess"
)

// fleetAccounts are a driver whose AWS has three accounts, and the accounts by their ids.
func fleetAccounts(t *testing.T) (*Driver, map[string]*standin.Cloud) {
	t.Helper()
	d, _ := realBench(t, network)
	d.deps.program = inItsAccount
	accounts := map[string]*standin.Cloud{}
	for _, id := range []string{toolingAccount, "444455556666", "777788889999"} {
		o := standin.Options{Clusters: noClusters{}, Account: id}
		if id != toolingAccount {
			o.Caller, o.RoleBoundary = toolingUser, fleetBoundary
		}
		cloud, err := aws.Open(t.TempDir(), o)
		assert.NilError(t, err)
		t.Cleanup(cloud.Close)
		accounts[id] = cloud
	}
	for _, id := range []string{"444455556666", "777788889999"} {
		_, err := accounts[id].Client("eu-central-1").Create(t.Context(), iamlab.RoleType, map[string]any{
			"name": "operator", "path": "/tombolo/", "permissionsBoundary": fleetBoundary,
			"assumeRolePolicy": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + toolingUser + `"},` +
				`"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"acme"}}}]}`,
		})
		assert.NilError(t, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	server := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(server, standin.Organisation(accounts[toolingAccount], accounts["444455556666"], accounts["777788889999"]))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	d.env["PULUMI_DEBUG_PROVIDERS"] = fmt.Sprintf("aws:%d", listener.Addr().(*net.TCPAddr).Port)
	return d, accounts
}

// inItsAccount makes a network and a role as core does: with its provider, its guard and
// the place of its roles.
func inItsAccount(c *config.Cluster, kind stacks.Kind, _ programs.Options) (pulumi.RunFunc, error) {
	return func(p *pulumi.Context) error {
		if kind != stacks.Core {
			return nil
		}
		own, err := owner.New(p, "")
		if err != nil {
			return err
		}
		tags := own.Tags()
		tags[names.ClusterTag] = c.Name
		provider, err := awscore.NewProvider(p, c.Cloud, tags, own.Before())
		if err != nil {
			return err
		}
		if _, _, err := awscore.Guard(p, "cluster file", c.Cloud, provider); err != nil {
			return err
		}
		if _, err := ec2.NewVpc(p, "net", &ec2.VpcArgs{CidrBlock: pulumi.String("10.0.0.0/16")}, pulumi.Provider(provider)); err != nil {
			return err
		}
		role := &iam.RoleArgs{
			Name: pulumi.String(c.Name + "-cluster"), Path: pulumi.String(c.Cloud.Roles.Path),
			AssumeRolePolicy: pulumi.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":"sts:AssumeRole"}]}`),
		}
		if boundary := c.Cloud.Roles.PermissionsBoundary; boundary != "" {
			role.PermissionsBoundary = pulumi.String(boundary)
		}
		_, err = iam.NewRole(p, c.Name+"-cluster-role", role, pulumi.Provider(provider))
		return err
	}, nil
}

// memberOf is the cluster of a fleet's account, reached by the role there.
func memberOf(account string) *config.Cluster {
	c := demo()
	c.Name, c.Cloud.Account = "in-"+account, account
	c.Cloud.Roles = config.Roles{Path: "/tombolo/", PermissionsBoundary: fleetBoundary}
	if account != toolingAccount {
		c.Cloud.AssumeRole = &config.AssumeRole{
			RoleARN: "arn:aws:iam::" + account + ":role/tombolo/operator", ExternalID: "acme", SessionName: "tombolo-" + c.Name,
		}
	}
	return c
}

// TestFleetOverAccountsByRoles: one run with the credentials of one account makes a
// cluster in each of three, and takes it away with what is left over.
func TestFleetOverAccountsByRoles(t *testing.T) {
	tier.Short(t, "one run makes clusters in three accounts, by their roles")
	t.Parallel()
	d, accounts := fleetAccounts(t)
	inventory := func(account string) int { return len(accounts[account].Inventory()) }
	before := map[string]int{}
	for account := range accounts {
		before[account] = inventory(account)
	}

	without := memberOf("444455556666")
	without.Cloud.Roles.PermissionsBoundary = ""
	_, err := d.Up(t.Context(), without, UpOptions{Force: true})
	assert.Check(t, is.ErrorContains(err, "User: arn:aws:sts::444455556666:assumed-role/operator/tombolo-in-444455556666 is not authorized to perform: iam:CreateRole"))
	assert.Check(t, is.ErrorContains(err, "with an explicit deny in a service control policy"))

	stranger := memberOf("777788889999")
	stranger.Cloud.AssumeRole.ExternalID = "other"
	_, err = d.Up(t.Context(), stranger, UpOptions{Force: true})
	assert.Check(t, is.ErrorContains(err, "the trust policy of arn:aws:iam::777788889999:role/tombolo/operator has to let them in, with the external id of cloud.assumeRole"))
	assert.Equal(t, inventory("777788889999"), before["777788889999"], "something was made without the role")

	for account, cloud := range accounts {
		c := memberOf(account)
		_, err := d.Up(t.Context(), c, UpOptions{Force: true})
		assert.NilError(t, err, account)
		role := iamlab.RoleOf(cloud, "arn:aws:iam::"+account+":role/tombolo/"+c.Name+"-cluster")
		assert.Assert(t, role != nil, "no role in %s", account)
		assert.Equal(t, role.Outputs.Str("permissionsBoundary"), fleetBoundary)
		assert.Equal(t, inventory(account), before[account]+2, account)
	}
	for account := range accounts {
		_, err := d.Destroy(t.Context(), memberOf(account), DestroyOptions{Leftovers: teardown.DeleteLeftovers})
		assert.NilError(t, err, account)
		assert.Equal(t, inventory(account), before[account], account)
	}
}
