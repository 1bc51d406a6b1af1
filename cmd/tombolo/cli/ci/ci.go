// Package ci reads from the environment in which job of a CI system a command runs.
package ci

import (
	"net/url"
	"strings"
)

// Job is one of GitHub Actions, GitLab CI or Azure Pipelines. All is empty outside of one, and
// what the system does not tell.
type Job struct {
	// Pipeline is its name, and Run the number or id of its run.
	Pipeline, Run string
	// URL of the run, for people.
	URL string
	// Actor has started it.
	Actor string
}

// Of reads the variables of the job. Sources:
//   - https://docs.github.com/en/actions/reference/workflows-and-actions/variables
//   - https://docs.gitlab.com/ci/variables/predefined_variables/
//   - https://learn.microsoft.com/azure/devops/pipelines/build/variables
func Of(lookup func(string) (string, bool)) Job {
	get := func(name string) string {
		value, _ := lookup(name)
		return value
	}
	switch {
	case get("GITHUB_ACTIONS") != "":
		return Job{
			Pipeline: get("GITHUB_WORKFLOW"), Run: get("GITHUB_RUN_ID"), Actor: get("GITHUB_ACTOR"),
			URL: link(get("GITHUB_SERVER_URL"), get("GITHUB_REPOSITORY")+"/actions/runs/", get("GITHUB_RUN_ID")),
		}
	case get("GITLAB_CI") != "":
		return Job{
			Pipeline: get("CI_PROJECT_PATH"), Run: get("CI_PIPELINE_ID"), Actor: get("GITLAB_USER_LOGIN"),
			URL: link(get("CI_PIPELINE_URL"), "", get("CI_PIPELINE_ID")),
		}
	case get("TF_BUILD") != "":
		return Job{
			Pipeline: get("BUILD_DEFINITIONNAME"), Run: get("BUILD_BUILDID"), Actor: get("BUILD_REQUESTEDFOR"),
			URL: link(get("SYSTEM_COLLECTIONURI"), url.PathEscape(get("SYSTEM_TEAMPROJECT"))+"/_build/results?buildId=", get("BUILD_BUILDID")),
		}
	}
	return Job{}
}

// link is the URL of a run; "" when the system does not say where it is. A link goes into
// messages, so it is one of the web, without a password.
func link(server, path, run string) string {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || run == "" {
		return ""
	}
	if path == "" {
		return server
	}
	return strings.TrimSuffix(server, "/") + "/" + path + url.QueryEscape(run)
}
