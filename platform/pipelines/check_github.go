package pipelines

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/check/finding"
)

var (
	// calledWorkflow is a call of a workflow of a release.
	calledWorkflow = regexp.MustCompile(`^[\w.-]+/[\w.-]+/\.github/workflows/(apply|drift|preview|preview-program|promotion)\.ya?ml@(.+)$`)
	commit         = regexp.MustCompile(`^[0-9a-f]{40}$`)
	// everySecret is an expression that has all secrets, or one whose name is not in the file.
	everySecret = regexp.MustCompile(`\bsecrets\s*\[|\btoJSON\(\s*secrets\s*\)`)
	// changes are the commands that need the secrets of cluster files, in workflows of one's own.
	changes = map[string]*regexp.Regexp{
		"the step that plans":      regexp.MustCompile(`\btombolo"? preview .*--plan `),
		"the step that applies":    regexp.MustCompile(`\btombolo"? up .*--plan `),
		"the step that remediates": regexp.MustCompile(`\btombolo"? drift .*--remediate\b`),
	}
)

// gitHub checks a workflow.
func (c *checker) gitHub(at place) {
	if at.Node == nil {
		return
	}
	jobs := at.field("jobs")
	if jobs.Node == nil || jobs.Kind != yaml.MappingNode {
		c.say(finding.Error, at, "correct the workflow", "is not understood: it has no jobs")
		return
	}
	on := at.field("on")
	plain := on.Node != nil && on.Kind != yaml.AliasNode
	on.walk(func(_, value place) { plain = plain && value.Kind != yaml.AliasNode })
	if !plain {
		c.say(finding.Error, on, "write it without aliases", "is not understood: what starts it")
	}
	requests := !plain || ofRequests(on)
	jobs.each(func(name, job place) {
		uses := job.field("uses")
		if m := calledWorkflow.FindStringSubmatch(uses.text()); m != nil {
			c.call(name.text(), m[1], m[2], uses, job, requests)
		}
		job.field("steps").each(func(_, step place) { c.step(step) })
	})
	if requests {
		c.givesRequests(at)
	}
}

// ofRequests says that a workflow runs for pull requests, by one name, a list or a mapping.
func ofRequests(on place) bool {
	found := strings.HasPrefix(on.text(), "pull_request")
	on.each(func(key, value place) {
		found = found || strings.HasPrefix(key.text()+value.text(), "pull_request")
	})
	return found
}

// call checks a job that calls a workflow of a release.
func (c *checker) call(job, workflow, ref string, uses, of place, requests bool) {
	if commit.MatchString(ref) {
		ref = strings.TrimSpace(strings.TrimPrefix(uses.LineComment, "#"))
	}
	c.called(uses, ref)
	secrets := of.field("secrets")
	changes := workflow == "apply" || workflow == "drift"
	switch {
	case !changes && secrets.Node != nil:
		c.say(finding.Error, secrets, "leave secrets out", "the job %s runs for pull requests, and gets secrets", job)
	case changes && requests:
		c.say(finding.Error, uses, "call it in a workflow that no pull request starts", "the job %s changes clusters, and pull requests start it", job)
	case changes:
		c.gets(uses, "the job "+job, c.passed(job, of.field("with").field("secrets"), secrets), workflow == "apply", func(name string) string {
			if slices.Contains(Declared(), name) {
				return fmt.Sprintf("add %s: ${{ secrets.%s }} to its secrets", name, name)
			}
			return fmt.Sprintf("add %q to its input secrets, with secrets: inherit", name)
		})
	}
}

// passed are the secrets that a calling job passes: by name, or those of the input where it
// passes all that it has.
func (c *checker) passed(job string, input, secrets place) map[string]place {
	names, passed := c.others(input), map[string]place{}
	if secrets.text() == "inherit" {
		for _, name := range Declared() {
			passed[name] = place{secrets.file, nil}
		}
		for _, name := range names {
			passed[name] = input
		}
		return passed
	}
	if len(names) > 0 {
		c.say(finding.Error, input, "write secrets: inherit", "the job %s names more secrets, and does not pass them", job)
	}
	if secrets.Node != nil && secrets.Kind != yaml.MappingNode {
		c.say(finding.Error, secrets, "pass secrets by name, or write inherit", "is not understood: the secrets of the job %s", job)
	}
	secrets.each(func(key, value place) {
		name := key.text()
		passed[name] = key
		if !slices.Contains(Declared(), name) {
			c.say(finding.Error, key, "name it in the input secrets, with secrets: inherit", "the workflow that is called does not know the secret %s", name)
		} else if strings.ReplaceAll(value.text(), " ", "") != "${{secrets."+name+"}}" {
			c.say(finding.Error, value, fmt.Sprintf("write ${{ secrets.%s }}", name), "is not understood: the value of %s", name)
		}
	})
	return passed
}

// others reads the input secrets.
func (c *checker) others(input place) (names []string) {
	if input.Node == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(input.text()), &names); err != nil {
		c.say(finding.Error, input, `write a list such as '["TOMBOLO_HUB_TOKEN"]'`, "is not understood: the input secrets: %v", err)
	}
	if len(names) > MostOthers {
		c.say(finding.Error, input, "have the engine read some from a store, or from one file", "names %d secrets, and a called workflow gets %d at most", len(names), MostOthers)
	}
	return names
}

// step checks a step of a workflow of the project's own that changes clusters.
func (c *checker) step(step place) {
	for what, command := range changes {
		if !command.MatchString(step.field("run").text()) {
			continue
		}
		c.calls++
		passed := map[string]place{}
		step.field("env").each(func(key, _ place) {
			if secretForm.MatchString(key.text()) {
				passed[key.text()] = place{step.file, nil}
			}
		})
		if what == "the step that plans" {
			// It compares what it has; the others it leaves out.
			for _, name := range c.names() {
				passed[name] = place{step.file, nil}
			}
		}
		c.gets(step, what, passed, what != "the step that remediates", func(name string) string {
			return fmt.Sprintf("add %s: ${{ secrets.%s }} to its env", name, name)
		})
	}
}

// givesRequests finds secrets of the project in a workflow that pull requests start.
func (c *checker) givesRequests(at place) {
	names := append(c.names(), Declared()...)
	at.walk(func(key, value place) {
		text := value.text()
		switch {
		case key.text() == "secrets" && text == "inherit", everySecret.MatchString(text):
			c.say(finding.Error, value, "name the secrets that the job needs", "a workflow that pull requests start has every secret")
		case strings.Contains(text, "secrets."):
			for _, name := range names {
				if regexp.MustCompile(`\bsecrets\.` + name + `\b`).MatchString(text) {
					c.say(finding.Error, value, "leave it out", "a workflow that pull requests start has %s", name)
					return
				}
			}
		}
	})
}
