package cirole

import (
	"fmt"
	"strings"
)

// The issuers and audiences of tokens on the public hosts.
const (
	GitHubIssuer   = "token.actions.githubusercontent.com"
	GitHubAudience = "sts.amazonaws.com"
	GitLabIssuer   = "gitlab.com"
	GitLabAudience = "https://gitlab.com"
)

// GitHubEnvironment is the subject of the jobs of a repository, such as
// acme/clusters, in an environment of GitHub's. What the environment demands,
// such as a branch or an approval, has then been given.
func GitHubEnvironment(repository, environment string) string {
	return fmt.Sprintf("repo:%s:environment:%s", repository, environment)
}

// GitLabBranch is the subject of the jobs on a branch of a project, such as
// acme/clusters, on GitLab.
func GitLabBranch(project, branch string) string {
	return fmt.Sprintf("project_path:%s:ref_type:branch:ref:%s", project, branch)
}

// GitLabBranches is the subject of the jobs on all branches of a project on GitLab,
// those of its merge requests too: a token of GitLab's names the branch that is to
// be merged, and not its environment. It is for roles that read: whoever may push a
// branch may have the role. A merge request from a fork has the fork's subject.
func GitLabBranches(project string) string { return GitLabBranch(project, anyBranch) }

// anyBranch stands for every branch, at the end of a subject.
const anyBranch = "*"

// checkSubject refuses a subject that may belong to others: a wildcard stands for
// branches of one project alone.
func checkSubject(subject string) error {
	fixed, ends := strings.CutSuffix(subject, ":ref_type:branch:ref:"+anyBranch)
	if subject == "" || strings.ContainsAny(fixed, "*?") || ends && fixed == "" {
		return fmt.Errorf("subject %q: a subject is given in full, without wildcards but for the branches of a project", subject)
	}
	return nil
}

// wild says that a subject stands for several.
func wild(subject string) bool { return strings.HasSuffix(subject, anyBranch) }
