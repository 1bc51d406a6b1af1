package argocd

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/gobwas/glob"

	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// skipMarker in a file makes Argo CD leave it out.
const skipMarker = "+argocd:skip-file-rendering"

// directory is how the manifests of a directory are chosen.
type directory struct {
	Recurse bool   `json:"recurse"`
	Include string `json:"include"`
	Exclude string `json:"exclude"`
}

// hasPlugin says whether a plugin makes the manifests of a source.
func (s Source) hasPlugin() bool { return len(s.Plugin) > 0 && string(s.Plugin) != "null" }

// takes says whether a file of the directory is one of its manifests, by its name from
// there. Source: getPotentiallyValidManifestFile in reposerver/repository/repository.go.
func (d directory) takes(name string) bool {
	excluded := d.Exclude != "" && matches(d.Exclude, name)
	return !excluded && (d.Include == "" || matches(d.Include, name))
}

// matches compares as Argo CD's util/glob does: a star takes in slashes, and a pattern
// that cannot be read matches nothing.
func matches(pattern, name string) bool {
	g, err := glob.Compile(pattern)
	return err == nil && g.Match(name)
}

// directory are the objects of a directory's own manifests.
func (w *Walk) directory(in *walk.Origin, dir string, d directory) []string {
	var out []string
	for _, name := range w.Files.Names() {
		below, ok := strings.CutPrefix(name, dir+"/")
		if dir == "." {
			below, ok = name, true
		}
		if !ok || strings.Contains(below, "/") && !d.Recurse || !d.takes(below) {
			continue
		}
		out = append(out, w.manifests(in, name)...)
	}
	return out
}

// manifests are the objects of one file.
func (w *Walk) manifests(in *walk.Origin, name string) []string {
	jsonnet := path.Ext(name) == ".jsonnet"
	if !jsonnet && !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
		return nil
	}
	text, err := w.Files.Read(name)
	switch {
	case err != nil || bytes.Contains(text, []byte(skipMarker)):
		return nil
	case jsonnet:
		w.Elsewhere = true
		w.Note(tree.Place{File: name}, "is not followed: Argo CD evaluates Jsonnet")
		return nil
	}
	in.Read = append(in.Read, name)
	w.CheckSyntax(name)
	return manifest.Split(text)
}
