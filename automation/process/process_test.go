package process

import (
	"os"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/google/go-cmp/cmp"
)

func TestParseStat(t *testing.T) {
	const rest = " 42 42 0 -1 4194304 97 0 0 0 0 0 0 0 20 0 1 0 12345 0"
	for _, tt := range []struct {
		stat string
		want Process
		runs bool
	}{
		{"42 (pulumi) S 41" + rest, Process{Name: "pulumi", Parent: 41}, true},
		{"42 (a ) b) R 1" + rest, Process{Name: "a ) b", Parent: 1}, true},
		{"42 (pulumi) Z 41" + rest, Process{}, false},
		{"42 (pulumi) S 41 42", Process{}, false},
		{"garbage", Process{}, false},
	} {
		got, started, runs := parseStat(tt.stat)
		diff := cmp.Diff(tt.want, got)
		assert.Check(t, diff == "" && runs == tt.runs, "parseStat(%q) is %t (-want +got):\n%s", tt.stat, runs, diff)
		if runs && started != 123450*time.Millisecond {
			t.Errorf("parseStat(%q): started %s after the host", tt.stat, started)
		}
	}
}

func TestParsePS(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for line, want := range map[string]Process{
		" 41   01:02 /usr/bin/pulumi up --stack demo-core\n": {
			Name: "pulumi", Parent: 41, Args: []string{"/usr/bin/pulumi", "up", "--stack", "demo-core"}, Started: now.Add(-62 * time.Second),
		},
		"1 2-03:04:05 pulumi": {
			Name: "pulumi", Parent: 1, Args: []string{"pulumi"}, Started: now.Add(-51*time.Hour - 4*time.Minute - 5*time.Second),
		},
		"1 441077234-00:18:40 pulumi": {Name: "pulumi", Parent: 1, Args: []string{"pulumi"}, Started: now}, // seen with procps-ng 4.0.2
		"1 ? pulumi":                  {Name: "pulumi", Parent: 1, Args: []string{"pulumi"}},
		"":                            {},
		"a b c":                       {},
	} {
		assert.Check(t, is.DeepEqual(parsePS(line, now), want), "parsePS(%q)", line)
	}
}

func TestHostProcesses(t *testing.T) {
	p, ok := Host{}.Process(os.Getpid())
	assert.Check(t, ok && p.Parent == os.Getppid() && p.Name != "" && slices.Equal(p.Args, os.Args), "this process is %+v, %t", p, ok)
	age := time.Since(p.Started)
	assert.Check(t, age >= 0 && age <= time.Hour, "this process was started %s ago", age)
	asked, ok := askPS(os.Getpid())
	assert.Check(t, ok && asked.Parent == os.Getppid() && p.Started.Sub(asked.Started).Abs() <= 30*time.Second,
		"by ps this process is %+v, %t", asked, ok)
	_, ok = (Host{}).Process(0)
	assert.Check(t, !ok, "process 0 runs")
}

func TestDescendants(t *testing.T) {
	tree := map[int]int{2: 1, 3: 2, 4: 3, 5: 2, 6: 1, 0: 0}
	got := descendants(2, tree)
	slices.Sort(got)
	assert.Check(t, is.DeepEqual(got, []int{3, 4, 5}), "descendants")
	here := parents()
	assert.Check(t, here[os.Getpid()] == os.Getppid(), "the parent of this process is %d, want %d", here[os.Getpid()], os.Getppid())
	here = parentsByPS()
	assert.Check(t, here[os.Getpid()] == os.Getppid(), "by ps the parent of this process is %d, want %d", here[os.Getpid()], os.Getppid())
}
