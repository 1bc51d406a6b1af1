package cirole

import "fmt"

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
