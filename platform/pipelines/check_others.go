package pipelines

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/check/finding"
)

// includedByAddress is the file of a release as an address: <…>/v1.2.3/.gitlab/pipelines.yml.
var includedByAddress = regexp.MustCompile(`/([^/]+)/\.gitlab/pipelines\.yml$`)

// gitLab checks .gitlab-ci.yml. Secrets are variables of the project there, which no file shows.
func (c *checker) gitLab(at place) {
	if at.Node == nil {
		return
	}
	calls, include := c.calls, at.field("include")
	if include.Node != nil && include.Kind == yaml.MappingNode {
		include.Node = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{include.Node}}
	}
	include.each(func(_, item place) {
		ref := item.field("ref")
		if m := includedByAddress.FindStringSubmatch(item.field("remote").text() + item.text()); m != nil {
			c.called(item, m[1])
		} else if strings.HasSuffix(item.field("file").text(), ".gitlab/pipelines.yml") {
			if ref.Node == nil {
				ref = item
			}
			c.called(ref, ref.text())
		} else if item.field("local").text() == ".gitlab/pipelines.yml" {
			c.calls++
		}
	})
	if c.calls == calls {
		return
	}
	names := c.names()
	at.walk(func(_, value place) {
		for _, name := range names {
			if strings.Contains(value.text(), name) {
				c.say(finding.Error, value, "leave it out: GitLab gives variables to jobs by their scopes", "a job of the project's own names %s, and pull requests may start it", name)
			}
		}
	})
	if len(names) > 0 {
		names = append(names, PlanKey)
	}
	c.say(finding.Note, at, "set them masked and protected, with the scopes apply and remediate, and plan for what is compared",
		"variables of the project have the secrets: %s, unless a key service encrypts the states", strings.Join(append(names, Passphrase), ", "))
}

// azure checks azure-pipelines.yml. Which group has which secret, no file shows.
func (c *checker) azure(at place) {
	extends := at.field("extends")
	template, alias, _ := strings.Cut(extends.field("template").text(), "@")
	if template != ".azure/pipelines.yml" {
		return
	}
	if alias == "" {
		c.calls++
	} else {
		var ref place
		at.field("resources").field("repositories").each(func(_, item place) {
			if item.field("repository").text() == alias {
				ref = item.field("ref")
			}
		})
		if ref.Node == nil {
			ref = extends.field("template")
		}
		c.called(ref, strings.TrimPrefix(ref.text(), "refs/tags/"))
	}
	parameters := extends.field("parameters")
	passed := map[string]place{}
	for _, name := range Declared() {
		passed[name] = place{at.file, nil}
	}
	if parameters.field("passphrase").text() != "true" {
		delete(passed, Passphrase)
	}
	secrets := parameters.field("secrets")
	if secrets.Node != nil && secrets.Kind != yaml.SequenceNode {
		c.say(finding.Error, secrets, "write a list of names", "is not understood: the parameter secrets")
	}
	secrets.each(func(_, item place) {
		if _, twice := passed[item.text()]; twice {
			c.say(finding.Error, item, "leave it out", "%s is in the steps already, and Azure DevOps refuses a name that is there twice", item.text())
		}
		passed[item.text()] = item
	})
	c.gets(extends.field("template"), "the pipeline", passed, true, func(name string) string { return "add " + name + " to its parameter secrets" })
	names := c.names()
	secret := slices.Clone(names)
	if len(names) > 0 {
		secret = append(secret, PlanKey)
	}
	if _, ok := passed[Passphrase]; ok {
		secret = append(secret, Passphrase)
	}
	at.field("variables").walk(func(key, value place) {
		group := key.text() == "group" && (value.text() == "tombolo-plan" || value.text() == "tombolo-apply")
		if group || slices.Contains(names, key.text()) || key.text() == "name" && slices.Contains(names, value.text()) {
			c.say(finding.Error, value, "leave it out: the stages that change clusters have their groups", "jobs that run for pull requests get secrets by %s", value.text())
		}
	})
	if len(secret) > 0 {
		c.say(finding.Note, at, "put them into tombolo-apply, and into tombolo-plan what is compared", "variable groups have the secrets: %s", strings.Join(secret, ", "))
	}
}
