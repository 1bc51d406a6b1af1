package trees

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/tools/txtar"
)

// corpus are the trees that the engines and check have not agreed on, one a file. NAME in a file stands
// for the tree's name, which is the file's.
//
//go:embed testdata/*.txtar
var corpus embed.FS

// Known are the trees of the corpus for an engine, "flux" or "argocd": its files' names begin so.
func Known(engine string) ([]Tree, error) {
	files, err := fs.Glob(corpus, "testdata/"+engine+"-*.txtar")
	if err != nil {
		return nil, err
	}
	var out []Tree
	for _, file := range files {
		text, err := corpus.ReadFile(file)
		if err != nil {
			return nil, err
		}
		archive := txtar.Parse(text)
		m := &maker{tree: Tree{
			Name: strings.TrimSuffix(path.Base(file), ".txtar"), Fault: "of the corpus",
			Where: strings.TrimSpace(string(archive.Comment)), Files: map[string]string{},
		}}
		for _, f := range archive.Files {
			m.write(f.Name, string(f.Data))
		}
		out = append(out, m.tree)
	}
	return out, nil
}
