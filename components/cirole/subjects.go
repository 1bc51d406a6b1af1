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
// acme/clusters, on GitLab. A merge request from that branch has it too, with the jobs that
// the file of the other branch names if GitLab runs the merged result: see ofTheBranch.
func GitLabBranch(project, branch string) string {
	return fmt.Sprintf("project_path:%s:ref_type:branch:ref:%s", project, branch)
}

// GitLabBranches is the subject of the jobs on all branches of a project on GitLab,
// those of its merge requests too: a token of GitLab's names the branch that is to
// be merged, and not its environment. It is for roles that read: whoever may push a
// branch may have the role. A merge request from a fork has the fork's subject, even if
// a member runs its pipeline in the parent project. Before GitLab 18.2.2 that pipeline had
// the parent's, with the branch of the fork (gitlab-org/gitlab, issues 548165 and 561735).
func GitLabBranches(project string) string { return GitLabBranch(project, anyBranch) }

// anyBranch stands for every branch, at the end of a subject.
const anyBranch = "*"

// ofTheBranch are conditions besides the subject of one branch on gitlab.com: a push or a
// schedule has started the jobs, so no merge request, and the branch is protected. AWS reads
// these claims for gitlab.com alone; of another instance's tokens it reads the subject
// (docs.gitlab.com/ci/secrets/id_token_authentication; AWS's keys are those for OIDC
// federation in IAM/latest/UserGuide/reference_policies_iam-condition-keys).
func ofTheBranch(issuer string) map[string][]string {
	if issuer != GitLabIssuer {
		return nil
	}
	return map[string][]string{issuer + ":pipeline_source": {"push", "schedule"}, issuer + ":ref_protected": {"true"}}
}

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
