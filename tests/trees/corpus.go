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

// OfCorpus is the fault of trees that no grammar has made.
const OfCorpus = "of the corpus"

// Known are the trees of the corpus for an engine, whose name the names of their files begin with.
func Known(engine Engine) ([]Tree, error) {
	prefix := strings.ToLower(strings.ReplaceAll(string(engine), " ", ""))
	files, err := fs.Glob(corpus, "testdata/"+prefix+"-*.txtar")
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
			Name: strings.TrimSuffix(path.Base(file), ".txtar"), Fault: OfCorpus,
			Where: strings.TrimSpace(string(archive.Comment)), Files: map[string]string{},
		}}
		for _, f := range archive.Files {
			m.write(f.Name, string(f.Data))
		}
		out = append(out, m.tree)
	}
	return out, nil
}
