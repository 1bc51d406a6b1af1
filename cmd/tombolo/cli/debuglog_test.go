package cli

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tombolo/cmd/tombolo/cli/clitest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/gitcmd"
	"tombolo/automation/kube"
	"tombolo/automation/pulumicli"
	"tombolo/cmd/tombolo/cli/host"
	"tombolo/internal/debuglog"
	"tombolo/stacks"
)

// TestVerbose: the flag and the variable have a command log; without them it logs nothing.
func TestVerbose(t *testing.T) {
	for name, test := range map[string]struct {
		args  []string
		debug string
		want  string
	}{
		"nothing asked":     {[]string{"version"}, "", ""},
		"the flag":          {[]string{"version", "--verbose"}, "", `msg="command begins" name=version`},
		"the variable":      {[]string{"version"}, "1", `msg="command ends" name=version`},
		"the flag wins":     {[]string{"version", "--verbose=false"}, "1", ""},
		"a failure":         {[]string{"validate", "--verbose"}, "", `error=`},
		"no such value":     {[]string{"version"}, "loud", `TOMBOLO_DEBUG is "loud"; set it to 1 or 0, or unset it`},
		"results are apart": {[]string{"version", "--verbose", "-o", "json"}, "", `level=DEBUG`},
	} {
		f, out, errOut := testFactory(t)
		f.Lookup = func(name string) (string, bool) { return test.debug, name == "TOMBOLO_DEBUG" }
		tombolo.run(t.Context(), f, test.args)
		assert.Check(t, is.Contains(errOut.String(), test.want), name)
		assert.Check(t, test.want != "" || errOut.Len() == 0, "%s: %s", name, errOut)
		assert.Check(t, !strings.Contains(out.String(), "level="), name)
		assert.Check(t, !debuglog.Enabled(t.Context()), "%s: the log goes on", name)
	}
}

// TestLogHasNoSecret: with a secret in all that can be logged, the log names the request, the
// program and the file, and not the secret.
func TestLogHasNoSecret(t *testing.T) {
	const secret = "hunter2"
	before := slog.Default()
	defer slog.SetDefault(before)
	var log bytes.Buffer
	slog.SetDefault(debuglog.Logger(&log))

	server := clitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Answer", secret)
		http.Error(w, `{"kind":"Status","message":"`+secret+`"}`, http.StatusForbidden)
	}))
	client := host.Client{Base: server.URL, Header: http.Header{"Authorization": {"Bearer " + secret}}}
	_, err := client.Call(t.Context(), http.MethodGet, "/repos/a?token="+secret, map[string]string{"body": secret}, nil)
	assert.Check(t, err != nil)

	kubeconfig := "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: " + server.URL + "}}]\n" +
		"users: [{name: a, user: {token: " + secret + "}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"
	cluster, err := kube.ConnectWith([]byte(kubeconfig), nil)
	assert.NilError(t, err)
	_, err = cluster.Discover()
	assert.Check(t, err != nil)

	dir := t.TempDir()
	_ = gitcmd.Git{Dir: dir}.Command(t.Context(), "fetch", "https://ada:"+secret+"@example.com/a.git").Run()

	assert.NilError(t, os.WriteFile(filepath.Join(dir, "pulumi"), []byte("#!/bin/sh\necho v3.999.0\necho "+secret+" >&2\n"), 0o700))
	path := dir + string(os.PathListSeparator) + os.Getenv("PATH")
	cli := pulumicli.New(pulumicli.Options{
		WorkDir: t.TempDir(), Env: map[string]string{"PATH": path}, Getenv: func(string) string { return path },
	})
	program, err := cli.Program(t.Context())
	assert.NilError(t, err)
	_, _, _, err = program.Run(t.Context(), dir, nil, nil, nil, []string{"PULUMI_CONFIG_PASSPHRASE=" + secret},
		"config", "set", "token", "--secret", "--stack", "demo-core", "--", secret)
	assert.NilError(t, err)

	states := filepath.Join(dir, ".pulumi", "stacks", stacks.Project)
	assert.NilError(t, os.MkdirAll(states, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, ".pulumi", "meta.yaml"), []byte("version: 1\n"), 0o600))
	assert.NilError(t, os.WriteFile(filepath.Join(states, "demo-core.json"), []byte(`{"version":3,"checkpoint":{"latest":{"secret":"`+secret+`"}}}`), 0o600))
	b := &backend.Backend{URL: "file://" + dir}
	_, err = b.Deployment(t.Context(), "demo-core")
	assert.NilError(t, err)

	for _, want := range []string{
		"method=GET", "path=/repos/a status=403", "path=/api status=403", `command="git fetch …"`,
		`command="pulumi config set --secret --stack demo-core …" code=0`, "file=.pulumi/stacks/" + stacks.Project + "/demo-core.json bytes=",
	} {
		assert.Check(t, is.Contains(log.String(), want))
	}
	assert.Check(t, !strings.Contains(log.String(), secret), log.String())
}
