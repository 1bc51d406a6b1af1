package standin

import (
	"context"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// organisation is a provider for several accounts. A connection works in the account
// that its configuration leads to.
type organisation struct {
	// The provider of the account that the credentials are of.
	pulumirpc.ResourceProviderServer
	home     *provider
	accounts map[string]pulumirpc.ResourceProviderServer
	chosen   sync.Map // by connection
}

// Organisation returns a provider for several accounts: home is that of the credentials,
// and the others are reached by roles in them.
func Organisation(home *Cloud, others ...*Cloud) pulumirpc.ResourceProviderServer {
	own := &provider{cloud: home}
	o := &organisation{ResourceProviderServer: own, home: own, accounts: map[string]pulumirpc.ResourceProviderServer{home.Account: own}}
	for _, other := range others {
		o.accounts[other.Account] = other.Provider()
	}
	return o
}

// leadsTo is the provider of the account that a configuration leads to. A role of an
// account that is not there is refused as one that does not exist.
func (o *organisation) leadsTo(settings *structpb.Struct) (pulumirpc.ResourceProviderServer, error) {
	config, err := o.home.config(settings)
	if err != nil {
		return nil, err
	}
	if p, ok := o.accounts[o.home.cloud.catalogue.Configuration.Account(config)]; ok {
		return p, nil
	}
	return o.home, nil
}

func (o *organisation) of(ctx context.Context) pulumirpc.ResourceProviderServer {
	if p, ok := o.chosen.Load(connection(ctx)); ok {
		return p.(pulumirpc.ResourceProviderServer)
	}
	return o.home
}

// CheckConfig validates a configuration where it leads to.
func (o *organisation) CheckConfig(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	p, err := o.leadsTo(req.News)
	if err != nil {
		return nil, err
	}
	return p.CheckConfig(ctx, req)
}

// Configure gives this connection a configuration, and with it an account.
func (o *organisation) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	p, err := o.leadsTo(req.Args)
	if err != nil {
		return nil, err
	}
	o.chosen.Store(connection(ctx), p)
	return p.Configure(ctx, req)
}

// Cancel is for the connection's account, as all that follows.
func (o *organisation) Cancel(ctx context.Context, req *emptypb.Empty) (*emptypb.Empty, error) {
	return o.of(ctx).Cancel(ctx, req)
}

func (o *organisation) Check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return o.of(ctx).Check(ctx, req)
}

func (o *organisation) Diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return o.of(ctx).Diff(ctx, req)
}

func (o *organisation) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	return o.of(ctx).Create(ctx, req)
}

func (o *organisation) Update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	return o.of(ctx).Update(ctx, req)
}

func (o *organisation) Read(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	return o.of(ctx).Read(ctx, req)
}

func (o *organisation) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return o.of(ctx).Delete(ctx, req)
}

func (o *organisation) Invoke(ctx context.Context, req *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	return o.of(ctx).Invoke(ctx, req)
}
