package render

import (
	"fmt"
	"io"

	"tombolo/config"
	"tombolo/internal/wording"
)

// FileChanges writes the keys in which a cluster file differs from what the live cluster
// was made from, each with what its change does. Without any it writes nothing.
func FileChanges(w io.Writer, cluster string, changes config.Changes) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintf(w, "%s: %s of the cluster file differ from the live cluster: %s\n", cluster, wording.Count(len(changes), "key"), changes.Summary())
	for _, c := range changes {
		fmt.Fprintf(w, "  %s: %s\n      %s: %s\n", wording.Line(c.Path), wording.Line(c.Values()), c.Effect, c.Words)
	}
}

// fileChanges is the document of such keys in the JSON format.
type fileChanges struct {
	Type    string         `json:"type"`
	Cluster string         `json:"cluster"`
	Effect  config.Effect  `json:"effect"`
	Changes config.Changes `json:"changes"`
}

// WriteFileChanges writes them as a document of the JSON format, with the gravest effect.
// Without any it writes nothing.
func WriteFileChanges(w io.Writer, cluster string, changes config.Changes) error {
	if len(changes) == 0 {
		return nil
	}
	return WriteJSON(w, fileChanges{Type: "file-changes", Cluster: cluster, Effect: changes.Worst(), Changes: changes})
}
