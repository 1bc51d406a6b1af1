package standin

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
	return &pulumirpc.PluginInfo{Version: p.home.catalogue.Version}, nil
}

// GetSchema answers with an empty schema: programs have their SDKs.
func (p *provider) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	return &pulumirpc.GetSchemaResponse{Schema: "{}"}, nil
}

// Cancel makes the calls of this connection's engine stop waiting.
func (p *provider) Cancel(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	if s, ok := p.sessions.Load(connection(ctx)); ok {
		s.(*session).cancel(ErrCancelled)
	}
	return &emptypb.Empty{}, nil
}

// Check validates inputs and completes them: default tags, names, defaults.
func (p *provider) Check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	s, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	var r reader
	news, olds := r.read(req.News, "the new inputs"), r.read(req.Olds, "the old inputs")
	if r.err != nil {
		return nil, r.err
	}
	name := urn.URN(req.Urn).Name()
	problems := append(typ.schema.check(news), typ.unplayed(news)...)
	if err := typ.complete(s, name, req.RandomSeed, olds, news); err != nil {
		return nil, err
	}
	if len(problems) == 0 {
		problems = append(problems, s.cloud.catalogue.CheckTags(news)...)
		if typ.Validate != nil {
			problems = append(problems, typ.Validate(news)...)
		}
	}
	inputs, err := Marshal(news, "the inputs")
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CheckResponse{Inputs: inputs, Failures: failures(name, problems)}, nil
}

func failures(name string, problems []Problem) []*pulumirpc.CheckFailure {
	var out []*pulumirpc.CheckFailure
	for _, p := range problems {
		out = append(out, &pulumirpc.CheckFailure{
			Property: p.Path,
			Reason:   fmt.Sprintf("%s. Examine values at '%s.%s'.", p.Reason, name, p.Path),
		})
	}
	return out
}

// complete fills in what was not given.
func (t *Type) complete(s *session, name string, seed []byte, olds, news Props) error {
	for key, value := range t.Defaults {
		news.SetDefault(key, cloneValue(value))
	}
	s.mergeTags(t, news)
	auto := t.Autoname
	if auto.Property == "" || news.Has(auto.Property) || news.Has(auto.Property+"Prefix") {
		return nil
	}
	if old := olds.Str(auto.Property); old != "" {
		news[auto.Property] = old
		return nil
	}
	made, err := auto.make(seed, name)
	if err != nil {
		return fmt.Errorf("name %s: %w; give it a shorter name", name, err)
	}
	if auto.Finish != nil {
		made = auto.Finish(made)
	}
	news[auto.Property] = made
	return nil
}

func (a Autoname) make(seed []byte, name string) (string, error) {
	if a.Make != nil {
		return a.Make(seed, name)
	}
	return resource.NewUniqueName(seed, a.Prefix+name+"-", 7, a.Max, nil)
}

// Diff compares the inputs before and after.
func (p *provider) Diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	_, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	var r reader
	olds, oldInputs, news := r.read(req.Olds, "the old outputs"), r.read(req.OldInputs, "the old inputs"), r.read(req.News, "the new inputs")
	if r.err != nil {
		return nil, r.err
	}
	return typ.diff(olds, oldInputs, news, req.IgnoreChanges), nil
}

// Create makes a resource, or in a preview says what is known of it.
func (p *provider) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	s, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	in, err := Unmarshal(req.Properties, "the inputs")
	if err != nil {
		return nil, err
	}
	if req.Preview {
		out, err := Marshal(typ.preview(in), "the outputs")
		return &pulumirpc.CreateResponse{Properties: out}, err
	}
	if HasUnknown(in) {
		return nil, fmt.Errorf("creating %s: an input is still unknown", typ.Noun)
	}
	ctx, cancel := s.scope(ctx)
	defer cancel()
	about := typ.request(OpCreate, in.Str(typ.Autoname.Property), s.Region)
	r, err := meet(ctx, s.cloud, about, func() (*Record, error) { return s.cloud.create(ctx, s, typ, in) })
	if err == nil {
		err = s.cloud.awaitSeen(about, r)
	}
	if err != nil {
		return nil, s.cloud.wire(err)
	}
	out, err := Marshal(r.Outputs, "the outputs")
	return &pulumirpc.CreateResponse{Id: r.ID, Properties: out}, err
}

// preview is what a resource will look like, with unknown values for all that
// the cloud decides.
func (t *Type) preview(in Props) Props {
	if t.native.PreviewsInputs {
		return t.schema.outputs.foresee(in)
	}
	out := in.Clone()
	for name := range t.schema.outputs.fields {
		if name == t.allTags && t.Taggable() {
			out[name] = cloneValue(out["tags"])
			if out[name] == nil {
				out[name] = map[string]any{}
			}
		}
		if _, known := out[name]; !known {
			out[name] = Unknown{}
		}
	}
	for _, path := range t.Decided {
		name, key, _ := strings.Cut(path, ".")
		if object, ok := out[name].(map[string]any); ok && object[key] == nil {
			object[key] = Unknown{}
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
	var read reader
	in, known := read.read(req.News, "the inputs"), read.read(req.OldInputs, "the old inputs")
	if read.err != nil {
		return nil, read.err
	}
	if req.Preview {
		return typ.previewUpdate(req, in, known)
	}
	if HasUnknown(in) {
		return nil, fmt.Errorf("updating %s (%s): an input is still unknown", typ.Noun, req.Id)
	}
	ctx, cancel := s.scope(ctx)
	defer cancel()
	r, err := meet(ctx, s.cloud, typ.request(OpUpdate, req.Id, s.Region), func() (*Record, error) {
		return s.cloud.update(ctx, s, typ, req.Id, known, in)
	})
	if err != nil {
		return nil, s.cloud.wire(err)
	}
	out, err := Marshal(r.Outputs, "the outputs")
	return &pulumirpc.UpdateResponse{Properties: out}, err
}

func (t *Type) previewUpdate(req *pulumirpc.UpdateRequest, in, oldInputs Props) (*pulumirpc.UpdateResponse, error) {
	out, err := Unmarshal(req.Olds, "the old outputs")
	if err != nil {
		return nil, err
	}
	if t.native.PreviewsInputs {
		foreseen := t.preview(in)
		for _, name := range t.native.Stable {
			foreseen.keep(name, out)
		}
		properties, err := Marshal(foreseen, "the outputs")
		return &pulumirpc.UpdateResponse{Properties: properties}, err
	}
	made := maps.Clone(out)
	maps.Copy(out, in)
	keepMade(out, made, oldInputs)
	if t.Taggable() {
		out[t.allTags] = cloneValue(in["tags"])
	}
	if t.Renews(oldInputs, in) {
		for _, name := range t.Renewed {
			out[name] = Unknown{}
		}
	}
	properties, err := Marshal(out, "the outputs")
	return &pulumirpc.UpdateResponse{Properties: properties}, err
}

// keepMade puts back what the cloud has added to objects among the inputs, such as the
// security group in a cluster's vpcConfig: an update leaves it as it is.
func keepMade(out, made, oldInputs Props) {
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
	about := typ.request(OpRead, req.Id, s.Region)
	r, err := meet(ctx, s.cloud, about, func() (*Record, error) { return s.cloud.read(typ, s, req.Id), nil })
	if err != nil {
		return nil, s.cloud.wire(err)
	}
	if _, hidden := s.cloud.faults.take(about, FaultNotFound); hidden || r == nil {
		return &pulumirpc.ReadResponse{}, nil
	}
	in := typ.inputsOf(r)
	if typ.native.ImportsOutputs && req.Inputs == nil {
		in = typ.imported(in, r.Outputs)
	}
	inputs, err := Marshal(in, "the inputs")
	if err != nil {
		return nil, err
	}
	outputs, err := Marshal(r.Outputs, "the outputs")
	return &pulumirpc.ReadResponse{Id: r.ID, Inputs: inputs, Properties: outputs}, err
}

// Delete deletes a resource.
func (p *provider) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	s, typ, err := p.target(ctx, req.Urn)
	if err != nil {
		return nil, err
	}
	known, err := Unmarshal(req.Properties, "the outputs")
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.scope(ctx)
	defer cancel()
	done, err := meet(ctx, s.cloud, typ.request(OpDelete, req.Id, s.Region), func() (*emptypb.Empty, error) {
		if err := s.cloud.prepareRemove(typ, s.Region, req.Id, known); err != nil {
			return nil, err
		}
		return &emptypb.Empty{}, s.cloud.remove(ctx, s, typ, req.Id)
	})
	if err != nil {
		return nil, s.cloud.wire(err)
	}
	return done, nil
}

// Invoke calls a function.
func (p *provider) Invoke(ctx context.Context, req *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	s, err := p.session(ctx)
	if err != nil {
		return nil, err
	}
	f := s.cloud.catalogue.Functions[req.Tok]
	if f == nil {
		return nil, rpcerror.Newf(codes.NotFound, "the %s stand-in does not know the function %s", s.cloud.catalogue.Cloud, req.Tok)
	}
	args, err := Unmarshal(req.Args, "the arguments")
	if err != nil {
		return nil, err
	}
	if problems := f.schema.check(args); len(problems) > 0 {
		return &pulumirpc.InvokeResponse{Failures: failures(req.Tok, problems)}, nil
	}
	ctx, cancel := s.scope(ctx)
	defer cancel()
	result, err := meet(ctx, s.cloud, s.cloud.catalogue.Answers.Invocation(req.Tok, s.Region), func() (Props, error) { return s.cloud.invoke(s, f, args) })
	if err != nil {
		return nil, s.cloud.wire(fmt.Errorf("invoking %s: %w", req.Tok, err))
	}
	out, err := Marshal(result, "the result")
	return &pulumirpc.InvokeResponse{Return: out}, err
}

// target finds the session of a request and the type it is about.
func (p *provider) target(ctx context.Context, name string) (*session, *Type, error) {
	s, err := p.session(ctx)
	if err != nil {
		return nil, nil, err
	}
	token := string(urn.URN(name).Type())
	typ := s.cloud.catalogue.Types[token]
	if typ == nil {
		return nil, nil, rpcerror.Newf(codes.NotFound, "the %s stand-in does not know the resource type %s", s.cloud.catalogue.Cloud, token)
	}
	return s, typ, nil
}

// Wire turns an error into what the protocol has for it. A resource whose
// creation goes on after the caller has left, or that was made and not found, is
// returned all the same, so that it is not lost.
func Wire(err error) error {
	left := leftBy(err)
	if left == nil || left.Inputs == nil {
		return rpcerror.Newf(codes.Unknown, "1 error occurred:\n\t* %s\n\n", err)
	}
	inputs, inErr := Marshal(left.Inputs, "the inputs")
	outputs, outErr := Marshal(left.Outputs, "the outputs")
	if inErr != nil || outErr != nil {
		return err
	}
	return rpcerror.WithDetails(rpcerror.New(codes.Unknown, err.Error()), &pulumirpc.ErrorResourceInitFailed{
		Id: left.ID, Properties: outputs, Inputs: inputs, Reasons: []string{err.Error()},
	})
}

// wire is Wire, in the form of the cloud's own provider.
func (c *Cloud) wire(err error) error {
	if left := leftBy(err); c.catalogue.Native.PlainErrors && (left == nil || left.Inputs == nil) {
		return rpcerror.New(codes.Unknown, err.Error())
	}
	return Wire(err)
}

// leftBy is what an operation that failed has made all the same.
func leftBy(err error) *Record {
	if left := new(interrupted); errors.As(err, &left) {
		return left.record
	}
	if left := new(unread); errors.As(err, &left) {
		return left.record
	}
	return nil
}

// Provider serves the account as the cloud's Pulumi provider. Every connection
// has a configuration of its own.
func (c *Cloud) Provider() pulumirpc.ResourceProviderServer { return Organisation(c) }

// ProviderAs is Provider for somebody else's credentials than the account's own.
func (c *Cloud) ProviderAs(caller string) pulumirpc.ResourceProviderServer {
	return &provider{home: c, caller: caller}
}
