package flux

import (
	"errors"
	"fmt"
	"regexp"

	"tombolo/check/finding"
	"tombolo/check/inventory"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/gitaddress"
)

// repository is a GitRepository and the build that holds it.
type repository struct {
	manifest.Object
	Spec struct {
		URL string `json:"url"`
		Ref struct {
			Branch string `json:"branch"`
			Tag    string `json:"tag"`
			SemVer string `json:"semver"`
			Name   string `json:"name"`
			Commit string `json:"commit"`
		} `json:"ref"`
		RecurseSubmodules bool `json:"recurseSubmodules"`
		fetching
	} `json:"spec"`
	in *walk.Origin
}

func (r *repository) id() inventory.ID {
	return inventory.ID{Kind: r.Kind, Namespace: r.Metadata.Namespace, Name: r.Metadata.Name}
}

// branch that it follows; "" for another revision. Source: Clone in gogit/client.go of fluxcd/pkg/git.
func (r *repository) branch() string {
	ref := r.Spec.Ref
	switch {
	case ref.Commit != "":
		return ""
	case ref.Name != "":
		if m := branchName.FindStringSubmatch(ref.Name); m != nil {
			return m[1]
		}
		return ""
	case ref.SemVer != "", ref.Tag != "":
		return ""
	case ref.Branch != "":
		return ref.Branch
	}
	return "master" // of the definition
}

var branchName = regexp.MustCompile(`^refs/heads/(.+)$`)

// takeRepository takes note of a GitRepository: it may be this tree by another name.
func (w *Walk) takeRepository(in *walk.Origin, o manifest.Object, text string) error {
	r, err := manifest.Decode[repository](text)
	if err != nil {
		return err
	}
	r.in = in
	if gitaddress.IsSCP(r.Spec.URL) && !w.isDefined() { // whose definition says so, too
		w.Refer(in, tree.Wanted{Object: o, Path: []string{"spec", "url"}, Value: r.Spec.URL}, finding.Errorf(
			"%s: spec.url has scp's form, which the API refuses", r.Identity()).WithRemedy("write "+gitaddress.URL(r.Spec.URL)))
	}
	if r.id() == platform {
		w.takeOwn(&r)
		return nil
	}
	w.takeSource(o)
	if w.Published.Repository.URL != "" && gitaddress.Same(r.Spec.URL, w.Published.Repository.URL) {
		w.repositories = append(w.repositories, &r)
		w.sources[r.id()] = nil // until its includes are known
	}
	return nil
}

// takeOwn takes note of what the tree says of the repository that it is in: with it, the tree is another one.
func (w *Walk) takeOwn(r *repository) {
	if r.Spec.asks() && w.own == nil {
		w.own = r
	}
}

// fetch makes the trees of the repositories whose includes are known, and says whether it made any.
func (w *Walk) fetch() (made bool) {
	for _, r := range w.repositories {
		included, ok := w.includedIn(r)
		if w.sources[r.id()] != nil || !ok {
			continue
		}
		w.sources[r.id()] = w.fetched(r, included)
		made = true
	}
	return made
}

// includedIn are the trees of what a repository includes; ok says that all are known.
func (w *Walk) includedIn(r *repository) (out []*source, ok bool) {
	for _, i := range r.Spec.Include {
		s := w.sources[inventory.ID{Kind: r.Kind, Namespace: r.Metadata.Namespace, Name: i.Repository.Name}]
		if s == nil {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

func (w *Walk) fetched(r *repository, included []*source) *source {
	if branch := r.branch(); branch != w.Published.Repository.Branch {
		return &source{why: fmt.Sprintf("it follows another revision of this repository than the branch %s", w.Published.Repository.Branch)}
	}
	if r.Spec.RecurseSubmodules && w.trees.repository.IsFile(".gitmodules") {
		return &source{why: "it has submodules"}
	}
	var trees []*walk.Source
	for i, s := range included {
		if s.tree == nil {
			return &source{why: fmt.Sprintf("it includes GitRepository %s, which is not in this tree", r.Spec.Include[i].Repository.Name)}
		}
		trees = append(trees, s.tree)
	}
	made, err := w.trees.artifact(r.Spec.fetching, trees)
	var m *missing
	if errors.As(err, &m) {
		w.Incomplete = true
		w.Refer(r.in, tree.Wanted{Object: r.Object, Path: m.path, Value: m.value}, finding.Errorf("%s: %s: it is not fetched", r.Identity(), m.message).
			WithRemedy("correct it"))
		return &source{why: "it is not fetched"}
	}
	return &source{tree: made}
}

// checkIncludes looks for repositories that are included and that nothing makes.
func (w *Walk) checkIncludes() {
	for _, r := range w.repositories {
		for _, i := range r.Spec.Include {
			a := w.absent(reference{Kind: r.Kind, Name: i.Repository.Name}, r.Metadata.Namespace)
			if _, ok := w.inventory.Find(a.ID); ok || w.Incomplete {
				continue
			}
			w.Refer(r.in, tree.Wanted{Object: r.Object, Path: []string{"spec", "include", "[]", "repository", "name"}, Value: a.Name}, finding.New(a.gravity(),
				"%s: include refers to %s %s/%s, which is not in the tree", r.Identity(), a.Kind, a.Namespace, a.Name).WithRemedy(a.remedy(addSource(a.Kind))))
		}
	}
}

// restart follows the tree again as the tree itself asks for it.
func (w *Walk) restart() {
	included, ok := w.includedIn(w.own)
	if !ok {
		return
	}
	r := w.own
	r.Spec.Ref.Name = "refs/heads/" + w.Published.Repository.Branch // whichever it is: bootstrap says
	again := w.fetched(r, included)
	if again.tree == nil {
		return
	}
	*w.Walk = walk.Walk{
		Name: w.Name, Files: again.tree.Files, Builds: again.tree.Builds, Published: w.Published, Fleet: w.Fleet, Used: map[string]bool{},
	}
	*w = *New(w.Walk, w.trees)
	w.own = r
	w.followAll()
}
