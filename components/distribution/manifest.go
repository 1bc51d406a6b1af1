package distribution

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gopkg.in/yaml.v3"

	"tombolo/components/object"
)

// clusterScoped are the kinds in install manifests that are in no namespace.
func clusterScoped() []string {
	return []string{
		"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "MutatingWebhookConfiguration",
		"Namespace", "PriorityClass", "ValidatingWebhookConfiguration",
	}
}

// Parse reads the objects of a manifest, except for the product's Namespace,
// which is made before it. An object without a namespace is put into the
// product's, as kubectl -n would do.
func (p Product) Parse(manifest []byte) ([]Object, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(manifest))
	var objects []Object
	for n := 1; ; n++ {
		// A plain map: yaml.v3 would give nested maps the type of the outermost.
		var decoded map[string]any
		err := decoder.Decode(&decoded)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("document %d of the distribution: %w", n, err)
		}
		o := Object(decoded)
		if len(o) == 0 || o.Is("Namespace", p.Namespace) {
			continue
		}
		if o.Kind() == "" || o.Text("apiVersion") == "" || o.Meta("name") == "" {
			return nil, fmt.Errorf("document %d of the distribution is no Kubernetes object: it needs apiVersion, kind and metadata.name", n)
		}
		if o.Meta("namespace") == "" && !slices.Contains(clusterScoped(), o.Kind()) {
			o["metadata"].(map[string]any)["namespace"] = p.Namespace
		}
		delete(o, "status")
		o.outlive()
		objects = append(objects, o)
	}
	if !slices.ContainsFunc(objects, func(o Object) bool { return o.Kind() == "Deployment" }) {
		return nil, fmt.Errorf("the distribution has no Deployment; is it %s's install manifest?", p.Name)
	}
	return objects, nil
}

// Controllers are the names of the manifest's controllers, Deployments and
// StatefulSets, in the product's namespace.
func (p Product) Controllers(manifest []byte) ([]string, error) {
	objects, err := p.Parse(manifest)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range objects {
		if o.isController() && o.Meta("namespace") == p.Namespace {
			names = append(names, o.Meta("name"))
		}
	}
	return names, nil
}

// DigestAnnotation is on the Deployments in the files by which an engine manages itself: the
// digest of the distribution that Git has.
const DigestAnnotation = "tombolo/distribution"

// Rewrite is the manifest with each object as edit leaves it, and without those of which edit says
// that they are not kept. Order and comments stay, so that a reader can compare it with the release.
func Rewrite(manifest []byte, edit func(n *yaml.Node, o Object) (kept bool, err error)) ([]byte, error) {
	documents, err := documentsOf(manifest)
	if err != nil {
		return nil, err
	}
	var kept []*yaml.Node
	for _, d := range documents {
		var o map[string]any // of which an Object would have Objects inside
		if err := d.Content[0].Decode(&o); err != nil {
			return nil, err
		}
		if len(o) == 0 {
			continue
		}
		keep, err := edit(d.Content[0], o)
		if err != nil {
			return nil, err
		}
		if keep {
			kept = append(kept, d)
		}
	}
	return Encode(kept...)
}

// Encode is a manifest of objects, or of documents.
func Encode[T any](all ...T) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	for _, one := range all {
		if err := encoder.Encode(one); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), encoder.Close()
}

// SetAnnotation sets an annotation of an object that Rewrite edits.
func SetAnnotation(n *yaml.Node, key, value string) {
	SetText(Member(Member(n, "metadata"), "annotations"), key, value)
}

// Remove removes a key of a mapping, if it is there.
func Remove(mapping *yaml.Node, key string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return
		}
	}
}

// Digest identifies a manifest together with the changes that are made to it.
func Digest(manifest []byte, changes ...string) string {
	sum := sha256.New()
	sum.Write(manifest)
	for _, change := range changes {
		sum.Write([]byte(change))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// The stages of a distribution.
const (
	definitions = iota
	needed      // by controllers
	controllers
	stageCount
)

// stages orders objects: definitions, then what controllers need, then the
// controllers.
func stages(objects []Object) [stageCount][]Object {
	var out [stageCount][]Object
	for _, o := range objects {
		stage := needed
		switch {
		case o.Kind() == "CustomResourceDefinition":
			stage = definitions
		case o.isController():
			stage = controllers
		}
		out[stage] = append(out[stage], o)
	}
	return out
}

// Object is one Kubernetes object of a manifest.
type Object map[string]any

// Text is a field of the object's own that holds text, such as apiVersion.
func (o Object) Text(key string) string { s, _ := o[key].(string); return s }

// Kind of the object.
func (o Object) Kind() string { return o.Text("kind") }

// Meta is a field of the object's metadata that holds text, such as name.
func (o Object) Meta(key string) string {
	m, _ := o["metadata"].(map[string]any)
	s, _ := m[key].(string)
	return s
}

// Is tells the object of a kind and a name.
func (o Object) Is(kind, name string) bool { return o.Kind() == kind && o.Meta("name") == name }

// resourceName is unique within a manifest; home is the product's namespace.
func (o Object) resourceName(home string) string {
	name := strings.ToLower(o.Kind()) + "-" + o.Meta("name")
	if ns := o.Meta("namespace"); ns != "" && ns != home {
		name += "-" + ns
	}
	return name
}

// Identity names the object for people and for the record of what was made:
// "apps/v1 Deployment flux-system/source-controller".
func (o Object) Identity() string {
	name := o.Meta("name")
	if ns := o.Meta("namespace"); ns != "" {
		name = ns + "/" + name
	}
	return o.Text("apiVersion") + " " + o.Kind() + " " + name
}

// identified is an object with nothing but its identity.
func identified(identity string) (Object, error) {
	fields := strings.Fields(identity)
	if len(fields) != 3 {
		return nil, fmt.Errorf("%q is not the identity of an object: expected apiVersion, kind and name", identity)
	}
	meta := map[string]any{"name": fields[2]}
	if namespace, name, ok := strings.Cut(fields[2], "/"); ok {
		meta["namespace"], meta["name"] = namespace, name
	}
	return Object{"apiVersion": fields[0], "kind": fields[1], "metadata": meta}, nil
}

// Annotate sets an annotation.
func (o Object) Annotate(key, value string) {
	meta, _ := o["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	annotations[key] = value
}

// Kept are exactly the objects with the identities. One that the manifest no
// longer has is known by its identity alone: enough to leave it as it is.
func Kept(objects []Object, identities []string) ([]Object, error) {
	known := map[string]Object{}
	for _, o := range objects {
		known[o.Identity()] = o
	}
	out := make([]Object, 0, len(identities))
	for _, identity := range identities {
		o, ok := known[identity]
		if !ok {
			var err error
			if o, err = identified(identity); err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// isController tells the kinds that run pods for good.
func (o Object) isController() bool {
	return slices.Contains([]string{"Deployment", "StatefulSet"}, o.Kind())
}

// outlive keeps a Job that would be deleted some time after its end: a refresh
// would find it missing, and the next up would run it again.
func (o Object) outlive() {
	if o.Kind() != "Job" {
		return
	}
	if spec, ok := o["spec"].(map[string]any); ok {
		delete(spec, "ttlSecondsAfterFinished")
	}
}

// What follows makes objects that are not the distribution's, but come with it:
// what tells the product what to follow, and with which credentials.

// Custom makes an object of a kind that the distribution defines, from its
// metadata and its spec.
func Custom(ctx *pulumi.Context, name string, o Object, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	meta, _ := o["metadata"].(map[string]any)
	annotations := pulumi.StringMap{}
	declared, _ := meta["annotations"].(map[string]any)
	for key, value := range declared {
		if text, ok := value.(string); ok {
			annotations[key] = pulumi.String(text)
		}
	}
	args := object.Args{
		APIVersion: o.Text("apiVersion"), Kind: o.Kind(), Fields: map[string]any{"spec": o["spec"]},
		Meta: object.Meta{Name: o.Meta("name"), Namespace: o.Meta("namespace"), Annotations: annotations},
	}
	list, _ := meta["finalizers"].([]any)
	for _, f := range list {
		if text, ok := f.(string); ok {
			args.Meta.Finalizers = append(args.Meta.Finalizers, text)
		}
	}
	return object.New(ctx, name, args, opts...)
}
