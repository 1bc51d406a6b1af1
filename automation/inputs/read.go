package inputs

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
)

// This file is about the values that cluster files take from other stacks and from
// Parameter Store. Git has the cluster file of a stack of this project, and nothing of all
// others.

// Unseen is where clusters take values from that are not in Git: whether they have
// changed is not seen.
type Unseen struct {
	// Source is a stack or a parameter, in words.
	Source string `json:"source"`
	// Clusters that take values from there, in the order in which they were given.
	Clusters []string `json:"clusters"`
}

// String is a line such as "values of stack data/prod are not in Git, and not compared:
// demo and spoke take them".
func (u Unseen) String() string {
	verb := "takes"
	if len(u.Clusters) > 1 {
		verb = "take"
	}
	return fmt.Sprintf("values of %s are not in Git, and not compared: %s %s them", u.Source, wording.And(u.Clusters), verb)
}

// filesOf are the files of the project that a stack of it is made of, below the project's directory;
// none for a stack of another project.
func filesOf(s config.Source) []string {
	if s.Stack == "" {
		return nil
	}
	name, ours := strings.CutPrefix(s.StackName("organization", stacks.Project), "organization/"+stacks.Project+"/")
	if !ours {
		return nil
	}
	of, kind, err := stacks.Parse(name)
	if err != nil {
		return nil
	}
	dir := clustersDir
	if kind == stacks.Pipelines {
		dir = "accounts"
	}
	return []string{path.Join(dir, of+".yaml"), path.Join(clustersDir, "Pulumi."+name+".yaml")}
}

// stacksRead is a reason where the file of a stack of this project has changed that the
// cluster takes values from. The rest is unseen.
func (s *search) stacksRead(c *config.Cluster) []Reason {
	var changed []string
	for _, ref := range c.References() {
		known := false
		for _, file := range filesOf(ref.Source) {
			inRepo := s.repo.below(file)
			known = known || s.repo.known[inRepo]
			changed = append(changed, inRepo)
			if c, err := config.Load(filepath.Join(s.repo.root, filepath.FromSlash(file))); err == nil {
				changed = append(changed, s.sharedOf(c)...)
			}
		}
		if !known {
			s.addUnseen(ref.Source, c.Name)
		}
	}
	return s.files(StackFile, changed...)
}

func (s *search) addUnseen(source config.Source, cluster string) {
	what := "stack " + source.Stack
	switch {
	case source.Parameter != "":
		what = source.String()
	case source.State != "":
		what = source.StateName()
	}
	for i := range s.unseen {
		u := &s.unseen[i]
		if u.Source != what {
			continue
		}
		if u.Clusters[len(u.Clusters)-1] != cluster {
			u.Clusters = append(u.Clusters, cluster)
		}
		return
	}
	s.unseen = append(s.unseen, Unseen{Source: what, Clusters: []string{cluster}})
}
