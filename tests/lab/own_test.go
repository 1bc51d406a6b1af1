//go:build lab

package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestOwnStacks: a team's own program has a stack between core and bootstrap of each cluster. It reads what core has
// put out, and bootstrap what it has.
func TestOwnStacks(t *testing.T) {
	tier.Long(t, "stacks of a team's own program are run in their order by the real CLI; unit tests hold the order")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light-engine")
	p.edit(t, "clusters/demo.yaml", "  chart_repository: http://charts.lab.test\n",
		"  chart_repository: http://charts.lab.test\n  db_host: {fromStack: database/demo-database, output: host}\n  db_arn: {fromStack: database/demo-database, output: arn}\n")
	p.write(t, "tombolo.stacks.yaml", "version: 1\nstacks:\n  - {name: database, program: database, order: after-core, clusters: tombolo/cluster=demo}\n")
	inOrder(t, ownTeam{p}, []step[ownTeam]{
		{"without the program, nothing is started", ownTeam.refused},
		{"a preview before anything exists names the stack", ownTeam.named},
		{"the program fails between core and bootstrap", ownTeam.fails},
		{"the next up goes on", ownTeam.goesOn},
		{"a second up changes nothing", func(o ownTeam, t *testing.T) { o.up(t, "demo").unchanged(t) }},
		{"an up that is recorded runs it alone", ownTeam.alone},
		{"a change is previewed, with what it changes where", ownTeam.changed},
		{"a preview that decrypts nothing", ownTeam.withoutSecrets},
		{"a plan is applied, and another change is refused", ownTeam.planned},
		{"destroy takes all of it down", ownTeam.destroyed},
	})
}

// ownTeam has a program of its own in the project.
type ownTeam struct{ project }

// set writes the settings of the stack, as people do, and leaves what encrypts in it.
func (o ownTeam) set(t *testing.T, host, broken string) {
	t.Helper()
	const file = "database/Pulumi.demo-database.yaml"
	var kept []string
	if text, err := os.ReadFile(filepath.Join(o.dir, file)); err == nil {
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "config:") && !strings.HasPrefix(line, " ") {
				kept = append(kept, line)
			}
		}
	}
	o.write(t, file, strings.Join(kept, "")+"config:\n  database:host: "+host+"\n  database:broken: \""+broken+"\"\n")
}

func (o ownTeam) refused(t *testing.T) {
	for _, command := range [][]string{{"up", "demo", "--yes"}, {"preview", "demo"}, {"validate"}} {
		o.run(t, command...).ends(t, 3, "tombolo.stacks.yaml:3:31: stacks[0].program: database has no Pulumi.yaml")
	}
	o.program(t, "database")
	assert.Check(t, is.Contains(o.run(t, "validate").stderr, "tombolo.stacks.yaml: 1 own stack"))
	o.nothingExists(t)
}

func (o ownTeam) named(t *testing.T) {
	said := o.must(t, "preview", "demo", "--output", "markdown")
	assert.Check(t, is.Contains(said, "Note: own stack demo-database"))
	assert.Check(t, is.Contains(o.must(t, "preview", "demo", "--details"), "(host of stack database/demo-database, known after its up)"))
	o.nothingExists(t)
}

func (o ownTeam) fails(t *testing.T) {
	o.set(t, "db-1.internal", "true")
	got := o.run(t, "up", "demo", "--yes")
	got.ends(t, 5, "own stack demo-database, program in database, between core and bootstrap: up demo-database: ",
		"no such version of the database", "what comes after it was not begun")
	assert.Check(t, len(o.resources(t, "demo-core")) > 0)
	bootstrap := o.tool(t, "pulumi", "stack", "export", "--stack", "demo-bootstrap")
	assert.Check(t, !strings.Contains(bootstrap.stdout, "kubernetes:"), bootstrap.stdout)
}

func (o ownTeam) goesOn(t *testing.T) {
	o.set(t, "db-1.internal", "false")
	r := lastResult(t, o.must(t, "up", "demo", "--yes", "--output", "json"))
	assert.Check(t, is.Equal(r.Stacks[0].Stack+" "+r.Stacks[1].Stack+" "+r.Stacks[2].Stack, "demo-core demo-database demo-bootstrap"))
	o.must(t, "verify", "demo")
	o.published(t, "db-1.internal")
}

// published looks for the stack's outputs on the cluster.
func (o ownTeam) published(t *testing.T, host string) {
	t.Helper()
	got := o.kubectl(t, "demo", "-n", "flux-system", "get", "configmap", "infra-config", "-o", "jsonpath={.data.db_host} {.data.db_arn}")
	assert.Check(t, is.Equal(got, host+" arn:aws:s3:::demo-database"))
}

func (o ownTeam) alone(t *testing.T) {
	said := o.must(t, "up", "demo", "--yes", "--output", "json")
	lastResult(t, said).unchanged(t)
	assert.Check(t, is.Equal(strings.Count(said, `"type":"stack-started"`), 1), said)
}

func (o ownTeam) changed(t *testing.T) {
	o.set(t, "db-2.internal", "false")
	contains(t, o.must(t, "preview", "demo", "--output", "markdown"), "| own stacks |", "database: no resource changes",
		"| `host of stack database/demo-database` | `\"db-1.internal\"` | `\"db-2.internal\"` | `flux-system/infra-config: db_host` |")
	lastResult(t, o.must(t, "up", "demo", "--yes", "--output", "json"))
	o.published(t, "db-2.internal")
	o.up(t, "demo").unchanged(t)
}

func (o ownTeam) withoutSecrets(t *testing.T) {
	said := o.must(t, "preview", "demo", "--without-secrets", "--output", "json")
	lastResult(t, said).unchanged(t)
	assert.Check(t, is.Contains(said, "it has secrets, and this preview decrypts none")) // what it reads of core has some
}

func (o ownTeam) planned(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.json")
	o.set(t, "db-3.internal", "false")
	o.must(t, "preview", "demo", "--plan", plan)
	o.set(t, "db-4.internal", "false")
	o.run(t, "up", "demo", "--plan", plan).ends(t, 14)
	o.published(t, "db-2.internal")
	o.set(t, "db-3.internal", "false")
	o.must(t, "up", "demo", "--plan", plan)
	o.published(t, "db-3.internal")
}

func (o ownTeam) destroyed(t *testing.T) {
	o.run(t, "destroy", "demo", "--yes", "--keep-data").fails(t, "what own stacks have that are made after core may be in its network: demo-database (program in database)")
	got := o.run(t, "destroy", "demo", "--yes", "--remove")
	got.ends(t, 0, "own stack demo-database (program in database) goes with it, and all that it has")
	o.nothingExists(t)
	left := o.mustTool(t, "pulumi", "-C", "database", "stack", "ls", "--non-interactive", "--json")
	assert.Check(t, is.Equal(strings.TrimSpace(left), "[]"))
}
