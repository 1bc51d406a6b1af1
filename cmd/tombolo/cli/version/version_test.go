package version

import (
	"bytes"
	"runtime/debug"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
)

func build() (*debug.BuildInfo, bool) {
	return &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "tombolo", Version: "(devel)"},
		Settings:  []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"}},
		Deps: []*debug.Module{
			{Path: "github.com/pulumi/pulumi/sdk/v3", Version: "v3.250.0"},
			{Path: "github.com/spf13/cobra", Version: "v1.10.2"},
		},
	}, true
}

func TestVersion(t *testing.T) {
	for _, test := range []struct {
		name string
		json bool
		info func() (*debug.BuildInfo, bool)
		want string
	}{
		{"text", false, build, `COMPONENT   VERSION
tombolo     development (0123456789ab, modified)
go          1.26.8
pulumi      3.250.0
`},
		{"json", true, build, `{"type":"version","tombolo":"development (0123456789ab, modified)","go":"1.26.8","modules":{"pulumi":"3.250.0"}}` + "\n"},
		{"no information", false, func() (*debug.BuildInfo, bool) { return nil, false }, `COMPONENT   VERSION
tombolo     unknown
go          unknown
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			err := versionRun(&Options{Build: test.info, Base: factory.Base{
				Out: &b, JSON: func() bool { return test.json }, Table: func() render.TableOptions { return render.TableOptions{} },
			}})
			if err != nil || b.String() != test.want {
				t.Errorf("got %v\n%s\nwant:\n%s", err, &b, test.want)
			}
		})
	}
}

func TestRelease(t *testing.T) {
	assert.Check(t, is.Equal(own(&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}), "0.1.0"))
}
