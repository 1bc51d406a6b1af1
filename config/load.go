package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// maxFileSize of a cluster file, in bytes; what it becomes must fit into
// ConfigMaps, which hold as much.
const maxFileSize = 1 << 20

// Load reads the cluster file at path, fills in defaults and validates it; of a
// spoke, together with its hub's file. The error is Problems when a file could
// be read but is wrong.
func Load(path string) (*Cluster, error) {
	c, doc, err := load(path)
	if err != nil {
		return nil, err
	}
	if err := doc.problems.inOrder().err(); err != nil {
		return nil, err
	}
	if !c.IsSpoke() {
		return c, nil
	}
	if _, err := hubOf(c, doc); err != nil {
		return nil, err
	}
	return c, nil
}

// load keeps the document, for problems that show only beside other files.
func load(path string) (*Cluster, *document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, unreadableFile(path, err)
	}
	doc := newDocument(path)
	if !info.Mode().IsRegular() { // reading it may never end
		doc.add(position{1, 1}, "", "is not a regular file", "give the path of a file, not of a directory, a pipe or a device")
		return nil, doc, nil
	}
	if info.Size() > maxFileSize {
		doc.add(position{1, 1}, "", fmt.Sprintf("has %d bytes; a cluster file has at most %d", info.Size(), maxFileSize),
			"move what is long into the GitOps repository")
		return nil, doc, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, unreadableFile(path, err)
	}
	return parse(doc, content), doc, nil
}

func unreadableFile(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read cluster file %s: %w; check the path, or name the cluster", path, fs.ErrNotExist)
	}
	return fmt.Errorf("read cluster file %s: %w", path, err)
}

// parse reads the content of a cluster file, and reports into doc.
func parse(doc *document, content []byte) *Cluster {
	root := parseYAML(doc, content)
	if root == nil {
		return nil
	}
	c := &Cluster{File: doc.file}
	d := newDecoder(doc)
	d.decode(nil, root, "", reflect.ValueOf(c).Elem(), rule{})
	if otherVersion(doc, c) || doc.broken[""] {
		return c
	}
	c.setDefaults()
	validate(doc, c)
	return c
}

// otherVersion says whether the file is of another version of the format. Then
// that is its only problem: nothing else about it can be judged.
func otherVersion(doc *document, c *Cluster) bool {
	if c.Version == Version || c.Version == 0 {
		return false
	}
	doc.problems = slices.DeleteFunc(doc.problems, func(p Problem) bool { return p.Path != "version" })
	return true
}

// LoadDir reads all cluster files of a directory, sorted by file name: every
// *.yaml but the Pulumi.*.yaml beside them. A file must be called after its
// cluster. The error is Problems, of all files together, when files are wrong.
func LoadDir(dir string) ([]*Cluster, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read directory of cluster files %s: %w", dir, err)
	}
	var loaded []loadedFile
	for _, e := range entries {
		if e.IsDir() || !isClusterFile(e.Name()) {
			continue
		}
		c, doc, err := load(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, loadedFile{c, doc})
	}
	checkFileNames(loaded)
	checkHubs(loaded)
	var clusters []*Cluster
	var problems Problems
	for _, f := range loaded {
		clusters = append(clusters, f.cluster)
		problems = append(problems, f.doc.problems...)
	}
	if err := problems.inOrder().err(); err != nil {
		return nil, err
	}
	return clusters, nil
}

type loadedFile struct {
	cluster *Cluster // nil when the file is not YAML
	doc     *document
}

// stem of a file's name.
func (f loadedFile) stem() string {
	base := filepath.Base(f.doc.file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// isClusterFile takes .yml too, so that such a file is told its right name
// instead of being overlooked.
func isClusterFile(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(name, "Pulumi.") && !strings.HasPrefix(name, ".")
}

// checkFileNames holds every file to <name>.yaml, which also makes names unique.
func checkFileNames(files []loadedFile) {
	named := map[string]string{}
	for _, f := range files {
		if f.cluster != nil && f.cluster.Name == f.stem() {
			named[f.cluster.Name] = f.doc.file
		}
	}
	for _, f := range files {
		if filepath.Ext(f.doc.file) == ".yml" {
			f.doc.add(position{1, 1}, "", "ends in .yml", fmt.Sprintf("call the file %s.yaml", f.stem()))
		}
		if f.cluster == nil || !f.doc.sound("name") || f.cluster.Name == f.stem() {
			continue
		}
		name := f.cluster.Name
		at := f.doc.position("name")
		if other, ok := named[name]; ok {
			f.doc.add(at, "name", fmt.Sprintf("%s is already the cluster of %s", quote(name), other),
				fmt.Sprintf("give each cluster its own name; here %s, after the file", quote(f.stem())))
			continue
		}
		f.doc.add(at, "name", fmt.Sprintf("is %s, and the file is called %s", quote(name), filepath.Base(f.doc.file)),
			fmt.Sprintf("call the file %s.yaml, or the cluster %s", name, quote(f.stem())))
	}
}
