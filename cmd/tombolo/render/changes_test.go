package render

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config"
)

func TestFileChanges(t *testing.T) {
	changes := config.Changes{
		{Path: "kubernetes.nodeGroups[0].diskGiB", Before: 50, After: 80, Effect: config.RollsNodes, Words: "EKS rolls the nodes"},
		{Path: "kubernetes.admins", Before: "ops", Effect: config.InPlace, Words: "the access entry is deleted"},
	}
	var text, document strings.Builder
	FileChanges(&text, "demo", changes)
	assert.Equal(t, text.String(), `demo: 2 keys of the cluster file differ from the live cluster: 1 rolls nodes, 1 in place
  kubernetes.nodeGroups[0].diskGiB: 50 -> 80
      rolls nodes: EKS rolls the nodes
  kubernetes.admins: removed ops
      in place: the access entry is deleted
`)
	assert.NilError(t, WriteFileChanges(&document, "demo", changes))
	assert.Equal(t, document.String(), `{"type":"file-changes","cluster":"demo","effect":"rolls nodes","changes":[`+
		`{"path":"kubernetes.nodeGroups[0].diskGiB","before":50,"after":80,"effect":"rolls nodes","words":"EKS rolls the nodes"},`+
		`{"path":"kubernetes.admins","before":"ops","after":null,"effect":"in place","words":"the access entry is deleted"}]}`+"\n")
	text.Reset()
	document.Reset()
	FileChanges(&text, "demo", nil)
	assert.NilError(t, WriteFileChanges(&document, "demo", nil))
	assert.Equal(t, text.String()+document.String(), "")
}
