package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

func TestPlain(t *testing.T) {
	var out, err bytes.Buffer
	replay(t, "testdata/up.jsonl", Options{Out: &out, Err: &err, Style: Style{Unicode: true}}, nil).Close()
	golden.Assert(t, err.String(), "plain.golden")
	if out.Len() > 0 {
		t.Errorf("standard output holds status: %q", &out)
	}
}

func TestJSON(t *testing.T) {
	var out, err bytes.Buffer
	replay(t, "testdata/up.jsonl", Options{Out: &out, Err: &err, Format: JSON}, nil).Close()
	golden.Assert(t, out.String(), "json.golden")
	if err.Len() > 0 {
		t.Errorf("standard error holds documents: %q", &err)
	}
	for line := range strings.Lines(out.String()) {
		var document map[string]any
		if err := json.Unmarshal([]byte(line), &document); err != nil {
			t.Errorf("%q is not a document: %v", line, err)
		}
		assert.Check(t, document["type"] != nil, "%q has no type", line)
	}
}

// TestDebugIsLeftOut: the engine tells of each of its calls at this severity.
func TestDebugIsLeftOut(t *testing.T) {
	var out bytes.Buffer
	p := New(Options{Out: &out, Format: JSON})
	for severity, text := range map[string]string{"debug": "RegisterResource RPC prepared", "warning": "the key is old"} {
		p.EngineEvent("demo-core", events.EngineEvent{EngineEvent: apitype.EngineEvent{
			DiagnosticEvent: &apitype.DiagnosticEvent{Severity: severity, Message: text},
		}})
	}
	p.Close()
	if got := out.String(); strings.Contains(got, "RPC") || !strings.Contains(got, "the key is old") {
		t.Errorf("got %s", got)
	}
}

func TestRefreshStopsAtClose(t *testing.T) {
	var err bytes.Buffer
	p := New(Options{Err: &err, Terminal: true, Refresh: time.Millisecond})
	p.StackStarted("demo-core", "up")
	p.Close()
	p.Close()
	assert.Check(t, strings.Contains(err.String(), "demo-core  up  0 done"), "the view shows %q", &err)
}

// planEvents is a preview of one resource of each kind of change.
func planEvents() []apitype.StepEventMetadata {
	const secretSig, secret = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
	meta := func(op apitype.OpType, typ, name string, inputs map[string]any, diffs ...string) apitype.StepEventMetadata {
		return apitype.StepEventMetadata{
			Op: op, Type: typ, URN: "urn:pulumi:demo-bootstrap::tombolo::" + typ + "::" + name, Diffs: diffs,
			New: &apitype.StepEventStateMetadata{Inputs: inputs},
		}
	}
	return []apitype.StepEventMetadata{
		meta("same", "kubernetes:core/v1:Namespace", "flux-system", nil),
		meta("create", "kubernetes:core/v1:ConfigMap", "infra-config", map[string]any{
			"__defaults": []any{},
			"data": map[string]any{
				"cluster_name": "demo", "vpc_id": "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
				"a.b": "dotted",
			},
			"immutable": false,
			"zones":     []any{"a", "04da6b54-80e4-46f7-96ec-b56ff0331ba9"},
		}),
		meta("create", "kubernetes:core/v1:Secret", "platform-auth", map[string]any{
			"stringData": map[string]any{"password": "not-marked-as-secret"},
		}),
		meta("update", "aws:iam/role:Role", "demo-node", map[string]any{
			"policy": map[string]any{secretSig: secret, "ciphertext": "AAABAL", "plaintext": "\"s3cr3t\""},
		}, "policy"),
		meta("create-replacement", "aws:ec2/subnet:Subnet", "a", nil, "cidrBlock"),
		meta("replace", "aws:ec2/subnet:Subnet", "a", nil, "cidrBlock"),
		meta("delete-replaced", "aws:ec2/subnet:Subnet", "a", nil, "cidrBlock"),
		meta("delete", "aws:ec2/eip:Eip", "nat", nil),
	}
}

func preview(t *testing.T) Plan {
	t.Helper()
	p := New(Options{Err: &bytes.Buffer{}, Out: &bytes.Buffer{}})
	p.StackStarted("demo-bootstrap", "preview")
	for _, meta := range planEvents() {
		p.EngineEvent("demo-bootstrap", events.EngineEvent{EngineEvent: apitype.EngineEvent{
			ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: meta, Planning: true},
		}})
	}
	changes := map[string]int{"create": 2, "update": 1, "replace": 1, "delete": 1, "same": 1}
	p.StackFinished("demo-bootstrap", changes, nil)
	p.Close()
	plans := p.Plans()
	assert.Assert(t, len(plans) == 1, "got %d plans, want 1", len(plans))
	return plans[0]
}

func TestPlan(t *testing.T) {
	for name, set := range map[string]func(*Plan, *PlanOptions){
		"plan":              func(*Plan, *PlanOptions) {},
		"plan-placeholders": func(p *Plan, _ *PlanOptions) { p.Placeholders = true },
		"plan-details": func(p *Plan, o *PlanOptions) {
			p.Placeholders, o.Details = true, true
		},
		"plan-core-details": func(p *Plan, o *PlanOptions) { o.Details = true },
		"plan-narrow": func(p *Plan, o *PlanOptions) {
			p.Placeholders, o.Details, o.Width = true, true, 40
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan, o := preview(t), PlanOptions{Style: Style{Unicode: true}}
			set(&plan, &o)
			var b bytes.Buffer
			WritePlan(&b, plan, o)
			golden.Assert(t, b.String(), name+".golden")
			for _, secret := range []string{"not-marked-as-secret", "s3cr3t", "AAABAL"} {
				assert.Check(t, !strings.Contains(b.String(), secret), "the plan shows the secret %q", secret)
			}
			for line := range strings.Lines(b.String()) {
				if o.Width > 0 && len([]rune(strings.TrimSuffix(line, "\n"))) > o.Width {
					t.Errorf("a line is wider than %d: %q", o.Width, line)
				}
			}
		})
	}
}

func TestTable(t *testing.T) {
	header := []string{"KIND", "NAME", "READY", "MESSAGE"}
	rows := [][]string{
		{"GitRepository", "flux-system/platform", "True", "stored artifact for revision main@sha1:0123456789"},
		{"Kustomization", "flux-system/apps", "False", "dependency 'flux-system/infrastructure' is not ready\nmore of it"},
	}
	for name, width := range map[string]int{"table": 0, "table-60": 60} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			assert.NilError(t, Table(&b, TableOptions{Width: width, Style: Style{Unicode: true}}, header, rows))
			golden.Assert(t, b.String(), name+".golden")
		})
	}
}

func TestTableWithoutRows(t *testing.T) {
	var b bytes.Buffer
	if err := Table(&b, TableOptions{}, []string{"NAME"}, nil); err != nil || b.Len() > 0 {
		t.Errorf("got %q, %v; want nothing", &b, err)
	}
}

func TestSummary(t *testing.T) {
	for want, changes := range map[string]map[string]int{
		"0 changes":                           nil,
		"0 changes, 31 unchanged":             {"same": 31},
		"2 created, 1 replaced, 28 unchanged": {"same": 28, "create": 2, "replace": 1},
		"1 updated, 1 deleted":                {"delete": 1, "update": 1, "create": 0},
	} {
		if got := summary(changes, false); got != want {
			t.Errorf("summary(%v): got %q, want %q", changes, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 300 * time.Millisecond, "59s": 59 * time.Second, "3m05s": 185 * time.Second, "1h02m": 62 * time.Minute,
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%v): got %q, want %q", d, got, want)
		}
	}
}

func TestLongMessageIsCut(t *testing.T) {
	lines := messageLines(diagnostic{text: strings.Repeat("line\n", 40)}, 80)
	if len(lines) != maxMessageLines+1 || lines[maxMessageLines] != "(24 more lines)" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}
