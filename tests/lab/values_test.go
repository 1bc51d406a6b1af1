//go:build lab

package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// readingValues are the keys of the demo cluster's file that take values from the stack
// data/prod and from Parameter Store.
const readingValues = `    values:
      replicas: 1
      bucket: {fromStack: data/prod, output: bucket}
      queueUrl: {fromStack: data/prod, output: queue.url}
      database: {fromStack: data/prod, output: database}
      zones: {fromSsm: /shop/zones}
      tier: {fromSsm: /shop/tier}
`

// TestValuesOfAnotherProgram: a bucket, a queue, a database and parameters of another
// team's Pulumi program reach a Helm release by Flux.
func TestValuesOfAnotherProgram(t *testing.T) {
	tier.Long(t, "values of another team's Pulumi program reach a Helm release; unit tests hold how they are read")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light-engine")
	const file = "clusters/demo.yaml"
	p.edit(t, file, "    values:\n      replicas: 1\n", readingValues)
	p.edit(t, file, "  chart_repository: http://charts.lab.test\n",
		"  chart_repository: http://charts.lab.test\n  db_host: {fromStack: data/prod, output: database.host}\n")
	inOrder(t, dataTeam{p}, []step[dataTeam]{
		{"without the stack, up is refused before anything is made", dataTeam.isMissing},
		{"the other team makes it", dataTeam.deployed},
		{"a preview before anything exists reads it", dataTeam.previewed},
		{"the values reach the release", dataTeam.reach},
		{"the infra ConfigMap changes in place, and is kept", func(d dataTeam, t *testing.T) { d.infraConfigStays(t) }},
		{"a second up changes nothing", func(d dataTeam, t *testing.T) { d.up(t, "demo").unchanged(t) }},
		{"plain pulumi reads the same", dataTeam.plain},
		{"a secret is refused, and never seen", dataTeam.secret},
		{"a change is previewed, with what changes where", dataTeam.changed},
		{"destroy", dataTeam.destroyed},
	})
}

// infraConfigStays: another value is another value of the same object, which no reader ever finds missing; and the
// engine's own preview, of a file whose plan takes it away, fails.
func (p project) infraConfigStays(t *testing.T) {
	ask := func(what string) string {
		return p.kubectl(t, "demo", "-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath="+what)
	}
	const value, engine = "\n  chart_repository: http://charts.lab.test\n", "  engine: flux\n"
	before := ask("{.metadata.uid}")
	p.edit(t, demoFile, value, value+"  colour: red\n")
	p.up(t, "demo")
	assert.Check(t, is.Equal(ask("{.metadata.uid} {.data.colour}"), before+" red"))
	file := p.read(t, demoFile)
	p.write(t, demoFile, strings.NewReplacer(engine, "  engine: argocd\n", "version: v2.9.3", "version: "+ourArgoCD, "flux-install.yaml", "argocd-install.yaml").Replace(file))
	p.run(t, "preview", "demo").ends(t, 4, "would delete or replace ConfigMap flux-system/infra-config", "its engine works with them")
	p.write(t, demoFile, file)
	assert.Check(t, is.Equal(ask("{.metadata.uid}"), before))
}

// dataTeam has a program beside the project's, in the same backend.
type dataTeam struct{ project }

const dbPassword = "correct-horse-battery"

// set changes the settings of the other program, and deploys it.
func (d dataTeam) set(t *testing.T, settings ...string) {
	t.Helper()
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		d.mustTool(t, "pulumi", "-C", "data", "config", "set", key, value, "--stack", "prod", "--non-interactive")
	}
	d.mustTool(t, "pulumi", "-C", "data", "up", "--stack", "prod", "--yes", "--skip-preview", "--non-interactive")
}

func (d dataTeam) isMissing(t *testing.T) {
	d.run(t, "up", "demo", "--yes").fails(t, "clusters/demo.yaml:", "values.db_host: there is no stack organization/data/prod in this state backend", "nothing was started")
	d.nothingExists(t)
}

func (d dataTeam) deployed(t *testing.T) {
	d.program(t, "data")
	d.mustTool(t, "pulumi", "-C", "data", "stack", "init", "prod", "--non-interactive")
	d.mustTool(t, "pulumi", "-C", "data", "config", "set", "--secret", "password", dbPassword, "--stack", "prod", "--non-interactive")
	d.set(t, "host=db-1.internal", "port=5432", "tier=gold")
}

// program builds a program of the test data in a directory of the project.
func (p project) program(t *testing.T, name string) {
	t.Helper()
	dir := filepath.Join(p.dir, name)
	assert.NilError(t, os.MkdirAll(dir, 0o755))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "program"), "./tests/lab/testdata/"+name)
	build.Dir = checkout(t)
	out, err := build.CombinedOutput()
	assert.NilError(t, err, string(out))
	p.write(t, name+"/Pulumi.yaml", testdata(t, name+"/Pulumi.yaml"))
}

func (d dataTeam) previewed(t *testing.T) {
	contains(t, d.must(t, "preview", "demo", "--details"), "db-1.internal", "cluster-reporter")
}

// received are the values that the release's chart has got.
func (d dataTeam) received(t *testing.T) string {
	t.Helper()
	return d.kubectl(t, "demo", "-n", "reporting", "get", "configmap", "cluster-reporter-report", "-o", "jsonpath={.data.values\\.yaml}")
}

func (d dataTeam) reach(t *testing.T) {
	d.up(t, "demo")
	d.must(t, "verify", "demo")
	assert.Check(t, is.Equal(d.kubectl(t, "demo", "-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath={.data.db_host}"), "db-1.internal"))
	contains(t, d.received(t),
		"bucket: shop-orders", "queueUrl: https://sqs.eu-central-1.amazonaws.com/111122223333/shop-orders",
		"database:\n  host: db-1.internal\n  port: 5432\n", "tier: gold", "zones:\n- eu-central-1a\n- eu-central-1b\n")
}

func (d dataTeam) plain(t *testing.T) {
	newPlain(t, d.project).must(t, "preview", "demo-bootstrap", "--expect-no-changes")
}

// secret refers to what is secret at its source, in each of both ways.
func (d dataTeam) secret(t *testing.T) {
	const file = "clusters/demo.yaml"
	text := d.read(t, file)
	defer d.write(t, file, text)
	for ref, want := range map[string]string{
		"{fromStack: data/prod, output: password}": "output password of stack data/prod is secret",
		"{fromSsm: /shop/password}":                "parameter /shop/password is a SecureString",
		"{fromStack: data/prod, output: none}":     "stack data/prod has no output none",
		"{fromStack: data/prod, output: database}": "database of stack data/prod is an object, and a key of the infra ConfigMap holds one text",
		"{fromSsm: /shop/none}":                    "there is no parameter /shop/none in account 111122223333, region eu-central-1",
	} {
		d.write(t, file, text)
		d.edit(t, file, "{fromStack: data/prod, output: database.host}", ref)
		for _, command := range [][]string{{"preview", "demo"}, {"up", "demo", "--yes"}} {
			o := d.run(t, command...)
			o.refuses(t, want, "values.db_host: ")
			assert.Check(t, !strings.Contains(o.stdout+o.stderr, dbPassword))
		}
	}
	hides(t, "the state", d.state(t, "demo-bootstrap"), dbPassword)
}

func (d dataTeam) changed(t *testing.T) {
	d.set(t, "host=db-2.internal", "port=5433", "tier=silver")
	contains(t, d.must(t, "preview", "demo", "--output", "markdown"),
		"| `database.host of stack data/prod` | `\"db-1.internal\"` | `\"db-2.internal\"` | `flux-system/infra-config: db_host` |",
		"`reporting/cluster-reporter-values: database.host`<br>`reporting/cluster-reporter-values: database.port`",
		"| `parameter /shop/tier` | `\"gold\"` | `\"silver\"` | `reporting/cluster-reporter-values: tier` |")
	d.up(t, "demo")
	d.must(t, "verify", "demo")
	contains(t, d.received(t), "host: db-2.internal", "port: 5433", "tier: silver")
}

func (d dataTeam) destroyed(t *testing.T) {
	d.must(t, "destroy", "demo", "--yes")
	d.mustTool(t, "pulumi", "-C", "data", "destroy", "--stack", "prod", "--yes", "--skip-preview", "--non-interactive")
	d.nothingExists(t)
}
