//go:build lab

package automation

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/cloud"
	"tombolo/automation/cloud/azure"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/armid"
	labazure "tombolo/lab/azure"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/dns"
	"tombolo/lab/azure/resourcemanager"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
	"tombolo/stacks/programs"
	"tombolo/tests/tier"
)

// azureBench is a driver with the real CLI, core's own program and the lab's Azure. Bootstrap
// is empty.
type azureBench struct {
	*Driver
	t       *testing.T
	seen    *witness
	cloud   *standin.Cloud
	cluster *config.Cluster
	// given is what the subscriptions have from the start.
	given []standin.Item
	// refuse is how the next creation of a type, or call of a function, ends.
	refuse map[string]error
	// after, when set, is told of each creation before the engine is.
	after func(token, id string)
	mu    sync.Mutex
}

// azureFile is an example of a cluster file, whose roles are on its own resource group: the
// stand-in has no other team's resources for them.
func azureFile(t *testing.T, name string) *config.Cluster {
	t.Helper()
	c, err := config.Load(filepath.Join("..", "config", "testdata", "good", name+".yaml"))
	assert.NilError(t, err)
	c.Protect, c.Values = false, nil
	for _, s := range c.Services {
		for i := range s.Identity.Roles {
			s.Identity.Roles[i].Role, s.Identity.Roles[i].Scope = "Reader", "/subscriptions/"+c.Cloud.Account+"/resourceGroups/"+c.Cloud.ResourceGroup
		}
		s.Identity.Roles = s.Identity.Roles[:1]
	}
	keepToTheStandIn(c)
	return c
}

// keepToTheStandIn takes from the addons' options what nobody has in the stand-in: scopes,
// vaults and containers of others, and a vault that was deleted before. The zone is the network
// team's.
func keepToTheStandIn(c *config.Cluster) {
	for _, options := range c.Addons {
		switch o := options.(type) {
		case *addon.OperatorOptions:
			o.Systems = slices.DeleteFunc(o.Systems, func(s addon.OperatorSystem) bool { return s.Scope != "" })
		case *addon.DNSOptions:
			o.Zones = []addon.Zone{{ID: dns.TeamZoneID, Name: dns.TeamZoneName}}
		case *addon.LokiOptions:
			o.Container = ""
		case *addon.SecretsOptions:
			o.Vault, o.RecoverVault = "", false
		}
	}
}

func newAzureBench(t *testing.T, c *config.Cluster) *azureBench {
	t.Helper()
	d, seen := realBench(t, nil)
	tenant, err := labazure.Open(t.TempDir(), standin.Options{Clusters: standintest.NewClusters(t), Account: c.Cloud.Account, Region: c.Cloud.Region})
	assert.NilError(t, err)
	t.Cleanup(tenant.Close)
	b := &azureBench{Driver: d, t: t, seen: seen, cloud: tenant, cluster: c, given: tenant.Inventory()}
	d.env["PULUMI_DEBUG_PROVIDERS"] = "azure-native:" + serveStandIn(t, tenant, grpc.UnaryInterceptor(b.intercept))
	manager := httptest.NewServer(resourcemanager.New(tenant, resourcemanager.Options{}))
	t.Cleanup(manager.Close)
	for name, value := range map[string]string{"TOMBOLO_AZURE_MANAGER": manager.URL, "ARM_USE_MSI": "true"} {
		d.env[name], d.opts.Env[name] = value, value // the CLI's and the driver's own
	}
	d.deps.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	d.deps.cloud = func(*config.Cluster) cloud.Cloud { return azure.Cloud{Pulumi: d.pulumi} }
	d.deps.dial = func(handoff.Values) (kube.Cluster, error) { return kubetest.ArgoCD(t), nil }
	d.deps.program = func(c *config.Cluster, k stacks.Kind, o programs.Options) (pulumi.RunFunc, error) {
		if k == stacks.Bootstrap {
			return func(*pulumi.Context) error { return nil }, nil
		}
		return programs.Of(c, k, o)
	}
	return b
}

// intercept sees the requests of the engine to the stand-in.
func (b *azureBench) intercept(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	asked, creates := request.(*pulumirpc.CreateRequest)
	if call, calls := request.(*pulumirpc.InvokeRequest); calls {
		if err := b.refusal(call.GetTok()); err != nil {
			return nil, err
		}
	}
	if !creates || asked.GetPreview() {
		return handle(ctx, request)
	}
	token := string(resource.URN(asked.GetUrn()).Type())
	if err := b.refusal(token); err != nil {
		return nil, err
	}
	answer, err := handle(ctx, request)
	if err == nil && b.after != nil {
		b.after(token, answer.(*pulumirpc.CreateResponse).GetId())
	}
	return answer, err
}

// refusal takes what refuses a creation.
func (b *azureBench) refusal(token string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.refuse[token]
	delete(b.refuse, token)
	return err
}

func (b *azureBench) up() (Result, error) {
	return b.Up(b.t.Context(), b.cluster, UpOptions{Force: true})
}

// made is what the subscriptions have but what they were given, as type and id.
func (b *azureBench) made() []string { return besides(b.cloud, b.given) }

// known is what core's state has in Azure, and how many operations are pending in it.
func (b *azureBench) known() (all []string, pending int) {
	b.t.Helper()
	st, err := b.backend.State(b.t.Context(), b.cluster.Name+"-core")
	assert.NilError(b.t, err)
	for _, r := range st.Deployment.Resources {
		if r.Custom && strings.HasPrefix(string(r.Type), "azure-native:") {
			all = append(all, string(r.Type)+" "+string(r.ID))
		}
	}
	slices.Sort(all)
	return all, st.Interrupted()
}

// converged asserts that one more up changes nothing, and that the subscriptions have what the
// state has, each once.
func (b *azureBench) converged() {
	b.t.Helper()
	result, err := b.up()
	assert.Check(b.t, err == nil && result.Stacks[0].Changes.Total() == 0, "another up changes %v, error %v", result.Stacks, err)
	known, pending := b.known()
	if diff := cmp.Diff(known, b.made()); diff != "" || pending > 0 {
		b.t.Errorf("%d operations are pending; state and subscriptions (-state +subscriptions):\n%s", pending, diff)
	}
}

func (b *azureBench) destroyed() {
	b.t.Helper()
	// Loki's account goes with its logs, and nothing is left over.
	_, err := b.Destroy(b.t.Context(), b.cluster, DestroyOptions{Leftovers: teardown.DeleteLeftovers})
	assert.NilError(b.t, err)
	assert.Check(b.t, !strings.Contains(strings.Join(b.seen.notes(), "\n"), "deletes what is left over"))
	assert.Check(b.t, is.Len(b.made(), 0))
}

// killEngine ends the CLI that has the lock of core, so that it hears of nothing more. Drivers
// of other tests run beside this one.
func (b *azureBench) killEngine() {
	owners, err := b.backend.Owners(stacks.Name(b.cluster.Name, stacks.Core))
	if err != nil || len(owners) != 1 {
		b.t.Errorf("core's state has %d owners, error %v", len(owners), err)
		return
	}
	assert.Check(b.t, syscall.Kill(owners[0].PID, syscall.SIGKILL), "kill the engine")
}

// TestKilledAfterEachCreationInAzure kills the engine for each type that core makes, and again
// for another subscription, when Azure has the first of it and the state does not. Which types
// those are, the program says that runs.
func TestKilledAfterEachCreationInAzure(t *testing.T) {
	tier.Short(t, "the engine is killed after the creation of each type of Azure's")
	t.Parallel()
	k := &killer{met: map[string]bool{}}
	for _, name := range []string{"azure-full", "azure-network"} {
		t.Run(name, func(t *testing.T) {
			b := newAzureBench(t, azureFile(t, name))
			b.after = func(token, id string) {
				if k.made(token, id) {
					b.killEngine()
				}
			}
			for b.upKilled(k) {
			}
			b.converged()
			b.destroyed()
		})
	}
	assert.Check(t, is.Contains(k.met, "azure-native:containerservice/v20240901:ManagedCluster in "+arm.Subscription))
	assert.Check(t, is.Contains(k.met, "azure-native:authorization/v20220401:RoleAssignment in "+arm.NetworkSubscription))
}

// killer kills an engine after the creation of what it has not met.
type killer struct {
	mu sync.Mutex
	// met are the types and subscriptions of what was made when the engine heard of it no more.
	met map[string]bool
	// after is the one of them for which the engine that ran last was killed.
	after string
}

// made says whether the engine that made this is to be killed.
func (k *killer) made(token, id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	what := token + " in " + armid.SubscriptionOf(id)
	if k.met[what] {
		return false
	}
	k.met[what] = true
	if k.after != "" {
		return false
	}
	k.after = what
	return true
}

// upKilled runs an up, and says whether the engine was killed. Such an up leaves something that
// the state does not have.
func (b *azureBench) upKilled(k *killer) bool {
	b.t.Helper()
	_, err := b.up()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.after == "" {
		assert.NilError(b.t, err)
		return false
	}
	known, pending := b.known()
	made := b.made()
	if err == nil || pending == 0 || len(made) <= len(known) {
		b.t.Fatalf("after the kill at %s the state has %d resources and %d pending, and Azure has %d; error %v", k.after, len(known), pending, len(made), err)
	}
	b.t.Logf("killed at %s: %d of %d are known", k.after, len(known), len(made))
	k.after = ""
	return true
}
