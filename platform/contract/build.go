package contract

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// built is what kustomize makes of a directory of the tree.
type built struct {
	objects []object
	// read are the tree's files that went into it, sorted.
	read []string
	// remote are the references that were not followed.
	remote map[place]string
	err    error
}

// object of a build, before substitution.
type object struct {
	text string
	// disabled says that its variables are not substituted.
	disabled bool
}

// builder builds each directory once for all clusters: what kustomize makes
// does not depend on the values of variables.
type builder struct {
	files *files
	done  map[string]built
}

func newBuilder(f *files) *builder { return &builder{files: f, done: map[string]built{}} }

// build does what Flux does with a Kustomization's path before substitution.
func (b *builder) build(k kustomization) built {
	dir := relative(k.Spec.Path)
	name, text, err := b.kustomizationFile(dir, k)
	if err != nil {
		return built{err: err, read: []string{name}}
	}
	key := name + "\x00" + string(text)
	if known, ok := b.done[key]; ok {
		return known
	}
	d := &disk{files: b.files, over: name, overText: text, read: map[string]bool{}, remote: map[place]string{}}
	out := d.run(dir)
	b.done[key] = out
	return out
}

// run recovers from kustomize's panics, which odd objects provoke.
func (d *disk) run(dir string) (out built) {
	defer func() {
		if r := recover(); r != nil {
			out.err = fmt.Errorf("kustomize: %v", r)
		}
		out.remote = d.remote
		for name := range d.read {
			out.read = append(out.read, name)
		}
		slices.Sort(out.read)
	}()
	resources, err := krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: types.LoadRestrictionsNone, // the disk holds nothing but the tree
		PluginConfig:     types.DisabledPluginConfig(),
	}).Run(d, path.Join("/", dir))
	if err != nil {
		return built{err: err}
	}
	for _, r := range resources.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return built{err: err}
		}
		off := r.GetLabels()[disabled] == "disabled" || r.GetAnnotations()[disabled] == "disabled"
		out.objects = append(out.objects, object{text: string(text), disabled: off})
	}
	return out
}

// kustomizationFile is the directory's own or a generated one, with what the
// Flux Kustomization adds to it.
func (b *builder) kustomizationFile(dir string, k kustomization) (name string, text []byte, err error) {
	kus := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	own, exists := b.ownFile(dir)
	if exists {
		if err := b.own(own, &kus); err != nil {
			return own, nil, err
		}
		if len(kus.Resources) == 0 {
			kus.BuildMetadata = []string{types.OriginAnnotations} // or kustomize calls it empty
		}
	} else {
		own = path.Join(dir, konfig.DefaultKustomizationFileName())
		if kus.Resources = b.manifests(dir, dir); len(kus.Resources) == 0 {
			kus.Namespace = "_placeholder" // as Flux does, for the same reason
		}
	}
	if err := b.extend(&kus, dir, k); err != nil {
		return own, nil, err
	}
	text, err = yaml.Marshal(kus)
	return own, text, err
}

// own reads a kustomization file of the tree.
func (b *builder) own(name string, kus *types.Kustomization) error {
	text, err := b.files.read(name)
	if err != nil {
		return err
	}
	local, err := withoutRemote(text, func(int, int, string) {})
	if err != nil {
		return err
	}
	return yaml.Unmarshal(local, kus)
}

func (b *builder) ownFile(dir string) (string, bool) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if file := path.Join(dir, name); b.files.regular[file] {
			return file, true
		}
	}
	return "", false
}

// manifests are the resources of a directory without a kustomization file: all
// of its YAML, and the directories that have such a file as a whole.
func (b *builder) manifests(base, dir string) []string {
	var out []string
	for _, entry := range b.files.entries(dir) {
		name := path.Join(dir, entry)
		below := strings.TrimPrefix(name, strings.TrimPrefix(base+"/", "./"))
		_, own := b.ownFile(name)
		switch {
		case b.files.dirs[name] && own:
			out = append(out, "./"+below)
		case b.files.dirs[name]:
			out = append(out, b.manifests(base, name)...)
		case slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)):
			out = append(out, "./"+below)
		}
	}
	return out
}

// extend adds what the Flux Kustomization says itself.
func (b *builder) extend(kus *types.Kustomization, dir string, k kustomization) error {
	if k.Spec.TargetNamespace != "" {
		kus.Namespace = k.Spec.TargetNamespace
	}
	if k.Spec.NamePrefix != "" {
		kus.NamePrefix = k.Spec.NamePrefix
	}
	if k.Spec.NameSuffix != "" {
		kus.NameSuffix = k.Spec.NameSuffix
	}
	for _, p := range k.Spec.Patches {
		kus.Patches = append(kus.Patches, types.Patch{Patch: p.Patch, Target: p.Target})
	}
	for _, component := range k.Spec.Components {
		if isRemote(component) || path.IsAbs(component) {
			return fmt.Errorf("component %s is not a path relative to %s", component, dir)
		}
		if k.Spec.IgnoreMissingComponents && !b.files.dirs[relative(path.Join(dir, component))] {
			continue
		}
		kus.Components = append(kus.Components, component)
	}
	for _, image := range k.Spec.Images {
		at := slices.IndexFunc(kus.Images, func(i types.Image) bool { return i.Name == image.Name })
		if at < 0 {
			kus.Images = append(kus.Images, image)
			continue
		}
		kus.Images[at] = image
	}
	return nil
}
