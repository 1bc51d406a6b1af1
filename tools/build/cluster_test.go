package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// TestToolsOfACluster: what only some clusters need is built when a file asks for it, and a
// line says so.
func TestToolsOfACluster(t *testing.T) {
	for name, test := range map[string]struct{ file, groups, line string }{
		"aws": {
			"cloud: {provider: aws}\ngitops: {engine: flux}\naddons: {karpenter: {}}\n",
			"pulumi kubernetes plugins eks", "► clusters/c.yaml asks for eks (a cluster in AWS)",
		},
		"azure": {
			"cloud: {provider: azure}\ngitops: {engine: argocd}\n",
			"pulumi kubernetes plugins kubelogin argocd", "► clusters/c.yaml asks for kubelogin (a cluster in Azure) and argocd (Argo CD)",
		},
		"secrets": {
			"addons: {sealed-secrets: {}, external-secrets: {prefixes: [c/]}}\n",
			"pulumi kubernetes plugins sealedsecrets externalsecrets",
			"► clusters/c.yaml asks for sealedsecrets (the addon sealed-secrets) and externalsecrets (the addon external-secrets)",
		},
		"nothing": {"cloud: {provider: none}\n", "pulumi kubernetes plugins", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			files.Write(t, filepath.Join(root, "clusters", "c.yaml"), test.file)
			groups, line, err := forCluster(root, "c")
			assert.NilError(t, err)
			var names []string
			for _, g := range groups {
				names = append(names, g.name)
			}
			assert.Equal(t, strings.Join(names, " "), test.groups)
			assert.Equal(t, line, test.line)
		})
	}
}

func TestToolsOfNoCluster(t *testing.T) {
	root := t.TempDir()
	_, _, err := forCluster(root, "c")
	assert.Check(t, is.ErrorContains(err, "reading which tools the cluster c asks for: open "))
	files.Write(t, filepath.Join(root, "clusters", "c.yaml"), "a: [")
	_, _, err = forCluster(root, "c")
	assert.Check(t, is.ErrorContains(err, "reading which tools clusters/c.yaml asks for: yaml: "))
}

// TestPlan: people are told at the start what is built, and how long that takes here.
func TestPlan(t *testing.T) {
	takes := func(names ...string) (sum time.Duration) {
		for _, name := range names {
			sum += budgets()[name].cpu
		}
		return sum
	}
	assert.Equal(t, plan([]string{"pulumi", programName}, 1), "► to build, once: pulumi and bin/tombolo. On 1 processor this takes about "+
		about(takes("pulumi", programName))+"; a second time, seconds\n")
	assert.Equal(t, plan([]string{"eks"}, 2), "► to build, once: eks. On 2 processors this takes about a minute; a second time, seconds\n")
	assert.Equal(t, plan(nil, 2), "")
	assert.Equal(t, about(61*time.Second), "2 minutes")

	root := t.TempDir()
	assert.DeepEqual(t, unbuilt([]group{{name: "pulumi"}}, root, true), []string{"pulumi", programName})
	files.Write(t, filepath.Join(root, "bin", "tombolo"), "")
	assert.DeepEqual(t, unbuilt(nil, root, true), []string(nil))
	for _, g := range everyGroup() {
		assert.Check(t, budgets()[g.name].cpu > 0, "what %s takes is not written down", g.name)
	}
}

// TestBeside: a group that takes no compiler is made beside the others, and its error ends the run.
func TestBeside(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"fails/a", "works/a", "build/fails.go", "build/works.go", "build/gobuild.go"} {
		files.Write(t, filepath.Join(root, "tools", name), "")
	}
	of := func(name string, err error) group {
		return group{name: name, needs: []string{"npm"}, build: func(context.Context, string, string, string, *progress) error { return err }}
	}
	fails, works := of("fails", errors.New("no network")), of("works", nil)
	b := prepare(t.Context(), []group{fails, works}, root, t.TempDir(), releases{})
	never := func() (source, error) { return cached, errors.New("made again") }
	_, err := b.take(fails, io.Discard, never)
	assert.Check(t, is.Error(err, "building the tools of tools/fails: no network"))
	from, err := b.take(works, io.Discard, never)
	assert.Check(t, err)
	assert.Equal(t, from, built)
	from, err = b.take(group{name: "other"}, io.Discard, func() (source, error) { return fetched, nil })
	assert.Check(t, err)
	assert.Equal(t, from, fetched)
	b.ended.Wait()
}
