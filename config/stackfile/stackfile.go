// Package stackfile reads the file that names the stacks of a team's own Pulumi programs, and where
// they are in the order of a cluster's stacks.
package stackfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	files "tombolo/internal/file"
	"tombolo/internal/scalar"
	"tombolo/internal/wording"
)

// File is the name of the file, in the project's directory.
const File = "tombolo.stacks.yaml"

// Order is the place of a stack among those of a cluster.
type Order string

// The places in the order.
const (
	// BeforeCore is before anything of the cluster is made.
	BeforeCore Order = "before-core"
	// AfterCore is between core and bootstrap.
	AfterCore Order = "after-core"
	// AfterBootstrap is when Git has taken charge of the cluster.
	AfterBootstrap Order = "after-bootstrap"
)

// Orders lists the places.
func Orders() []Order { return []Order{BeforeCore, AfterCore, AfterBootstrap} }

// StackFile names the stacks of a team's own programs.
type StackFile struct {
	// Version of the format: 1.
	Version int `yaml:"version"`
	// Stacks in the order in which those of one place are made.
	Stacks []OwnStack `yaml:"stacks"`
}

var stackFileFields = field.Of[StackFile](map[string]field.Descriptor{
	"Version": {Rule: strict.Rule{What: "a supported version of the stacks' format", Example: "1", Numbers: []int{1}}},
	"Stacks":  {Rule: strict.Rule{Noun: "stack", MinItems: 1}},
})

// OwnStack says of which program each cluster has a stack of its own.
type OwnStack struct {
	// Name by which the stack of a cluster is called: <cluster>-<name>.
	Name string `yaml:"name"`
	// Program is the directory with the program's Pulumi.yaml, from the file's directory.
	Program string `yaml:"program"`
	// Order is the place among the stacks of the cluster.
	Order Order `yaml:"order"`
	// Clusters is a selector of labels, as --selector takes it. Default: all clusters.
	Clusters string `yaml:"clusters,omitempty"`

	// Project is the name in the program's Pulumi.yaml, and Dir the program's directory.
	Project string `yaml:"-"`
	Dir     string `yaml:"-"`
}

var ownStackFields = field.Of[OwnStack](map[string]field.Descriptor{
	"Name":     {Rule: form.Label("database")},
	"Program":  {Rule: strict.Rule{What: "a directory below this file's", Example: "stacks/database", Pattern: regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)}},
	"Order":    {Rule: strict.Rule{What: "a place in the order", Allowed: form.Texts(Orders()...)}},
	"Clusters": {},
})

var format = strict.Format{
	Rule:    func(name string) strict.Rule { return Fields[name].Rule },
	Empty:   "start with version: 1 and stacks",
	Several: "put all stacks into one document",
}

// Load reads the file in a directory as strictly as cluster files are read, and the names of the
// programs. It starts nothing. There are no stacks without the file. The error is strict.Problems
// when the file could be read but is wrong.
func Load(dir string) ([]OwnStack, error) {
	path := filepath.Join(dir, File)
	content, err := files.ReadInside(path, files.MostText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the file of own stacks: %w", err)
	}
	doc, f := strict.NewDocument(path), StackFile{}
	format.Decode(doc, content, &f)
	f.check(doc, dir)
	return f.Stacks, doc.Problems().Err()
}

func (f *StackFile) check(doc *strict.Document, dir string) {
	seen := map[string]bool{}
	for i := range f.Stacks {
		s, at := &f.Stacks[i], strict.Path("stacks").Index(i)
		name := at.Field("name")
		switch {
		case seen[s.Name]:
			doc.Report(name, fmt.Sprintf("%s is already the name of a stack", wording.Quote(s.Name)), "give each stack its own name")
		case slices.ContainsFunc(reserved, func(of string) bool { return s.Name == of || strings.HasSuffix(s.Name, "-"+of) }):
			doc.Report(name, fmt.Sprintf("%s ends like a stack of Tombolo's", wording.Quote(s.Name)), "take a name that ends in none of "+strings.Join(reserved, ", "))
		}
		seen[s.Name] = s.Name != ""
		if _, err := labels.Parse(s.Clusters); err != nil {
			doc.Report(at.Field("clusters"), fmt.Sprintf("%s is not a selector: %v", wording.Quote(s.Clusters), err), "write it like environment=prod, or tombolo/cluster in (demo, shop)")
		}
		if program := at.Field("program"); doc.Has(program) && doc.Sound(program) {
			if message, remedy := s.find(dir); message != "" {
				doc.Report(program, message, remedy)
			}
		}
	}
	f.checkNames(doc) // by the projects that were found
}

// reserved are the ends of names of other stacks, and the parts of operations.
var reserved = []string{"core", "bootstrap", "pipelines", "drain"}

// projectName is Pulumi's form of the name of a project: validateProjectName in
// sdk/go/common/tokens of github.com/pulumi/pulumi. Paths of a state have it as a part.
var projectName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)

// find finds the program in a directory; it says what is wrong with it, and what to do.
func (s *OwnStack) find(dir string) (message, remedy string) {
	s.Dir = filepath.Join(dir, filepath.FromSlash(s.Program))
	if s.Dir == filepath.Clean(dir) || !files.Within(dir, s.Dir) {
		return fmt.Sprintf("%s is not below the directory of this file", wording.Quote(s.Program)), "keep the program in a directory of the project"
	}
	if link := linkBelow(dir, s.Dir); link != "" { // what changes behind it would be no change of the program
		return fmt.Sprintf("%s is a link", link), "name the directory itself"
	}
	text, err := files.ReadInside(filepath.Join(s.Dir, "Pulumi.yaml"), files.MostOfSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%s has no Pulumi.yaml", s.Program), "name the directory of a Pulumi program, from that of this file"
	}
	if err == nil {
		s.Project, err = scalar.At(text, "name")
	}
	switch {
	case err != nil:
		return fmt.Sprintf("the Pulumi.yaml in %s cannot be read: %v", s.Program, err), "make it a regular file of YAML"
	case !projectName.MatchString(s.Project) || s.Project == "." || s.Project == "..":
		return fmt.Sprintf("the Pulumi.yaml in %s has no name that a project of Pulumi may have", s.Program), "write one like name: database"
	case strings.EqualFold(s.Project, "tombolo"): // states are files, on some machines of either case
		return fmt.Sprintf("the Pulumi.yaml in %s has the name tombolo, of the clusters' own project", s.Program), "give the program's project another name"
	}
	return "", ""
}

// linkBelow is the first link on the way from a directory to one below it, as a path from there; "" for none.
func linkBelow(dir, below string) string {
	link := ""
	for at := below; at != filepath.Clean(dir); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			link = at
		}
	}
	if link != "" {
		link, _ = filepath.Rel(dir, link)
	}
	return link
}

// checkNames refuses names by which two clusters would have one stack: demo-eu's db is demo's eu-db.
func (f *StackFile) checkNames(doc *strict.Document) {
	for i, s := range f.Stacks {
		for _, other := range f.Stacks {
			if s.Project != "" && s.Project == other.Project && other.Name != "" && strings.HasSuffix(s.Name, "-"+other.Name) {
				doc.Report(strict.Path("stacks").Index(i).Field("name"),
					fmt.Sprintf("%s ends like %s of the same project, %s: two clusters could have one stack", wording.Quote(s.Name), wording.Quote(other.Name), s.Project),
					"take a name with another end, or give one of the programs another project's name")
				break
			}
		}
	}
}

// Has says whether a cluster with these labels has such a stack.
func (s OwnStack) Has(of map[string]string) bool {
	chosen, err := labels.Parse(s.Clusters) // Load refuses what is no selector
	return err == nil && chosen.Matches(labels.Set(of))
}

// Stack is the name of the stack of a cluster, and Whole that in the state backend.
func (s OwnStack) Stack(cluster string) string { return cluster + "-" + s.Name }

// Whole is the whole name of the stack of a cluster, as fromStack may have it.
func (s OwnStack) Whole(cluster string) string {
	return "organization/" + s.Project + "/" + s.Stack(cluster)
}

// Fields are the descriptors of the package.
var Fields = field.Join(stackFileFields, ownStackFields)
