package handover

import (
	"regexp"
	"strings"
)

// refusal is a push that the server does not take to this branch.
type refusal struct{ says string }

func (r *refusal) Error() string { return "the server refuses the push: " + r.says }

// race is a push to a branch that has changed meanwhile.
type race struct{ says string }

func (r *race) Error() string { return "the branch changed meanwhile: " + r.says }

var (
	// overtaken is how git and servers say that a branch has moved meanwhile.
	overtaken = regexp.MustCompile(`(?i)\[rejected\]|fetch first|non-fast-forward|cannot lock ref|failed to update ref|failed to lock|incorrect old value|reference already exists|stale info`)
	// declined is how git says that the server took the pack and not the branch.
	declined = regexp.MustCompile(`\[remote rejected\].*`)
	// protected is how hosts say it that do so before git can.
	protected = regexp.MustCompile(`(?i)GH006|GH013|protected branch|TF40245\d|pre-receive hook declined`)
	// denied is how hosts say that the credentials do not allow it.
	denied = regexp.MustCompile(`(?i)authentication failed|could not read (username|password)|permission (to .*)?denied|access denied|returned error: 40[13]|read[- ]only|not allowed to (push|upload)|write access|insufficient permission|authorization failed`)
)

// hookSays is what the server's hooks wrote, else git's own line.
func hookSays(stderr, rejected string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		says, remote := strings.CutPrefix(line, "remote: ")
		says = strings.TrimSpace(strings.TrimPrefix(says, "error: "))
		if remote && says != "" && !strings.HasPrefix(says, "hook declined") {
			lines = append(lines, says)
		}
	}
	if len(lines) == 0 {
		return strings.TrimSpace(strings.TrimPrefix(rejected, "[remote rejected]"))
	}
	return strings.Join(lines[:min(len(lines), maxLines)], " ")
}
