package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/urn"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"
)

// version of the provider that is stood in for: the one of the Go SDK in go.mod.
const version = "6.83.2"

// provider speaks Pulumi's provider protocol for a Cloud.
type provider struct {
	pulumirpc.UnimplementedResourceProviderServer
	cloud *Cloud
}

// Handshake is the first call of an engine.
func (p *provider) Handshake(context.Context, *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse, error) {
	return &pulumirpc.ProviderHandshakeResponse{}, nil
}

// Attach is how an engine says that it did not start this process.
func (p *provider) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// GetPluginInfo tells the provider's version.
func (p *provider) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version}, nil
}

// GetSchema answers with an empty schema: programs have their SDKs.
func (p *provider) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	return &pulumirpc.GetSchemaResponse{Schema: "{}"}, nil
}

// Cancel makes the calls of this connection's engine stop waiting.
func (p *provider) Cancel(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	if s, ok := p.cloud.sessions.Load(connection(ctx)); ok {
		s.(*session).cancel(errCancelled)
	}
	return &emptypb.Empty{}, nil
}

// Check validates inputs and completes them: default tags, names, defaults.
func (p *provider) Check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	s, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	news, err := unmarshal(req.News, "the new inputs")
	if err != nil {
		return nil, err
	}
	olds, err := unmarshal(req.Olds, "the old inputs")
	if err != nil {
		return nil, err
	}
	name := urn.URN(req.Urn).Name()
	problems := typ.schema.check(news)
	if err := typ.complete(s, name, req.RandomSeed, olds, news); err != nil {
		return nil, err
	}
	if len(problems) == 0 {
		problems = append(problems, validateTags(news)...)
		if typ.validate != nil {
			problems = append(problems, typ.validate(news)...)
		}
	}
	inputs, err := marshal(news, "the inputs")
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CheckResponse{Inputs: inputs, Failures: failures(name, problems)}, nil
}

func failures(name string, problems []problem) []*pulumirpc.CheckFailure {
	var out []*pulumirpc.CheckFailure
	for _, p := range problems {
		out = append(out, &pulumirpc.CheckFailure{
			Property: p.path,
			Reason:   fmt.Sprintf("%s. Examine values at '%s.%s'.", p.reason, name, p.path),
		})
	}
	return out
}

// complete fills in what was not given.
func (t *resourceType) complete(s *session, name string, seed []byte, olds, news props) error {
	for key, value := range t.defaults {
		news.setDefault(key, cloneValue(value))
	}
	s.mergeTags(t, news)
	auto := t.autoname
	if auto.property == "" || news.has(auto.property) || news.has(auto.property+"Prefix") {
		return nil
	}
	if old := olds.str(auto.property); old != "" {
		news[auto.property] = old
		return nil
	}
	made, err := resource.NewUniqueName(seed, auto.prefix+name+"-", 7, auto.max, nil)
	if err != nil {
		return fmt.Errorf("name %s: %w; give it a shorter name", name, err)
	}
	if auto.finish != nil {
		made = auto.finish(news, made)
	}
	news[auto.property] = made
	return nil
}

// Diff compares the inputs before and after.
func (p *provider) Diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	_, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	var olds, oldInputs, news props
	if olds, err = unmarshal(req.Olds, "the old outputs"); err != nil {
		return nil, err
	}
	if oldInputs, err = unmarshal(req.OldInputs, "the old inputs"); err != nil {
		return nil, err
	}
	if news, err = unmarshal(req.News, "the new inputs"); err != nil {
		return nil, err
	}
	return typ.diff(olds, oldInputs, news, req.IgnoreChanges), nil
}

// Create makes a resource, or in a preview says what is known of it.
func (p *provider) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	s, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	in, err := unmarshal(req.Properties, "the inputs")
	if err != nil {
		return nil, err
	}
	if req.Preview {
		out, err := marshal(typ.preview(in), "the outputs")
		return &pulumirpc.CreateResponse{Properties: out}, err
	}
	if hasUnknown(in) {
		return nil, fmt.Errorf("creating %s: an input is still unknown", typ.noun)
	}
	ctx, cancel := s.scope(ctx)
	defer cancel()
	about := typ.request(opCreate, in.str(typ.autoname.property), s.region)
	r, err := meet(ctx, p.cloud, about, func() (*record, error) { return p.cloud.create(ctx, s, typ, in) })
	if err == nil {
		err = p.cloud.awaitSeen(about, r)
	}
	if err != nil {
		return nil, wire(err)
	}
	out, err := marshal(r.Outputs, "the outputs")
	return &pulumirpc.CreateResponse{Id: r.ID, Properties: out}, err
}

// preview is what a resource will look like, with unknown values for all that
// AWS decides.
func (t *resourceType) preview(in props) props {
	out := in.clone()
	for name := range t.schema.outputs.fields {
		if name == "tagsAll" && t.taggable() {
			out[name] = cloneValue(out["tags"])
			if out[name] == nil {
				out[name] = map[string]any{}
			}
		}
		if _, known := out[name]; !known {
			out[name] = unknown{}
		}
	}
	for _, path := range t.decided {
		name, key, _ := strings.Cut(path, ".")
		if object, ok := out[name].(map[string]any); ok && object[key] == nil {
			object[key] = unknown{}
		}
	}
	return out
}

// Update changes a resource, or in a preview says what it will look like.
func (p *provider) Update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	s, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	in, err := unmarshal(req.News, "the inputs")
	if err != nil {
		return nil, err
	}
	if req.Preview {
		return typ.previewUpdate(req, in)
	}
	if hasUnknown(in) {
		return nil, fmt.Errorf("updating %s (%s): an input is still unknown", typ.noun, req.Id)
	}
	known, err := unmarshal(req.OldInputs, "the old inputs")
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.scope(ctx)
	defer cancel()
	r, err := meet(ctx, p.cloud, typ.request(opUpdate, req.Id, s.region), func() (*record, error) {
		return p.cloud.update(ctx, s, typ, req.Id, known, in)
	})
	if err != nil {
		return nil, wire(err)
	}
	out, err := marshal(r.Outputs, "the outputs")
	return &pulumirpc.UpdateResponse{Properties: out}, err
}

func (t *resourceType) previewUpdate(req *pulumirpc.UpdateRequest, in props) (*pulumirpc.UpdateResponse, error) {
	out, err := unmarshal(req.Olds, "the old outputs")
	if err != nil {
		return nil, err
	}
	oldInputs, err := unmarshal(req.OldInputs, "the old inputs")
	if err != nil {
		return nil, err
	}
	made := maps.Clone(out)
	maps.Copy(out, in)
	keepMade(out, made, oldInputs)
	if t.taggable() {
		out["tagsAll"] = cloneValue(in["tags"])
	}
	if t.renews(oldInputs, in) {
		for _, name := range t.renewed {
			out[name] = unknown{}
		}
	}
	properties, err := marshal(out, "the outputs")
	return &pulumirpc.UpdateResponse{Properties: properties}, err
}

// keepMade puts back what AWS has added to objects among the inputs, such as the
// security group in a cluster's vpcConfig: an update leaves it as it is.
func keepMade(out, made, oldInputs props) {
	for name := range oldInputs {
		now, has := out[name].(map[string]any)
		was, had := made[name].(map[string]any)
		asked, object := oldInputs[name].(map[string]any)
		if !has || !had || !object {
			continue
		}
		now = maps.Clone(now)
		for key, value := range was {
			_, given := asked[key]
			if _, wanted := now[key]; !given && !wanted {
				now[key] = value
			}
		}
		out[name] = now
	}
}

// Read looks a resource up, for refresh and import. An empty id says that it
// does not exist.
func (p *provider) Read(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	s, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.scope(ctx)
	defer cancel()
	about := typ.request(opRead, req.Id, s.region)
	r, err := meet(ctx, p.cloud, about, func() (*record, error) { return p.cloud.read(typ, s, req.Id), nil })
	if err != nil {
		return nil, wire(err)
	}
	if _, hidden := p.cloud.faults.take(about, FaultNotFound); hidden || r == nil {
		return &pulumirpc.ReadResponse{}, nil
	}
	inputs, err := marshal(typ.inputsOf(r), "the inputs")
	if err != nil {
		return nil, err
	}
	outputs, err := marshal(r.Outputs, "the outputs")
	return &pulumirpc.ReadResponse{Id: r.ID, Inputs: inputs, Properties: outputs}, err
}

// Delete deletes a resource.
func (p *provider) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	s, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	known, err := unmarshal(req.Properties, "the outputs")
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.scope(ctx)
	defer cancel()
	done, err := meet(ctx, p.cloud, typ.request(opDelete, req.Id, s.region), func() (*emptypb.Empty, error) {
		if err := p.cloud.prepareRemove(typ, s.region, req.Id, known); err != nil {
			return nil, err
		}
		return &emptypb.Empty{}, p.cloud.remove(ctx, s, typ, req.Id)
	})
	if err != nil {
		return nil, wire(err)
	}
	return done, nil
}

// Invoke calls a function.
func (p *provider) Invoke(ctx context.Context, req *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	s, err := p.session(ctx)
	if err != nil {
		return nil, err
	}
	f := p.cloud.invokes[req.Tok]
	if f == nil {
		return nil, rpcerror.Newf(codes.NotFound, "the AWS stand-in does not know the function %s", req.Tok)
	}
	args, err := unmarshal(req.Args, "the arguments")
	if err != nil {
		return nil, err
	}
	if problems := f.schema.check(args); len(problems) > 0 {
		return &pulumirpc.InvokeResponse{Failures: failures(req.Tok, problems)}, nil
	}
	ctx, cancel := s.scope(ctx)
	defer cancel()
	result, err := meet(ctx, p.cloud, invocation(req.Tok, s.region), func() (props, error) { return p.cloud.invoke(s, f, args) })
	if err != nil {
		return nil, wire(fmt.Errorf("invoking %s: %w", req.Tok, err))
	}
	out, err := marshal(result, "the result")
	return &pulumirpc.InvokeResponse{Return: out}, err
}

// target finds the session of a request and the type it is about.
func (p *provider) target(ctx context.Context, name string) (*session, *resourceType, error) {
	s, err := p.session(ctx)
	if err != nil {
		return nil, nil, err
	}
	token := string(urn.URN(name).Type())
	typ := p.cloud.types[token]
	if typ == nil {
		return nil, nil, rpcerror.Newf(codes.NotFound, "the AWS stand-in does not know the resource type %s", token)
	}
	return s, typ, nil
}

// wire turns an error into what the protocol has for it. A resource that is
// being made while nobody waits for it, or that was made and not found, is
// handed over all the same, so that it is not lost.
func wire(err error) error {
	left := leftBy(err)
	if left == nil || left.Inputs == nil {
		return rpcerror.Newf(codes.Unknown, "1 error occurred:\n\t* %s\n\n", err)
	}
	inputs, inErr := marshal(left.Inputs, "the inputs")
	outputs, outErr := marshal(left.Outputs, "the outputs")
	if inErr != nil || outErr != nil {
		return err
	}
	return rpcerror.WithDetails(rpcerror.New(codes.Unknown, err.Error()), &pulumirpc.ErrorResourceInitFailed{
		Id: left.ID, Properties: outputs, Inputs: inputs, Reasons: []string{err.Error()},
	})
}

// leftBy is what an operation that failed has made all the same.
func leftBy(err error) *record {
	if left := new(interrupted); errors.As(err, &left) {
		return left.record
	}
	if left := new(unread); errors.As(err, &left) {
		return left.record
	}
	return nil
}
