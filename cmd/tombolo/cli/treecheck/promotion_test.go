package treecheck

import (
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/promotion"
	"tombolo/cmd/tombolo/cli/review"
)

// TestPromotionCommentFits: however much a promotion brings, the comment is no longer than
// the host takes, and says how much it leaves out.
func TestPromotionCommentFits(t *testing.T) {
	long := strings.Repeat("|", 4000)
	s := promotion.Step{From: promotion.Branch{Name: "dev", Commit: "a"}, To: promotion.Branch{Name: "test", Commit: "b"}}
	for i := range 300 {
		s.Commits = append(s.Commits, promotion.Commit{ID: strings.Repeat("c", 40), Subject: long})
		part := promotion.Part{Kind: "addon", Name: strconv.Itoa(i % 3)}
		s.Files = append(s.Files, promotion.File{Path: long, How: promotion.Changed, Part: part})
	}
	for _, steps := range [][]promotion.Step{{s}, {s, s, s}} {
		text := promotionComment(steps)
		assert.Check(t, len(text) <= review.GitHubSize, "%d bytes", len(text))
		assert.Check(t, is.Contains(text, "| 300 | 300 | a fast-forward |"))
		assert.Check(t, is.Contains(text, " more\n"))
		assert.Check(t, is.Equal(strings.Count(text, "<details>"), strings.Count(text, "</details>")))
	}
}

// TestPush: the command pushes the commit that was compared, and no shell takes it apart.
func TestPush(t *testing.T) {
	step := func(branch, ref string) promotion.Step {
		return promotion.Step{From: promotion.Branch{Commit: "abc"}, To: promotion.Branch{Name: branch, Ref: ref, Commit: "def"}}
	}
	for _, c := range []struct{ branch, ref, want string }{
		{"env/test", "origin/env/test", "git push origin abc:refs/heads/env/test"},
		{"$(reboot)", "origin/$(reboot)", "git push 'origin' 'abc:refs/heads/$(reboot)'"},
		{"test", "test", ""},
	} {
		assert.Check(t, is.Equal(push(step(c.branch, c.ref)), c.want))
	}
}
