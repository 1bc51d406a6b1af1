package fleet

import (
	"context"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/trace"
	"tombolo/automation/trace/tracetest"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/notice"
	"tombolo/config"
)

// TestTraceOfARun: a command's run on a fleet is one trace.
func TestTraceOfARun(t *testing.T) {
	c := tracetest.NewHTTP(t)
	c.Setenv(t)
	fx := newFixture(t)
	fx.factory.Lookup = os.LookupEnv
	fx.bad = []string{"west"}
	fx.factory.StartTrace(t.Context(), "up", "")
	err := fx.run(t, "--all")
	assert.ErrorContains(t, err, "no quota")
	fx.factory.EndTrace(trace.End{Err: err, Class: "unexpected", Code: 1})
	assert.Equal(t, c.Tree(t), `tombolo up ! `+err.Error()+`
  wave 0
    cluster canary
    gate 0
  wave 1 ! no quota
    cluster east
    cluster west ! no quota
`)
	assert.Check(t, is.Equal(c.Named("tombolo up")[0].Attributes["tombolo.clusters"], "4"))
}

func TestTraceOfOneCluster(t *testing.T) {
	c := tracetest.NewHTTP(t)
	c.Setenv(t)
	fx := newFixture(t)
	fx.factory.Lookup = os.LookupEnv
	fx.factory.StartTrace(t.Context(), "up", "")
	assert.NilError(t, fx.run(t, "east"))
	fx.factory.EndTrace(trace.End{})
	assert.Equal(t, c.Tree(t), "tombolo up\n  cluster east\n")
}

// TestNoticeOfARun: the channel that clusters share is told once, of those that ask for it.
func TestNoticeOfARun(t *testing.T) {
	channel, received := clitest.Channel(t)
	for _, test := range []struct {
		args, notices string
		bad           []string
		want          string
	}{
		{args: "--all", notices: "runs", want: "up of 3 clusters: 3 succeeded"},
		{args: "--all", notices: "runs", bad: []string{"west"}, want: "up of 3 clusters: 1 succeeded, 1 failed, 1 skipped"},
		{args: "east", notices: "failures"},
		{args: "east", notices: "failures", bad: []string{"east"}, want: "up of east: failed"},
		{args: "east", notices: "none", bad: []string{"east"}},
	} {
		fx := newFixture(t)
		fx.bad = test.bad
		fx.sender = &notice.Sender{
			Address: func(context.Context, *config.Cluster) (string, error) { return channel.URL, nil },
			Warn:    func(err error) { t.Error(err) },
		}
		for _, name := range []string{"east", "west", "last"} { // not canary's
			text, err := os.ReadFile(fx.root + "/clusters/" + name + ".yaml")
			assert.NilError(t, err)
			fx.write(t, "clusters/"+name+".yaml", strings.Replace(string(text), "  distribution:",
				"  channel: {type: slack, address: {env: TOMBOLO_CHANNEL}, notices: "+test.notices+"}\n  distribution:", 1))
		}
		*received = nil
		if err := fx.run(t, test.args); (err != nil) != (test.bad != nil) {
			t.Error(err)
		}
		if test.want == "" {
			assert.Check(t, is.Len(*received, 0), test.args)
			continue
		}
		assert.Assert(t, is.Len(*received, 1), test.want)
		assert.Check(t, is.Contains((*received)[0], test.want))
	}
}
