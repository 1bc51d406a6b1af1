package treecheck

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tombolo/automation/promotion"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/review"
	"tombolo/cmd/tombolo/render"
	"tombolo/internal/markdown"
	"tombolo/internal/wording"
)

// promotionKey is the key of the comment on promotions.
const promotionKey = "promotion"

// Promotions compares the branches that the clusters follow.
func (o *Options) Promotions(ctx context.Context) ([]promotion.Step, error) {
	all, err := o.clusters()
	if err != nil {
		return nil, err
	}
	stages, err := promotion.Stages(all)
	if err != nil {
		return nil, err
	}
	trees, err := o.clone(stages)
	if err != nil {
		return nil, err
	}
	return promotion.Compare(ctx, stages, promotion.Options{Dir: trees[0], Remote: o.Remote, Trees: trees})
}

// promotionRun shows what promotions bring.
func (o *Options) promotionRun(ctx context.Context) error {
	steps, err := o.Promotions(ctx)
	if err != nil {
		return err
	}
	switch {
	case o.JSON():
		err = promotionDocuments(o.Out, steps)
	case o.Markdown():
		_, err = io.WriteString(o.Out, promotionComment(steps))
	default:
		var b strings.Builder
		promotionText(&b, steps)
		_, err = io.WriteString(o.Out, wording.Lines(b.String()))
	}
	if err != nil {
		return err
	}
	return o.promotionVerdict(steps)
}

// clone is the directories of platform trees in the clone: the named one, or those of the
// clusters.
func (o *Options) clone(stages []promotion.Stage) ([]string, error) {
	if o.Tree != "" {
		_, err := open(o.Tree)
		return []string{o.Tree}, err
	}
	root, err := o.Root()
	if err != nil {
		return nil, err
	}
	if dir := clusters.TreeSet(root, o.Lookup); dir != "" {
		_, err := open(dir)
		return []string{dir}, err
	}
	var trees []string
	var url string
	for _, s := range stages {
		for _, c := range s.Clusters {
			url = c.GitOps.URL
			if dir, ok := clusters.Tree(root, c.GitOps); ok && !slices.Contains(trees, dir) {
				trees = append(trees, dir)
			}
		}
	}
	if len(trees) == 0 {
		return nil, fault.NewPrecondition("the clusters' platform tree is not in this project",
			fmt.Sprintf("name a directory in a clone of %s: tombolo check --promotion <tree>; or set %s", url, clusters.TreeVariable), nil)
	}
	return trees, nil
}

// promotionVerdict says of each step whether it can be made, and returns an error when a
// branch has diverged.
func (o *Options) promotionVerdict(steps []promotion.Step) error {
	for _, s := range steps {
		switch {
		case s.Diverged():
		case s.Same():
			o.Status().Done("%s and %s are at the same commit", s.From.Ref, s.To.Ref)
		default:
			o.Status().Done("%s can be promoted to %s: %s, %s", s.From.Ref, s.To.Ref,
				wording.Count(len(s.Commits), "commit"), wording.Count(len(s.Files), "file"))
		}
	}
	return Diverged(steps)
}

// Diverged is an error that names the branches that have diverged; nil if none has.
func Diverged(steps []promotion.Step) error {
	var bad []string
	last := -1
	for i, s := range steps {
		if s.Diverged() {
			last = i
			bad = append(bad, fmt.Sprintf("%s cannot be promoted to %s: %s has %s that %s does not have",
				s.From.Ref, s.To.Ref, s.To.Ref, wording.Count(len(s.Missing), "commit"), s.From.Ref))
		}
	}
	if last < 0 {
		return nil
	}
	// What a later branch has goes back step by step, and then forward again.
	var remedies []string
	for _, s := range slices.Backward(steps[:last+1]) {
		remedies = append(remedies, fmt.Sprintf("merge %s into %s", s.To.Name, s.From.Name))
	}
	return &fault.Error{Class: fault.Contract, Problem: strings.Join(bad, "; "), Remedy: strings.Join(remedies, ", then ") + ", and check again"}
}

// push is the command that promotes what was compared and nothing later; "" for local
// branches.
func push(s promotion.Step) string {
	remote, ok := strings.CutSuffix(s.To.Ref, "/"+s.To.Name)
	if !ok || s.Diverged() || s.Same() {
		return ""
	}
	refspec := s.From.Commit + ":refs/heads/" + s.To.Name
	if !plainWords.MatchString(remote + refspec) {
		remote, refspec = factory.ShellWord(remote), factory.ShellWord(refspec)
	}
	return "git push " + remote + " " + refspec
}

// plainWords are words that no shell takes apart.
var plainWords = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:-]*$`)

// shown is how much of long lists people are shown.
type shown struct{ commits, files int }

// textCommits is how many commits a list in a terminal has.
const textCommits = 20

// promotionText shows the steps to people.
func promotionText(w io.Writer, steps []promotion.Step) {
	for i, s := range steps {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s -> %s (%s -> %s)\n", s.From.Ref, s.To.Ref, strings.Join(s.From.Clusters, ", "), strings.Join(s.To.Clusters, ", "))
		switch {
		case s.Diverged():
			fmt.Fprintf(w, "  %s has %s that %s does not have:\n", s.To.Ref, wording.Count(len(s.Missing), "commit"), s.From.Ref)
			commitLines(w, s.Missing)
			continue
		case s.Same():
			fmt.Fprintln(w, "  nothing to promote")
			continue
		}
		fmt.Fprintf(w, "  %s:\n", wording.Count(len(s.Commits), "commit"))
		commitLines(w, s.Commits)
		fmt.Fprintf(w, "  %s:\n", wording.Count(len(s.Files), "file"))
		for _, p := range s.Parts() {
			fmt.Fprintf(w, "    %s: %s\n", markdown.OneLine(p.Part.String()), wording.Count(len(p.Files), "file"))
		}
		if command := push(s); command != "" {
			fmt.Fprintf(w, "  promote it with: %s\n", command)
		}
	}
}

func commitLines(w io.Writer, commits []promotion.Commit) {
	for _, c := range commits[:min(len(commits), textCommits)] {
		fmt.Fprintf(w, "    %s  %s  %s\n", short(c.ID), c.Time.Format(time.DateOnly), markdown.OneLine(c.Subject))
	}
	if more := len(commits) - textCommits; more > 0 {
		fmt.Fprintf(w, "    and %d more\n", more)
	}
}

// shortID is how many digits of a commit people are shown.
const shortID = 12

func short(id string) string { return id[:min(len(id), shortID)] }

// promotionDocument is that of one step in the JSON format.
type promotionDocument struct {
	Type string         `json:"type"`
	From branchDocument `json:"from"`
	To   branchDocument `json:"to"`
	// State is ready, same or diverged.
	State   string           `json:"state"`
	Commits []commitDocument `json:"commits"`
	// Missing are the commits that To alone has.
	Missing []commitDocument `json:"missing"`
	Files   []fileDocument   `json:"files"`
	// Command promotes what was compared; "" if there is nothing to promote.
	Command string `json:"command,omitempty"`
}

type branchDocument struct {
	Branch   string   `json:"branch"`
	Ref      string   `json:"ref"`
	Commit   string   `json:"commit"`
	Clusters []string `json:"clusters"`
}

type commitDocument struct {
	Commit  string    `json:"commit"`
	Time    time.Time `json:"time"`
	Author  string    `json:"author"`
	Subject string    `json:"subject"`
}

type fileDocument struct {
	Path string         `json:"path"`
	How  promotion.How  `json:"how"`
	Part promotion.Part `json:"part"`
}

func promotionDocuments(w io.Writer, steps []promotion.Step) error {
	for _, s := range steps {
		d := promotionDocument{
			Type: "promotion", From: branchOf(s.From), To: branchOf(s.To), State: state(s), Command: push(s),
			Commits: commitsOf(s.Commits), Missing: commitsOf(s.Missing), Files: []fileDocument{},
		}
		for _, f := range s.Files {
			d.Files = append(d.Files, fileDocument(f))
		}
		if err := render.WriteJSON(w, d); err != nil {
			return err
		}
	}
	return nil
}

func state(s promotion.Step) string {
	switch {
	case s.Diverged():
		return "diverged"
	case s.Same():
		return "same"
	}
	return "ready"
}

func branchOf(b promotion.Branch) branchDocument {
	return branchDocument{b.Name, b.Ref, b.Commit, b.Clusters}
}

func commitsOf(commits []promotion.Commit) []commitDocument {
	out := make([]commitDocument, len(commits))
	for i, c := range commits {
		out[i] = commitDocument{c.ID, c.Time, c.Author, c.Subject}
	}
	return out
}

// promotionComment is the steps as a comment. Lists are shortened until it fits.
func promotionComment(steps []promotion.Step) string {
	var text string
	for _, most := range []shown{{50, 100}, {10, 20}, {0, 0}} {
		if text = comment(steps, most); len(text) <= review.GitHubSize {
			break
		}
	}
	return text
}

// PromotionText is what a promotion brings as the description of its pull request, with the mark
// of promotions at its head. Lists are shortened until no more than so many characters are left.
func PromotionText(s promotion.Step, most int) string {
	var text string
	for _, lists := range []shown{{20, 40}, {5, 10}, {0, 0}} {
		if text = comment([]promotion.Step{s}, lists); utf8.RuneCountInString(text) <= most {
			return text
		}
	}
	text, _, _ = strings.Cut(text, "\n<details>")
	return text
}

// IsPromotionText says whether a description is one of PromotionText's.
func IsPromotionText(text string) bool { return strings.HasPrefix(text, review.Marker(promotionKey)) }

func comment(steps []promotion.Step, most shown) string {
	var b strings.Builder
	b.WriteString(review.Marker(promotionKey) + "\n## Promotion\n\n")
	b.WriteString(markdown.Row("from", "to", "clusters", "commits", "files", "") + markdown.Row("---", "---", "---", "---:", "---:", "---"))
	for _, s := range steps {
		verdict := map[string]string{"ready": "a fast-forward", "same": "nothing to promote", "diverged": "**has diverged**"}[state(s)]
		b.WriteString(markdown.Row(markdown.Code(s.From.Name), markdown.Code(s.To.Name), markdown.Text(strings.Join(s.To.Clusters, ", ")),
			fmt.Sprint(len(s.Commits)), fmt.Sprint(len(s.Files)), verdict))
	}
	for _, s := range steps {
		if !s.Same() {
			details(&b, s, most)
		}
	}
	return b.String()
}

// details of a step, folded.
func details(b *strings.Builder, s promotion.Step, most shown) {
	from, to := markdown.Code(s.From.Name), markdown.Code(s.To.Name)
	if s.Diverged() {
		fmt.Fprintf(b, "\n%s has %s that %s does not have. Merge %s into %s first.\n\n", to, wording.Count(len(s.Missing), "commit"), from, to, from)
		items(b, s.Missing, most.commits, commitItem)
		return
	}
	fmt.Fprintf(b, "\n<details><summary>%s to %s</summary>\n\n", markdown.Text(s.From.Name), markdown.Text(s.To.Name))
	items(b, s.Commits, most.commits, commitItem)
	left := most.files
	for _, p := range s.Parts() {
		fmt.Fprintf(b, "\n**%s**\n\n", markdown.Text(clip(p.Part.String())))
		items(b, p.Files, left, func(f promotion.File) string { return markdown.Code(clip(f.Path)) + " " + string(f.How) })
		left = max(0, left-len(p.Files))
	}
	fmt.Fprintf(b, "\nAt commit %s.\n\n</details>\n", markdown.Code(s.From.Commit))
}

func commitItem(c promotion.Commit) string {
	return markdown.Code(short(c.ID)) + " " + markdown.Text(clip(c.Subject))
}

func items[T any](b *strings.Builder, all []T, most int, text func(T) string) {
	for _, one := range all[:min(len(all), most)] {
		b.WriteString("- " + text(one) + "\n")
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
}

// clipAt is how many characters of a text of others a comment has.
const clipAt = 160

func clip(s string) string {
	if r := []rune(s); len(r) > clipAt {
		return string(r[:clipAt]) + "…"
	}
	return s
}

// onlyPromotion says what is wrong with the flags.
func (o *Options) onlyPromotion() error {
	switch {
	case o.Promotion && o.Strict:
		return fault.NewUsage("--strict is about the tree, and --promotion about its branches", "check them one after the other")
	case !o.Promotion && o.Remote != "":
		return fault.NewUsage("--remote needs --promotion", "add it, or leave --remote out")
	case !o.Promotion && o.Markdown():
		return fault.NewUsage("--output markdown needs --promotion", "use text, plain or json")
	}
	return nil
}
