package config

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	"tombolo/config/strict"
	"tombolo/internal/file"
)

// This file writes into cluster files. It changes the text of the values, and leaves
// what people wrote around them: order, comments, quotes. A value that comes from a file of shared
// settings is written into the cluster's own: the others that share it are not meant.

// SetVersions gives the cluster file at path other versions of Kubernetes, each
// major.minor; nodes is left out of the file when it is the same as version. The error
// is strict.Problems when the file is wrong, or its text has a form that cannot be
// edited: then the file is as it was.
func SetVersions(path, version, nodes string) error {
	f, err := openEdit(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read cluster file %s: %w", path, err)
	}
	if nodes == version {
		nodes = ""
	}
	text, ok := f.with(version, nodes)
	if !ok {
		return cannotEdit(f.doc, path, version, nodes)
	}
	if text == f.content {
		return nil
	}
	if err := file.Replace(path, []byte(text), info.Mode().Perm()); err != nil {
		return fmt.Errorf("write cluster file %s: %w", path, err)
	}
	return nil
}

// AtVersion is the cluster that Load would return if SetVersions had given the file at path
// one version of Kubernetes, major.minor, for control plane and nodes. The file stays as it
// is. The error is strict.Problems when the file is wrong, is wrong with this version, or
// cannot be edited.
func AtVersion(path, version string) (*Cluster, error) {
	f, err := openEdit(path)
	if err != nil {
		return nil, err
	}
	text, ok := f.with(version, "")
	doc := strict.NewDocument(path)
	c := parse(doc, []byte(text), f.below)
	if err := doc.Problems().Err(); err != nil {
		return nil, err
	}
	if !ok {
		return nil, cannotEdit(f.doc, path, version, "")
	}
	if c.HasHubFile() {
		_, err = new(Loader).hubOf(c, doc)
	}
	return c, err
}

// edit is a cluster file that is to be edited: its text, what is under it, and the cluster that it
// describes.
type edit struct {
	doc     *strict.Document
	content string
	below   under
	had     *Cluster
}

func openEdit(path string) (edit, error) {
	doc := strict.NewDocument(path)
	content, err := readFile(doc, "cluster file", "name the cluster")
	if err != nil {
		return edit{}, err
	}
	e := edit{doc: doc, content: string(content)}
	if content != nil {
		if e.below, err = new(Loader).under(path, content); err != nil {
			return edit{}, err
		}
		e.had = parse(doc, content, e.below)
	}
	return e, doc.Problems().Err()
}

const (
	versionPath     = strict.Path("kubernetes.version")
	nodeVersionPath = strict.Path("kubernetes.nodeVersion")
)

// with is the text with other versions, and whether it leads to them; nodes is "" for none. Null takes
// away what a shared file says about nodes.
func (e edit) with(version, nodes string) (text string, ok bool) {
	quoted := strconv.Quote(version)
	if nodes != "" {
		text = withVersions(e.doc, e.content, quoted, strconv.Quote(nodes))
		return text, e.leadsTo(text, version, nodes)
	}
	text = withVersions(e.doc, e.content, quoted, "")
	if e.leadsTo(text, version, "") {
		return text, true
	}
	if null := withVersions(e.doc, e.content, quoted, "null"); e.leadsTo(null, version, "") {
		return null, true
	}
	return text, false
}

// withVersions is the file's text with other versions, as YAML has them; nodes is "" for none.
func withVersions(doc *strict.Document, content, version, nodes string) string {
	lines := strings.SplitAfter(content, "\n")
	at, key := doc.Position(versionPath), doc.KeyPosition(versionPath)
	if at.File != "" {
		return withOwnVersions(doc, lines, version, nodes)
	}
	if doc.Has(nodeVersionPath) && doc.Position(nodeVersionPath).File == "" {
		there := doc.Position(nodeVersionPath)
		if nodes != "" {
			lines[there.Line-1] = withScalar(lines[there.Line-1], there.Column, nodes)
		} else {
			lines[there.Line-1] = withoutKey(lines[there.Line-1], doc.KeyPosition(nodeVersionPath).Column, there.Column)
		}
		if there.Line == at.Line { // the columns behind the edit have moved
			lines[at.Line-1] = withScalar(lines[at.Line-1], min(at.Column, len(lines[at.Line-1])), version)
			return strings.Join(lines, "")
		}
		nodes = ""
	}
	line := withScalar(lines[at.Line-1], at.Column, version)
	if nodes != "" {
		line = withKeyBehind(line, key.Column, at.Column+len(version), nodes)
	}
	lines[at.Line-1] = line
	return strings.Join(lines, "")
}

// withOwnVersions is the text of a file that has had its version from a shared one.
func withOwnVersions(doc *strict.Document, lines []string, version, nodes string) string {
	keys := []string{"version: " + version}
	if nodes != "" {
		keys = append(keys, "nodeVersion: "+nodes)
	}
	first, found := doc.FirstOwn("kubernetes")
	if !found {
		text := strings.Join(lines, "")
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text + "kubernetes:\n  " + strings.Join(keys, "\n  ") + "\n"
	}
	line := lines[first.Line-1]
	before, behind := line[:first.Column-1], line[first.Column-1:]
	between := ", "
	if strings.TrimSpace(before) == "" { // in a block, and not in braces
		between = "\n" + before
	}
	lines[first.Line-1] = before + strings.Join(append(keys, behind), between)
	return strings.Join(lines, "")
}

// withScalar replaces the value that begins at a column of a line.
func withScalar(line string, column int, value string) string {
	start := column - 1
	return line[:start] + value + line[scalarEnd(line, start):]
}

// scalarEnd is where the plain or quoted value ends that begins at an offset.
func scalarEnd(line string, start int) int {
	if quote := line[start]; quote == '"' || quote == '\'' {
		if n := strings.IndexByte(line[start+1:], quote); n >= 0 {
			return start + 1 + n + 1
		}
		return len(line)
	}
	if n := strings.IndexAny(line[start:], " \t\r\n,}"); n >= 0 {
		return start + n
	}
	return len(line)
}

// withKeyBehind adds nodeVersion behind the version, whose value ends before an offset:
// on a line of its own in a block, and behind a comma where the mapping is on one line.
func withKeyBehind(line string, keyColumn, end int, nodes string) string {
	indent := line[:keyColumn-1]
	if strings.TrimSpace(indent) != "" {
		return line[:end-1] + ", nodeVersion: " + nodes + line[end-1:]
	}
	ending := "\n"
	if strings.HasSuffix(line, "\r\n") {
		ending = "\r\n"
	}
	if !strings.HasSuffix(line, "\n") { // the last of the file
		line += ending
	}
	return line + indent + "nodeVersion: " + nodes + ending
}

// withoutKey takes a key out of a line, or the line away when it has nothing else.
func withoutKey(line string, keyColumn, valueColumn int) string {
	before, behind := line[:keyColumn-1], line[scalarEnd(line, valueColumn-1):]
	rest, _, _ := strings.Cut(behind, "#")
	if strings.TrimSpace(before) == "" && strings.TrimSpace(rest) == "" {
		return ""
	}
	if trimmed, ok := strings.CutSuffix(strings.TrimRight(before, " "), ","); ok {
		return trimmed + behind
	}
	return before + strings.TrimPrefix(strings.TrimLeft(behind, " "), ", ")
}

// leadsTo says that the text is the file that there was with other versions, and with
// nothing else changed.
func (e edit) leadsTo(text, version, nodes string) bool {
	doc := strict.NewDocument(e.doc.File)
	now := parse(doc, []byte(text), e.below)
	if now == nil || doc.Problems().Err() != nil {
		return false
	}
	want := *e.had
	want.Kubernetes.Version, want.Kubernetes.NodeVersion = version, nodes
	want.Warnings, now.Warnings = nil, nil
	return reflect.DeepEqual(&want, now)
}

func cannotEdit(doc *strict.Document, path, version, nodes string) error {
	remedy := fmt.Sprintf("set kubernetes.version to %q", version)
	if nodes != "" {
		remedy += fmt.Sprintf(" and kubernetes.nodeVersion to %q", nodes)
	} else {
		remedy += " and remove kubernetes.nodeVersion"
	}
	message := "cannot be changed in the text as it is written here"
	if doc.Position(versionPath).File != "" {
		remedy += " in " + path
	}
	return strict.Problems{doc.Problem(versionPath, message, remedy+", and run the command again")}
}

// Places reads the cluster's file, and returns what makes a problem with the value at a
// path in it. The word <cluster> in a remedy becomes the cluster's name.
func (c *Cluster) Places() func(path, message, remedy string) strict.Problem {
	doc := strict.NewDocument(c.File)
	if _, found, err := new(Loader).load(c.File); err == nil && found != nil {
		doc = found // what else is wrong with the file was reported when it was loaded
	}
	return func(path, message, remedy string) strict.Problem {
		return doc.Problem(strict.Path(path), message, strings.ReplaceAll(remedy, "<cluster>", c.Name))
	}
}
