// Package kustomize builds directories of a platform tree with kustomize, as Flux
// and Argo CD do, without the network.
package kustomize

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/platform/kustomization"
)

// Options are what an engine's object adds to the kustomization file of a
// directory.
type Options struct {
	// Namespace, NamePrefix and NameSuffix replace the file's own if set.
	Namespace, NamePrefix, NameSuffix string
	// Patches and Components come after the file's own.
	Patches    []types.Patch
	Components []string
	// IgnoreMissingComponents leaves out components that the tree lacks.
	IgnoreMissingComponents bool
	// Images replace those of the same name.
	Images []types.Image
	// OwnFilesOnly has kustomize refuse files outside of a kustomization's directory, as it does by itself.
	OwnFilesOnly bool
}

// Built is what kustomize makes of a directory of the tree.
type Built struct {
	Objects []Object
	// Read are the tree's files that went into it, sorted.
	Read []string
	// Remote are the references that were not followed.
	Remote map[tree.Place]string
	// Err says why there are no objects.
	Err error
}

// Object of a build, before substitution.
type Object struct {
	// Text is its YAML.
	Text string
	// Disabled says that its variables are not substituted.
	Disabled bool
}

// Builder builds each directory once for all clusters: what kustomize makes
// does not depend on the values of variables.
type Builder struct {
	files *tree.Files
	done  map[string]Built
}

// NewBuilder returns a builder of the directories of a tree.
func NewBuilder(f *tree.Files) *Builder { return &Builder{files: f, done: map[string]Built{}} }

// Build does what an engine does with a directory before substitution.
func (b *Builder) Build(dir string, o Options) Built {
	dir = b.files.Real(dir)
	name, text, err := b.kustomizationFile(dir, o)
	if err != nil {
		return Built{Err: err, Read: []string{name}}
	}
	key := fmt.Sprintf("%s\x00%t\x00%s", name, o.OwnFilesOnly, text)
	if known, ok := b.done[key]; ok {
		return known
	}
	d := &disk{files: b.files, over: name, overText: text, read: map[string]bool{}, remote: map[tree.Place]string{}}
	out := d.run(dir, o.OwnFilesOnly)
	b.done[key] = out
	return out
}

// run recovers from kustomize's panics, which odd objects provoke.
func (d *disk) run(dir string, ownFilesOnly bool) (out Built) {
	defer func() {
		if r := recover(); r != nil {
			out.Err = fmt.Errorf("kustomize: %v", r)
		}
		if d.unreadable != nil {
			out.Objects, out.Err = nil, d.unreadable
		}
		out.Remote = d.remote
		out.Read = slices.Sorted(maps.Keys(d.read))
	}()
	restrictions := types.LoadRestrictionsNone // the disk holds nothing but the tree
	if ownFilesOnly {
		restrictions = types.LoadRestrictionsRootOnly
	}
	resources, err := krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: restrictions,
		PluginConfig:     types.DisabledPluginConfig(),
	}).Run(d, path.Join(root, dir))
	if err != nil {
		return Built{Err: err}
	}
	for _, r := range resources.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return Built{Err: err}
		}
		off := r.GetLabels()[manifest.Substitute] == "disabled" || r.GetAnnotations()[manifest.Substitute] == "disabled"
		out.Objects = append(out.Objects, Object{Text: string(text), Disabled: off})
	}
	return out
}

// kustomizationFile is the directory's own or a generated one, with what the
// engine's object adds to it.
func (b *Builder) kustomizationFile(dir string, o Options) (name string, text []byte, err error) {
	kus := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	own, exists := b.File(dir)
	if exists {
		if err := b.own(own, &kus); err != nil {
			return own, nil, err
		}
		if len(kus.Resources) == 0 {
			kus.BuildMetadata = []string{types.OriginAnnotations} // or kustomize calls it empty
		}
	} else {
		own = path.Join(dir, kustomization.Names()[0])
		if kus.Resources = b.manifests(dir, dir); len(kus.Resources) == 0 {
			kus.Namespace = "_placeholder" // as Flux does, for the same reason
		}
	}
	if err := b.extend(&kus, dir, o); err != nil {
		return own, nil, err
	}
	text, err = yaml.Marshal(kus)
	return own, text, err
}

// own reads a kustomization file of the tree.
func (b *Builder) own(name string, kus *types.Kustomization) error {
	text, err := b.files.Read(name)
	if err != nil {
		return err
	}
	decoded, _, err := read(path.Dir(name), text)
	if err == nil {
		*kus = decoded
	}
	return err
}

// File is the kustomization file of a directory, if it has one.
func (b *Builder) File(dir string) (string, bool) {
	for _, name := range kustomization.Names() {
		if file := path.Join(dir, name); b.files.IsFile(file) {
			return file, true
		}
	}
	return "", false
}

// manifests are the resources of a directory without a kustomization file: all
// of its YAML, and the directories that have such a file as a whole.
func (b *Builder) manifests(base, dir string) []string {
	var out []string
	for _, entry := range b.files.Entries(dir) {
		name := path.Join(dir, entry)
		below := strings.TrimPrefix(name, strings.TrimPrefix(base+"/", "./"))
		_, own := b.File(name)
		switch {
		case b.files.IsDir(name) && own:
			out = append(out, "./"+below)
		case b.files.IsDir(name):
			out = append(out, b.manifests(base, name)...)
		case slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)):
			out = append(out, "./"+below)
		}
	}
	return out
}

// extend adds what the engine's object says itself.
func (b *Builder) extend(kus *types.Kustomization, dir string, o Options) error {
	kus.Namespace = cmp.Or(o.Namespace, kus.Namespace)
	kus.NamePrefix = cmp.Or(o.NamePrefix, kus.NamePrefix)
	kus.NameSuffix = cmp.Or(o.NameSuffix, kus.NameSuffix)
	for _, p := range o.Patches {
		kus.Patches = append(kus.Patches, types.Patch{Patch: p.Patch, Target: p.Target})
	}
	for _, component := range o.Components {
		if !IsLocal(component) || tree.Leaves(dir, component) {
			return fmt.Errorf("component %s is not a path of the tree relative to %s", component, dir)
		}
		if !b.files.IsDir(tree.Relative(path.Join(dir, component))) {
			if o.IgnoreMissingComponents {
				continue
			}
			return fmt.Errorf("component %s is not a directory of the tree, from %s", component, dir)
		}
		kus.Components = append(kus.Components, component)
	}
	for _, image := range o.Images {
		at := slices.IndexFunc(kus.Images, func(i types.Image) bool { return i.Name == image.Name })
		if at < 0 {
			kus.Images = append(kus.Images, image)
			continue
		}
		kus.Images[at] = image
	}
	return nil
}
