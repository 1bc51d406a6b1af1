// Package walk is what following a platform tree for one cluster has in common,
// whichever engine the cluster has: where things come from, what was found, and
// how far the tree could be followed.
package walk

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/kustomize/api/types"

	"tombolo/check/finding"
	"tombolo/check/inventory"
	"tombolo/check/kustomize"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/internal/wording"
)

// Walk follows the tree for one cluster.
type Walk struct {
	// Name goes before the names of the tree's files in findings.
	Name string
	// Files of the tree, and what kustomize makes of them.
	Files  *tree.Files
	Builds *kustomize.Builder
	// Published to the cluster.
	Published published.Set
	// Fleet is what is published to all clusters, this one too.
	Fleet []published.Set

	// Findings so far.
	Findings []finding.OfCluster
	// Used are the variables and objects that the cluster publishes and the tree
	// uses: names of variables, and namespace/name.
	Used map[string]bool
	// needing are the keys that objects need of others, and writing what Azure Service Operator writes for them.
	needing []needed
	writing []written
	// applied is what applies the objects.
	applied map[manifest.Object]string
	// Incomplete says that something could not be built: then it is not known
	// what the tree makes, and what seems missing or unused is not judged.
	Incomplete bool
	// Elsewhere says that something was not followed, which may make what is
	// missing here.
	Elsewhere bool
}

// Source is a tree that an engine builds from: the platform tree, or one that is composed of it.
type Source struct {
	Files  *tree.Files
	Builds *kustomize.Builder
}

// NewSource is a source that nothing was built from.
func NewSource(files *tree.Files) *Source { return &Source{files, kustomize.NewBuilder(files)} }

// SourceOf is what an object builds from.
func (w *Walk) SourceOf(o *Origin) *Source {
	if o == nil || o.Source == nil {
		return &Source{w.Files, w.Builds}
	}
	return o.Source
}

// Origin is the object of an engine whose build other objects come from.
type Origin struct {
	// Parent is the one whose build holds it; nil at the start.
	Parent *Origin
	// Object that asks for the build.
	Object manifest.Object
	// Path that it builds.
	Path string
	// Source is the tree that it builds from; nil for the platform tree.
	Source *Source
	// Read are the source's files that its own build reads.
	Read []string
	// Evaluate is what its build makes of a text of the files; nil if it leaves
	// texts as they are.
	Evaluate func(text string) string
}

// Dir is the directory of the tree that it builds.
func (o *Origin) Dir() string {
	if o == nil {
		return "."
	}
	return tree.Relative(o.Path)
}

func (o *Origin) plain(text string) string {
	if o.Evaluate == nil {
		return text
	}
	return o.Evaluate(text)
}

// StartsInTree says whether the cluster's path is in the tree.
func (w *Walk) StartsInTree() bool { return w.Files.IsDir(tree.Relative(w.Published.Path)) }

// NearDir advises about a directory that is not in the tree.
func (w *Walk) NearDir(dir string) string { return w.SourceOf(nil).NearDir(dir) }

// NearDir advises about a directory that is not in the source.
func (s *Source) NearDir(dir string) string {
	if link := s.Files.LinkOn(tree.Relative(dir)); link != "" {
		return leftOut(link, s.Files.Links()[link])
	}
	if word := wording.Nearest(tree.Relative(dir), s.Files.Dirs()); word != "" {
		return fmt.Sprintf("did you mean %q?", word)
	}
	return "make the directory, or correct the path"
}

// NearFile advises about a file that is not in the tree, by the name that it has
// in another file: it asks for the entry of the same directory that was probably
// meant, or gives other advice.
func (w *Walk) NearFile(file, name, otherwise string) string {
	return nearFile(w.Files, file, name, otherwise)
}

// leftOut advises about a link that is not followed: because its engine has none, or because it leads nowhere.
func leftOut(link, target string) string {
	return fmt.Sprintf("%s is a symbolic link, which Flux does not have in its artifact and Argo CD follows within the tree alone: name what it leads to, %s, or put a copy in its place", link, target)
}

func nearFile(files *tree.Files, file, name, otherwise string) string {
	if link := files.LinkOn(tree.Relative(path.Join(path.Dir(file), name))); link != "" {
		return leftOut(link, files.Links()[link])
	}
	dir := tree.Relative(path.Join(path.Dir(file), path.Dir(name)))
	word := wording.Nearest(path.Base(name), files.Entries(dir))
	if word == "" {
		return otherwise
	}
	return fmt.Sprintf("did you mean %q?", path.Join(path.Dir(name), word))
}

// Build makes the objects of a directory with kustomize, and reports what it did
// not follow or could not build.
func (w *Walk) Build(o *Origin, options kustomize.Options) ([]kustomize.Object, bool) {
	source := w.SourceOf(o)
	b := source.Builds.Build(o.Dir(), options)
	o.Read = b.Read
	for at, reference := range b.Remote {
		w.notFollowed(source, at, reference)
	}
	w.checkLinks(source, o.Dir())
	if b.Err != nil {
		w.Incomplete = true
		w.failedBuild(o, b, options)
		return nil, false
	}
	return b.Objects, true
}

// checkLinks warns of links to manifests in a directory of which Flux takes all: it does not say that it leaves them out.
func (w *Walk) checkLinks(s *Source, dir string) {
	if _, listed := s.Builds.File(dir); listed || w.Published.Registration != nil {
		return
	}
	for _, link := range slices.Sorted(maps.Keys(s.Files.Links())) {
		if tree.IsManifest(link) && (dir == "." || strings.HasPrefix(link, dir+"/")) {
			w.At(s.Files.Origin(tree.Place{File: link}), finding.Warningf("is a symbolic link, which Flux leaves out, and does not say so").
				WithRemedy("put a copy of "+s.Files.Links()[link]+" in its place"))
		}
	}
}

// notFollowed reports a reference of a kustomization file that is no path of the tree. Flux's
// kustomize-controller has no Git, so that it builds none that needs it; Argo CD fetches.
// Decision 54 has the reasons.
func (w *Walk) notFollowed(source *Source, at tree.Place, reference string) {
	flux := w.Published.Registration == nil
	f := finding.Notef("%s is not followed: it is not in this tree", reference)
	switch kind := kustomize.KindOf(path.Dir(at.File), reference); {
	case kind == kustomize.Outside:
		w.Incomplete = true
		f = finding.Errorf("%s is outside of the tree: the engine does not build it", reference).
			WithRemedy("name a file or directory of the tree, by the path from " + path.Dir(at.File))
	case kind == kustomize.Git && flux:
		w.Incomplete = true
		f = finding.Errorf("%s is in another repository, and Flux's kustomize-controller has no Git here: it does not build it", reference).
			WithRemedy("name the repository by a GitRepository, and the directory by a Kustomization of its own")
	case kind == kustomize.Address && flux:
		f.Severity = finding.Warning
		f.Message += ", and where no manifest is at the address, kustomize asks Git, which Flux's kustomize-controller does not have here"
		f.Remedy = "name a manifest by an address that ends in .yaml, or a repository by a GitRepository"
	case kind == kustomize.Unclear:
		f.Severity = finding.Warning
		f.Message += ", or its name could be a repository's"
		f.Remedy = "give the file a name without : @ ? and \\"
	}
	w.Elsewhere = true
	w.At(source.Files.Origin(at), f)
}

// failedBuild says why kustomize cannot build a directory: at what is not in the
// tree if that is the reason, and else in kustomize's words.
func (w *Walk) failedBuild(o *Origin, b kustomize.Built, options kustomize.Options) {
	before, source := len(w.Findings), w.SourceOf(o)
	for _, name := range b.Read {
		if tree.IsKustomization(name) {
			w.checkLoaded(source.Files, name, options.OwnFilesOnly)
			w.checkFields(source.Files, name)
		}
		w.checkKeys(source.Files, name)
	}
	if len(w.Findings) > before {
		return
	}
	asking, asked := source, []string(nil)
	if o.Parent != nil {
		asking, asked = w.SourceOf(o.Parent), o.Parent.Read
	}
	why, ofParent := source.Builds.Refused(o.Dir(), b, asking.Builds, asked)
	at := w.start(o)
	switch {
	case ofParent:
		at = asking.Files.Origin(why.At)
	case why.At.File != o.Dir():
		at = source.Files.Origin(why.At)
	}
	w.At(at, finding.Errorf("%s cannot be built: %s", o.Object.Identity(), shortened(why.Cause)).
		WithRemedy(refusedRemedy(why.Cause)))
}

// refusedRemedy is what to do about a reason of kustomize's.
func refusedRemedy(cause string) string {
	for _, known := range [][2]string{
		{"already registered id", "leave one of the two objects out, or give one another name or namespace"},
		{"no matches for Id", "correct the kind, name or namespace in the patch, or remove it"},
		{"doc is missing", "use op: add, or correct the path"},
		{"cycle detected", "remove one of the entries that lead back"},
		{"expected kind != 'Component'", "list it in components"},
		{"expected kind 'Component'", "list it in resources, or set kind: Component and apiVersion: " + types.ComponentVersion},
		{"must specify --enable-helm", "have the engine release the chart, by a HelmRelease or an Application"},
	} {
		if strings.Contains(cause, known[0]) {
			return known[1]
		}
	}
	return "correct what kustomize refuses"
}

// checkLoaded reports what a kustomization file names and the tree does not
// have, and files that kustomize does not load from where they are.
func (w *Walk) checkLoaded(files *tree.Files, file string, ownFilesOnly bool) {
	dir := path.Dir(file)
	for _, d := range files.Documents(file) {
		d.Each(func(v tree.Value) {
			name, ok := kustomize.Loads(v)
			if !ok || tree.Leaves(dir, name) {
				return
			}
			within := tree.Relative(path.Join(dir, name))
			switch isFile := files.IsFile(within); {
			case !isFile && !files.IsDir(within):
				w.At(files.Origin(valueIn(file, d, v)), finding.Errorf("%s is not in the tree", name).
					WithRemedy(nearFile(files, file, name, "add it, or remove it from "+path.Base(file))))
			case isFile && ownFilesOnly && dir != "." && !strings.HasPrefix(within, dir+"/"):
				w.At(files.Origin(valueIn(file, d, v)), finding.Errorf("%s is outside of %s: Argo CD has kustomize load files from the kustomization's own directory alone", name, dir).
					WithRemedy("move the file below the directory, or give it a kustomization.yaml of its own and name that directory"))
			}
		})
	}
}

// checkFields reports what a kustomization file cannot have.
func (w *Walk) checkFields(files *tree.Files, file string) {
	text, err := files.Read(file)
	field := kustomize.UnknownField(text)
	if err != nil || field == "" {
		return
	}
	for _, d := range files.Documents(file) {
		d.Each(func(v tree.Value) {
			if v.IsKey && v.Node.Value == field {
				w.At(files.Origin(valueIn(file, d, v)), finding.Errorf("kustomize knows no field %q here", field).
					WithRemedy(near.DidYouMean(field, kustomize.Lists(), "correct or remove it")))
			}
		})
	}
}

func valueIn(file string, d tree.Document, v tree.Value) tree.Place {
	line, column := d.At(v)
	return tree.Place{File: file, Line: line, Column: column}
}

// yamlLine is where the parser says the line of a problem, the decoder that of a key which is there twice.
var yamlLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s+)?line (\d+): (.*)`)

// CheckSyntax reports a file that is not YAML.
func (w *Walk) CheckSyntax(file string) {
	w.checkSyntax(w.Files, file, func() any { return new(yaml.Node) })
}

// checkKeys reports a file that is not YAML, or that has a key twice, which kustomize refuses.
func (w *Walk) checkKeys(files *tree.Files, file string) {
	before := len(w.Findings)
	w.checkSyntax(files, file, func() any { return new(any) })
	if text, err := files.Read(file); err == nil && len(w.Findings) == before && slices.Contains([]string{".yaml", ".yml"}, path.Ext(file)) {
		w.ofDocument(files, file, string(text))
	}
}

func (w *Walk) checkSyntax(files *tree.Files, file string, into func() any) {
	text, err := files.Read(file)
	if err != nil || !tree.IsManifest(file) {
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for err == nil {
		err = decoder.Decode(into())
	}
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return
	}
	line, _ := strconv.Atoi(m[1]) // digits
	w.At(files.Origin(tree.Place{File: file, Line: line, Column: 1}), finding.Errorf("this is not YAML: %s", m[2]).
		WithRemedy(syntaxRemedy(m[2])))
}

// ofDocument reports the first document that is not YAML by itself, as kustomize reads it: the parser says no line then, and
// of a whole file it takes aliases of other documents.
func (w *Walk) ofDocument(files *tree.Files, file, text string) {
	line := 1
	for document := range strings.SplitSeq(text, "\n---") {
		if err := yaml.Unmarshal([]byte(document), new(any)); err != nil {
			at, remedy := tree.Place{File: file, Line: line, Column: 1}, "look at what is between its documents"
			if m := unknownAnchor.FindStringSubmatch(err.Error()); m != nil {
				before, _, _ := strings.Cut(document, "*"+m[1])
				at.Line, at.Column = line+strings.Count(before, "\n"), 1+utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
				remedy = "define it with & before the alias, in the same document"
			}
			says := lineBefore.ReplaceAllString(err.Error(), "")
			w.At(files.Origin(at), finding.Errorf("this is not YAML: %s", says).WithRemedy(remedy))
			return
		}
		line += 1 + strings.Count(document, "\n")
	}
}

// lineBefore is what the parser says before a problem, of one document.
var lineBefore = regexp.MustCompile(`^yaml: (line \d+: )?`)

// unknownAnchor is an alias of what its document does not have.
var unknownAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)

func syntaxRemedy(problem string) string {
	if strings.Contains(problem, "already defined") {
		return "remove one of the two"
	}
	return "correct it at this line or the one before; a variable that stands for a list or mapping is written without brackets around it"
}

// longestCause is how much is said of an error, in characters: kustomize quotes whole objects in it.
const longestCause = 1000

// shortened is the start and the end of a reason.
func shortened(text string) string {
	all := []rune(wording.OneLine(text))
	if len(all) <= longestCause {
		return string(all)
	}
	return string(all[:longestCause/2]) + " … " + string(all[len(all)-longestCause/2:])
}

// Innermost is the first line of the end of an error's chain: kustomize wraps an
// error once for every directory on its way.
func Innermost(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	text, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return text
}

// CheckSecrets warns of Secrets that the cluster file names, and that the tree does not make.
func (w *Walk) CheckSecrets(made inventory.Inventory) {
	if w.Incomplete {
		return
	}
	for _, s := range w.Published.Secrets {
		wanted := inventory.ID{Kind: "Secret", Namespace: s.Namespace, Name: s.Name}
		if _, ok := made.Find(wanted); ok || made.MayBeMade(wanted) {
			continue
		}
		w.InClusterFile(s.Setting, finding.Warningf(
			"nothing in the tree makes the Secret %s/%s, which %s names", s.Namespace, s.Name, strings.Join(s.Setting, ".")).
			WithRemedy(near.DidYouMean(s.Name, made.In("Secret", s.Namespace), "add an ExternalSecret or SealedSecret of that name ("+s.Guide+")")))
	}
}
