package clusters

import (
	"io"
	"slices"

	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/config/strict"
)

// Warnings are those of a cluster's file, with the path by which people name the file.
func Warnings(c *config.Cluster) strict.Problems { return short(c.Warnings) }

// Warn shows the warnings of clusters' files to people, one on a line: first those of shared settings,
// each once.
func Warn(s render.Status, all ...*config.Cluster) {
	WarnOfShared(s, all)
	for _, c := range all {
		WarnOfOwn(s, c)
	}
}

// WarnOfShared shows the warnings of settings that clusters share, each once.
func WarnOfShared(s render.Status, all []*config.Cluster) {
	var shared strict.Problems
	for _, c := range all {
		shared = append(shared, slices.DeleteFunc(Warnings(c), func(w strict.Problem) bool { return w.With == "" })...)
	}
	for _, w := range shared.Once() {
		s.Plain("%s", w.Warning())
	}
}

// WarnOfOwn shows the warnings of what a cluster's own file says.
func WarnOfOwn(s render.Status, c *config.Cluster) {
	for _, w := range Warnings(c) {
		if w.With == "" {
			s.Plain("%s", w.Warning())
		}
	}
}

// warnings is the document of a file's warnings in the JSON format. The list is that of
// `tombolo validate`.
type warnings struct {
	Type     string          `json:"type"`
	File     string          `json:"file"`
	Cluster  string          `json:"cluster"`
	Warnings strict.Problems `json:"warnings"`
}

// WriteWarnings writes the warnings of a cluster's file as a document of the JSON format.
// Without any it writes nothing.
func WriteWarnings(w io.Writer, c *config.Cluster) error {
	if len(c.Warnings) == 0 {
		return nil
	}
	return render.WriteJSON(w, warnings{Type: "warnings", File: Short(c.File), Cluster: c.Name, Warnings: Warnings(c)})
}
