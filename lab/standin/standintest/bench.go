package standintest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
	"gotest.tools/v3/assert"

	"tombolo/lab/standin"
)

// Bench drives a stand-in as an engine would.
type Bench struct {
	T        *testing.T
	Cloud    *standin.Cloud
	Clusters *Clusters
	// Server is the provider of the stand-in, Dir where it keeps its records.
	Server pulumirpc.ResourceProviderServer
	Dir    string
	// Echoes says that the outputs of a resource may repeat its inputs, where the SDK has
	// no output of the name.
	Echoes bool
	// CheckInputs looks at the inputs of a type before each creation. Optional.
	CheckInputs func(token string, inputs standin.Props)
	// Made is what Add made, for TakeDown.
	Made []*Thing

	open func(dir string, o standin.Options) (*standin.Cloud, error)
}

// Thing is a resource that was made.
type Thing struct {
	Token, Name, ID string
	In, Out         standin.Props
}

// New opens an empty stand-in by its package's Open.
func New(t *testing.T, open func(dir string, o standin.Options) (*standin.Cloud, error)) *Bench {
	t.Helper()
	b := &Bench{T: t, Clusters: NewClusters(t), Dir: t.TempDir(), open: open}
	b.Reopen(standin.Options{})
	return b
}

// Reopen opens what the stand-in has kept.
func (b *Bench) Reopen(o standin.Options) {
	b.T.Helper()
	o.Clusters = b.Clusters
	cloud, err := b.open(b.Dir, o)
	assert.NilError(b.T, err)
	b.Cloud, b.Server = cloud, cloud.Provider()
	b.T.Cleanup(cloud.Close)
}

// Configure gives the provider its settings.
func (b *Bench) Configure(config standin.Props) {
	b.T.Helper()
	_, err := b.Server.Configure(b.T.Context(), &pulumirpc.ConfigureRequest{Args: b.Wire(config)})
	assert.NilError(b.T, err)
}

// Wire are properties as the engine sends them.
func (b *Bench) Wire(p standin.Props) *structpb.Struct {
	b.T.Helper()
	s, err := standin.Marshal(standin.Normal(map[string]any(p.Clone())).(map[string]any), "test")
	assert.NilError(b.T, err)
	return s
}

// Plain is the reverse of Wire.
func (b *Bench) Plain(s *structpb.Struct) standin.Props {
	b.T.Helper()
	p, err := standin.Unmarshal(s, "test")
	assert.NilError(b.T, err)
	return p
}

// URN of a resource.
func URN(token, name string) string { return "urn:pulumi:demo::tombolo::" + token + "::" + name }

// Check has the provider check inputs. It returns them as the provider completes them, and
// what is wrong with them, a line each.
func (b *Bench) Check(token, name string, olds, in standin.Props) (inputs standin.Props, failures string) {
	b.T.Helper()
	res, err := b.Server.Check(b.T.Context(), &pulumirpc.CheckRequest{
		Urn: URN(token, name), Olds: b.Wire(olds), News: b.Wire(in), RandomSeed: []byte(name),
	})
	if err != nil {
		return nil, err.Error()
	}
	var reasons []string
	for _, f := range res.Failures {
		reasons = append(reasons, f.Property+": "+f.Reason)
	}
	return b.Plain(res.Inputs), strings.Join(reasons, "\n")
}

// Try makes a resource, if the cloud lets it. Outputs that the SDK does not know fail the test.
func (b *Bench) Try(token, name string, in standin.Props) (*Thing, error) {
	b.T.Helper()
	inputs, failures := b.Check(token, name, nil, in)
	if failures != "" {
		return nil, errors.New(failures)
	}
	if b.CheckInputs != nil {
		b.CheckInputs(token, inputs)
	}
	res, err := b.Server.Create(b.T.Context(), &pulumirpc.CreateRequest{Urn: URN(token, name), Properties: b.Wire(inputs)})
	if err != nil {
		return nil, err
	}
	made := &Thing{Token: token, Name: name, ID: res.Id, In: inputs, Out: b.Plain(res.Properties)}
	for key := range made.Out {
		if typ := b.Cloud.TypeOf(token); !typ.HasOutput(key) && (!b.Echoes || !typ.HasInput(key)) {
			b.T.Errorf("%s returns %s, which the SDK does not know", token, key)
		}
	}
	return made, nil
}

// Make makes a resource.
func (b *Bench) Make(token, name string, in standin.Props) *Thing {
	b.T.Helper()
	made, err := b.Try(token, name, in)
	if err != nil {
		b.T.Fatalf("make %s %s: %v", token, name, err)
	}
	return made
}

// Add makes a resource, for TakeDown to delete.
func (b *Bench) Add(token, name string, in standin.Props) *Thing {
	b.T.Helper()
	x := b.Make(token, name, in)
	b.Made = append(b.Made, x)
	return x
}

// TakeDown deletes what was added, the last first, and finds nothing left.
func (b *Bench) TakeDown() {
	b.T.Helper()
	for _, x := range slices.Backward(b.Made) {
		if err := b.Delete(x); err != nil {
			b.T.Fatalf("delete %s: %v", x.Name, err)
		}
	}
	if items := b.Cloud.Inventory(); len(items) != 0 {
		b.T.Errorf("left over: %+v", items)
	}
}

// Delete deletes a resource.
func (b *Bench) Delete(x *Thing) error {
	_, err := b.Server.Delete(b.T.Context(), &pulumirpc.DeleteRequest{Urn: URN(x.Token, x.Name), Id: x.ID, Properties: b.Wire(x.Out)})
	return err
}

// Diff compares a resource with what a change of its inputs would make of it.
func (b *Bench) Diff(x *Thing, change standin.Props) *pulumirpc.DiffResponse {
	b.T.Helper()
	news, failures := b.Check(x.Token, x.Name, x.In, standin.Merged(x.In, change))
	if failures != "" {
		b.T.Fatal(failures)
	}
	res, err := b.Server.Diff(b.T.Context(), &pulumirpc.DiffRequest{
		Urn: URN(x.Token, x.Name), Id: x.ID, Olds: b.Wire(x.Out), OldInputs: b.Wire(x.In), News: b.Wire(news),
	})
	assert.NilError(b.T, err)
	return res
}

// Update changes inputs of a resource; nil takes one away.
func (b *Bench) Update(x *Thing, change standin.Props) error {
	b.T.Helper()
	in := standin.Merged(x.In, change)
	for key, value := range in {
		if value == nil {
			delete(in, key)
		}
	}
	res, err := b.Server.Update(b.T.Context(), &pulumirpc.UpdateRequest{
		Urn: URN(x.Token, x.Name), Id: x.ID, Olds: b.Wire(x.Out), OldInputs: b.Wire(x.In), News: b.Wire(in),
	})
	if err == nil {
		x.In, x.Out = in, b.Plain(res.Properties)
	}
	return err
}

// Invoke calls a function.
func (b *Bench) Invoke(token string, args standin.Props) (standin.Props, error) {
	b.T.Helper()
	res, err := b.Server.Invoke(b.T.Context(), &pulumirpc.InvokeRequest{Tok: token, Args: b.Wire(args)})
	if err != nil {
		return nil, err
	}
	if len(res.Failures) > 0 {
		return nil, errors.New(res.Failures[0].Reason)
	}
	return b.Plain(res.Return), nil
}

// Eventually waits for a condition, at most ten seconds.
func (b *Bench) Eventually(what string, condition func() bool) {
	b.T.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			b.T.Fatalf("waited ten seconds until %s", what)
		}
	}
}

// Refuses asserts an error of a cloud.
func Refuses(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "%!") {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
