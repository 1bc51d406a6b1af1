//go:build lab

package automation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"gotest.tools/v3/assert"
)

// providerStub is the least of an AWS provider: roles, whose creation can hang.
type providerStub struct {
	pulumirpc.UnimplementedResourceProviderServer
	mu    sync.Mutex
	roles map[string]*pulumirpc.CreateRequest
	// hang blocks the creation of a role, after it was made or before.
	hang map[string]func(made func())
	// tagged are the ARNs that a look by tag finds; deleted, the ids of what was
	// deleted, in order.
	tagged, deleted []string
	// creations are the names of what was made, in order.
	creations []string
	// making, if not nil, is called with the name of a role before it is made.
	making func(name string)
	// cancelled is closed when the engine is interrupted.
	cancelled chan struct{}
	cancel    sync.Once
}

func (c *providerStub) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	c.cancel.Do(func() { close(c.cancelled) })
	return &emptypb.Empty{}, nil
}

func serveCloud(t *testing.T) (*providerStub, string) {
	t.Helper()
	c := &providerStub{roles: map[string]*pulumirpc.CreateRequest{}, hang: map[string]func(func()){}, cancelled: make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	server := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return c, fmt.Sprintf("aws:%d", listener.Addr().(*net.TCPAddr).Port)
}

func (c *providerStub) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (c *providerStub) CheckConfig(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: r.GetNews()}, nil
}

func (c *providerStub) DiffConfig(context.Context, *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}, nil
}

func (c *providerStub) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{SupportsPreview: true}, nil
}

func (c *providerStub) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "6.83.2"}, nil
}

// Invoke answers a look by tag with one VPC, and tells of the interfaces in one
// subnet; those in another are forbidden.
func (c *providerStub) Invoke(_ context.Context, r *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	const arn = "arn:aws:ec2:eu-central-1:111122223333:"
	args := r.GetArgs().AsMap()
	answer := map[string]any{}
	switch r.GetTok() {
	case "aws:resourcegroupstaggingapi/getResources:getResources":
		answer["resourceTagMappingLists"] = []any{map[string]any{
			"resourceArn": arn + "vpc/vpc-1", "tags": map[string]any{"asked": fmt.Sprint(args["tagFilters"])},
		}}
		if c.tagged != nil {
			answer["resourceTagMappingLists"] = c.mappings()
		}
	case "aws:eks/getClusters:getClusters":
		answer["names"] = []any{}
	case "aws:cloudwatch/getLogGroups:getLogGroups":
		answer["arns"], answer["logGroupNames"] = []any{}, []any{}
	case "aws:ec2/getNetworkInterfaces:getNetworkInterfaces":
		ids, err := interfacesBy(fmt.Sprint(args["filters"]))
		if err != nil {
			return nil, err
		}
		answer["ids"] = ids
	case "aws:ec2/getNetworkInterface:getNetworkInterface":
		id := args["id"].(string)
		answer = map[string]any{
			"arn": arn + "network-interface/" + id, "subnetId": "subnet-1", "description": "EFS mount target for fs-1 (fsmt-1)",
		}
	default:
		return nil, fmt.Errorf("nobody answers %s", r.GetTok())
	}
	answer["id"] = "1"
	result, err := structpb.NewStruct(answer)
	return &pulumirpc.InvokeResponse{Return: result}, err
}

func (c *providerStub) mappings() []any {
	var out []any
	for _, arn := range c.tagged {
		out = append(out, map[string]any{"resourceArn": arn, "tags": map[string]any{}})
	}
	return out
}

// interfacesBy answers exactly the filters that a cloud has to be asked with.
func interfacesBy(filters string) ([]any, error) {
	const description = "map[name:description values:[EFS mount target for fs-1 (*)]]"
	switch filters {
	case "[map[name:subnet-id values:[subnet-1]] " + description + "]":
		return []any{"eni-1"}, nil
	case "[map[name:subnet-id values:[subnet-forbidden]] " + description + "]":
		return nil, errors.New("UnauthorizedOperation")
	}
	return []any{}, nil
}

func (c *providerStub) Check(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: r.GetNews()}, nil
}

func (c *providerStub) Diff(context.Context, *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}, nil
}

func (c *providerStub) Create(ctx context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	name := r.GetProperties().AsMap()["name"].(string)
	made := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.roles[name] = r
		c.creations = append(c.creations, name)
	}
	if hang, ok := c.hang[name]; ok && !r.GetPreview() {
		hang(made)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if !r.GetPreview() {
		if c.making != nil {
			c.making(name)
		}
		made()
	}
	return &pulumirpc.CreateResponse{Id: name, Properties: r.GetProperties()}, nil
}

func (c *providerStub) Read(_ context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made, ok := c.roles[r.GetId()]
	if !ok {
		return &pulumirpc.ReadResponse{}, nil
	}
	return &pulumirpc.ReadResponse{Id: r.GetId(), Properties: made.GetProperties(), Inputs: made.GetProperties()}, nil
}

func (c *providerStub) Delete(_ context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.roles, r.GetId())
	c.deleted = append(c.deleted, r.GetId())
	return &emptypb.Empty{}, nil
}

func roles(names ...string) pulumi.RunFunc {
	return func(p *pulumi.Context) error {
		for _, name := range names {
			var r pulumi.CustomResourceState
			err := p.RegisterResource("aws:iam/role:Role", name, pulumi.Map{"name": pulumi.String(name)}, &r)
			if err != nil {
				return err
			}
		}
		p.Export("done", pulumi.Bool(true))
		return nil
	}
}
