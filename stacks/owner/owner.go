// Package owner gives a cluster the identity by which its resources are told from
// those of any other cluster, also from those of one with the same name.
package owner

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"

	"tombolo/internal/names"
	"tombolo/stacks/state"
)

// Unborn stands for the identity in a preview of a cluster that has none yet: the
// up that follows makes one.
const Unborn = "made-by-the-first-up"

// ResourceName is the name of the resource with the identity in core's stack.
const ResourceName = "owner"

// Type is the type of that resource: a value that the engine keeps in the state,
// from the first up until the stack is destroyed.
const Type = "pulumi:index:Stash"

// The entries of the value.
const (
	idKey      = "id"
	backendKey = "backend"
	// The control plane is written down by a destruction: see Record.
	controlPlaneKey = "controlPlane"
	issuerKey       = "issuer"
)

// ControlPlane tells a managed cluster from those that have its name before and after it.
type ControlPlane struct {
	// ID in the whole cloud, such as an ARN.
	ID string
	// Issuer is the URL of its OIDC issuer, which no other cluster has.
	Issuer string
}

// Owner is the identity of a cluster.
type Owner struct {
	// ID is 26 random letters and digits. A preview knows it as an up does.
	ID string
	// Backend is the Fingerprint of the backend that the cluster was made on.
	Backend string
	// New says that this run has made the identity, or that the up would.
	New bool

	kept pulumi.Resource
}

// Before makes a resource, and all that need it, depend on the identity: a destruction
// that ends in the middle leaves the identity with what is left.
func (o Owner) Before() pulumi.ResourceOption {
	if o.kept == nil {
		return pulumi.DependsOn(nil)
	}
	return pulumi.DependsOn([]pulumi.Resource{o.kept})
}

// New registers the identity, the one of the state or a new one, and waits for it.
// Because it is a resource, it is in the state before anything that has its tag, also
// after an up that was killed. The backend is the URL of the state, or "" for one that
// is not known.
func New(ctx *pulumi.Context, backend string) (Owner, error) {
	id := Unborn
	if !ctx.DryRun() {
		id = strings.ToLower(rand.Text())
	}
	// The engine keeps the first value, and a change of the input is ignored.
	first := pulumi.StringMap{idKey: pulumi.String(id), backendKey: pulumi.String(Fingerprint(backend))}
	kept, output, err := state.Keep(ctx, ResourceName, first, pulumi.IgnoreChanges([]string{"input"}))
	if err != nil {
		return Owner{}, fmt.Errorf("make the identity of the cluster: %w", err)
	}
	value, err := internals.UnsafeAwaitOutput(ctx.Context(), output)
	if err != nil {
		return Owner{}, fmt.Errorf("make the identity of the cluster: %w", err)
	}
	var own Owner
	for key, field := range map[string]*string{idKey: &own.ID, backendKey: &own.Backend} {
		var ok bool
		if *field, ok = Entry(value.Value, key); !ok {
			return Owner{}, fmt.Errorf("the cluster's identity in the state has no %s: restore the state from a copy", key)
		}
	}
	own.New, own.kept = own.ID == id, kept
	return own, nil
}

// Entry is one of the value's entries, as a program or a state has it.
func Entry(value any, key string) (string, bool) {
	entries, ok := value.(map[string]any)
	if !ok {
		return "", false
	}
	text, ok := entries[key].(string)
	return text, ok && text != ""
}

// IDOf is the identity in the outputs of the resource, as a state has them; "" when
// there is none.
func IDOf(outputs map[string]any) string {
	id, _ := Entry(outputs["output"], idKey)
	return id
}

// ControlPlaneOf is the control plane that Record has written into the outputs of the
// resource; the zero value when there is none.
func ControlPlaneOf(outputs map[string]any) ControlPlane {
	var out ControlPlane
	out.ID, _ = Entry(outputs["output"], controlPlaneKey)
	out.Issuer, _ = Entry(outputs["output"], issuerKey)
	return out
}

// Record is the outputs of the resource with a control plane. The engine keeps them as
// they are, because no change of the input counts.
func Record(outputs map[string]any, p ControlPlane) map[string]any {
	value, _ := outputs["output"].(map[string]any)
	value = maps.Clone(value)
	value[controlPlaneKey], value[issuerKey] = p.ID, p.Issuer
	all := maps.Clone(outputs)
	all["output"] = value
	return all
}

// Tags are on what core makes in the cloud.
func (o Owner) Tags() map[string]string {
	return map[string]string{names.OwnerTag: o.ID, names.BackendTag: o.Backend}
}

// Fingerprint tells backends apart without saying where they are: eight digits of
// a digest of the URL without credentials and options.
func Fingerprint(backend string) string {
	if backend == "" {
		return "unknown"
	}
	bare := backend
	if u, err := url.Parse(backend); err == nil {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		bare = strings.TrimRight(u.String(), "/")
	}
	sum := sha256.Sum256([]byte(bare))
	return hex.EncodeToString(sum[:4])
}
