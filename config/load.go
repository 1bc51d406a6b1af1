package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tombolo/config/strict"
	"tombolo/internal/file"
	"tombolo/internal/wording"
)

// Load reads the cluster file at path, fills in defaults and validates it; a spoke
// together with its hub's file. The error is strict.Problems when a file could be
// read but is wrong.
func Load(path string) (*Cluster, error) { return new(Loader).Load(path) }

// Loader loads several cluster files. It reads the file of a hub once for all of its spokes, and each
// file of shared settings once for all clusters. The zero value is ready.
type Loader struct {
	// Read returns the content of a file of shared settings; the error is fs.ErrNotExist for one that
	// is not there. Default: as it is on disk.
	Read func(file string) ([]byte, error)
	hubs map[string]hubRead
	read map[string]*sharedRead
}

// hubRead is what was read of a hub's file.
type hubRead struct {
	cluster *Cluster
	doc     *strict.Document
	err     error
}

// Load is the function Load.
func (l *Loader) Load(path string) (*Cluster, error) {
	c, doc, err := l.load(path)
	if err != nil {
		return nil, err
	}
	if err := doc.Problems().Err(); err != nil {
		return nil, err
	}
	if !c.HasHubFile() {
		return c, nil
	}
	if _, err := l.hubOf(c, doc); err != nil {
		return nil, err
	}
	return c, nil
}

// load also returns the document, for problems that involve other files.
func (l *Loader) load(path string) (*Cluster, *strict.Document, error) {
	doc := strict.NewDocument(path)
	if IsShared(path) {
		doc.Report("", "has settings that clusters share, and is no cluster's", "name a cluster")
		return nil, doc, nil
	}
	content, err := readFile(doc, "cluster file", "name the cluster")
	if err != nil {
		return nil, nil, err
	}
	if content == nil {
		return nil, doc, nil
	}
	below, err := l.under(path, content)
	if err != nil {
		return nil, nil, err
	}
	return parse(doc, content, below), doc, nil
}

// readFile returns the content of the document's file, which is of a kind such as
// "cluster file"; nil, with the problem reported, when it is not to be read.
func readFile(doc *strict.Document, kind, otherwise string) ([]byte, error) {
	if err := file.Inside(doc.File); err != nil {
		doc.Report("", "cannot be read: "+err.Error(), "give the path of a file of the project")
		return nil, nil
	}
	info, err := os.Lstat(doc.File) // nor is the file itself a link
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s %s: %w; check the path, or %s", kind, doc.File, fs.ErrNotExist, otherwise)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, doc.File, err)
	}
	if !info.Mode().IsRegular() { // reading it may never end
		doc.Report("", "is not a regular file", "give the path of a file, not of a directory, a link, a pipe or a device")
		return nil, nil
	}
	if info.Size() > file.MostText {
		doc.Report("", fmt.Sprintf("has %d bytes; a %s has at most %d", info.Size(), kind, file.MostText),
			"move long values to the GitOps repository")
		return nil, nil
	}
	content, err := file.Read(doc.File, file.MostText)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, doc.File, err)
	}
	return append([]byte{}, content...), nil
}

// parse reads the content of a cluster file together with what is under it, and reports into doc.
func parse(doc *strict.Document, content []byte, below under) *Cluster {
	doc.Add(below.problems)
	if below.lacking {
		return nil // what is missing cannot be told
	}
	c := &Cluster{File: doc.File}
	provider := providerOf(cmp.Or(providerWord(content), below.provider))
	if !formatOf(provider).Decode(doc, content, c, below.settings...) {
		return nil
	}
	if c.Version != Version && c.Version != 0 {
		doc.Only("version") // nothing else about another version of the format can be judged
		return c
	}
	c.Cloud.Provider = provider // a word that is none is reported already
	c.followLabels(doc)
	c.setDefaults()
	validate(doc, c)
	c.Warnings = doc.Warnings()
	return c
}

// LoadDir reads all cluster files of a directory, sorted by file name: every
// *.yaml except Pulumi.*.yaml and those of shared settings. A file must have the name of its cluster. The error
// is strict.Problems, of all files together, when files are wrong.
func LoadDir(dir string) ([]*Cluster, error) {
	if err := file.Inside(dir); err != nil {
		return nil, fmt.Errorf("read directory of cluster files: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read directory of cluster files %s: %w", dir, err)
	}
	var loader Loader
	var loaded []loadedFile
	for _, e := range entries {
		if e.IsDir() || !isClusterFile(e.Name()) {
			continue
		}
		c, doc, err := loader.load(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, loadedFile{c, doc})
	}
	checkFileNames(loaded)
	checkHubs(loaded)
	var clusters []*Cluster
	var problems strict.Problems
	for _, f := range loaded {
		clusters = append(clusters, f.cluster)
		problems = append(problems, f.doc.Problems()...)
	}
	if len(problems) == 0 {
		if problems, err = loader.Unread(dir); err != nil {
			return nil, err
		}
	}
	if err := problems.InOrder().Err(); err != nil {
		return nil, err
	}
	return clusters, nil
}

type loadedFile struct {
	cluster *Cluster // nil when the file is not YAML
	doc     *strict.Document
}

// stem of a file's name.
func (f loadedFile) stem() string {
	base := filepath.Base(f.doc.File)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// isClusterFile accepts .yml too, so that such a file is reported and not
// overlooked.
func isClusterFile(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(name, "Pulumi.") && !strings.HasPrefix(name, ".") && !IsShared(name)
}

// checkFileNames expects every file to be <name>.yaml, which also makes names unique.
func checkFileNames(files []loadedFile) {
	named := map[string]string{}
	for _, f := range files {
		if f.cluster != nil && f.cluster.Name == f.stem() {
			named[f.cluster.Name] = f.doc.File
		}
	}
	for _, f := range files {
		if filepath.Ext(f.doc.File) == ".yml" {
			f.doc.Report("", "ends in .yml", fmt.Sprintf("call the file %s.yaml", f.stem()))
		}
		if f.cluster == nil || !f.doc.Sound("name") || f.cluster.Name == f.stem() {
			continue
		}
		name := f.cluster.Name
		if other, ok := named[name]; ok {
			f.doc.Report("name", fmt.Sprintf("%s is already the name of the cluster in %s", wording.Quote(name), other),
				fmt.Sprintf("give each cluster its own name; here %s, after the file", wording.Quote(f.stem())))
			continue
		}
		f.doc.Report("name", fmt.Sprintf("is %s, and the file is called %s", wording.Quote(name), filepath.Base(f.doc.File)),
			fmt.Sprintf("call the file %s.yaml, or the cluster %s", name, wording.Quote(f.stem())))
	}
}
