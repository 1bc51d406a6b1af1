package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/scalar"
	"tombolo/internal/wording"
)

// This file is about settings that clusters share: beside the cluster files, _defaults.yaml is for all
// of them, and _<environment>.yaml for those of an environment. Package strict has the rules by which
// they are merged.

const (
	sharedMark   = "_"
	defaultsName = "defaults"
)

// IsShared says that a file beside cluster files has settings that clusters share.
func IsShared(file string) bool { return strings.HasPrefix(filepath.Base(file), sharedMark) }

// SharedFiles are the files whose settings the cluster has where its own says nothing, the nearest
// first. They need not be there.
func (c *Cluster) SharedFiles() []string {
	if c.Account != nil {
		return nil
	}
	return sharedFiles(c.File, c.Environment)
}

func sharedFiles(clusterFile, environment string) []string {
	file := func(name string) string { return filepath.Join(filepath.Dir(clusterFile), sharedMark+name+".yaml") }
	if message, _ := form.Label("dev").CheckText(environment); message != "" || environment == "" || environment == defaultsName {
		return []string{file(defaultsName)} // what is no environment is reported when the file is decoded
	}
	return []string{file(environment), file(defaultsName)}
}

// sharedRead is what was read of a file of shared settings.
type sharedRead struct {
	// problems of the file itself, whoever reads it.
	problems strict.Problems
	// settings are nil where the file is not there, or is not YAML.
	settings *strict.Shared
	// provider is the cloud that the file is for, as it is written; "" for any.
	provider string
	err      error
}

// under is what a cluster file has below it.
type under struct {
	settings []*strict.Shared
	provider string
	problems strict.Problems
	// lacking says that a file could not be read: what it has is not known.
	lacking bool
}

// under reads the shared files of a cluster file with a content.
func (l *Loader) under(clusterFile string, content []byte) (under, error) {
	environment, _ := scalar.At(content, "environment") // an error is reported when the file is decoded
	var u under
	for _, file := range slices.Backward(sharedFiles(clusterFile, environment)) { // those farther away say the cloud
		read := l.shared(file, u.provider)
		if read.err != nil {
			return under{}, read.err
		}
		u.problems = append(u.problems, read.problems...)
		u.provider = cmp.Or(read.provider, u.provider)
		if read.settings != nil {
			u.settings = slices.Insert(u.settings, 0, read.settings)
		}
		u.lacking = u.lacking || read.settings == nil && len(read.problems) > 0
	}
	return u, nil
}

// shared reads a file of shared settings, once. provider is that of the files below it.
func (l *Loader) shared(file, provider string) *sharedRead {
	read, known := l.read[file]
	if !known {
		read = l.readShared(file, provider)
		if l.read == nil {
			l.read = map[string]*sharedRead{}
		}
		l.read[file] = read
	}
	return read
}

func (l *Loader) readShared(file, provider string) *sharedRead {
	doc := strict.NewDocument(file)
	read := l.Read
	if read == nil {
		read = func(string) ([]byte, error) { return readFile(doc, "file of shared settings", "remove it") }
	}
	content, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &sharedRead{}
	}
	if err != nil {
		return &sharedRead{err: err}
	}
	out := &sharedRead{}
	if content != nil {
		out.provider = providerWord(content)
		out.settings = sharedFormat(cmp.Or(out.provider, provider)).Share(doc, content, new(Cluster))
	}
	out.problems = doc.Problems()
	return out
}

// sharedFormat is the format of the files of shared settings for a cloud, and of those for any.
func sharedFormat(provider string) strict.Format {
	f := clusterFormat
	f.Rule = ruleOfAny
	if provider != "" {
		f = formatOf(providerOf(provider))
	}
	f.Empty = "write what clusters share, or remove the file"
	f.Several = "put all settings into one document"
	omitted := f.Omit
	f.Omit = func(owner reflect.Type, name string, tag reflect.StructTag) *strict.Omission {
		if described[owner.Name()+"."+name].Own {
			return &strict.Omission{Message: "is each cluster's own, and this file is for several", Remedy: "write it into the cluster files"}
		}
		if omitted == nil {
			return nil
		}
		return omitted(owner, name, tag)
	}
	return f
}

// ruleOfAny is the rule of a field in files that are for clusters of any cloud.
func ruleOfAny(name string) strict.Rule {
	if d := described[name]; d.AzureRule != nil {
		return strict.Rule{Secret: d.Rule.Secret}
	}
	return ruleOf(name)
}

// Unread are the files of shared settings in a directory that no cluster file has led to: settings that
// no cluster has, mostly by a wrong name. The loader has loaded all cluster files of the directory.
func (l *Loader) Unread(dir string) (strict.Problems, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read directory of cluster files %s: %w", dir, err)
	}
	var environments []string
	for file := range l.read {
		if name := environmentOf(file); name != defaultsName && !slices.Contains(environments, name) {
			environments = append(environments, name)
		}
	}
	slices.Sort(environments)
	var out strict.Problems
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		ext := filepath.Ext(file)
		if !IsShared(file) || ext != ".yaml" && ext != ".yml" || l.read[file] != nil {
			continue
		}
		p := strict.Problem{File: file, Line: 1, Column: 1}
		name := environmentOf(file)
		near := wording.Nearest(name, environments)
		switch {
		case ext == ".yml":
			p.Message, p.Remedy = "ends in .yml", fmt.Sprintf("call the file %s%s.yaml", sharedMark, name)
		case near != "":
			p.Message = fmt.Sprintf("is for the environment %s, which no cluster has", wording.Quote(name))
			p.Remedy = fmt.Sprintf("did you mean %s%s.yaml?", sharedMark, near)
		default:
			p.Message = fmt.Sprintf("is for the environment %s, which no cluster has", wording.Quote(name))
			p.Remedy = fmt.Sprintf("remove it, or call it after an environment: %s", wording.Or(environments))
		}
		out = append(out, p)
	}
	return out, nil
}

func environmentOf(file string) string {
	base := filepath.Base(file)
	return strings.TrimPrefix(strings.TrimSuffix(base, filepath.Ext(base)), sharedMark)
}
