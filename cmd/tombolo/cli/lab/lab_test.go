package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/lab/control"
)

// fake is a lab that runs in the test's mind only.
type fake struct {
	status control.Status
	env    map[string]string
	log    string
	err    error
	calls  []string
	faults []control.Fault
	// messages of the inbox.
	messages []control.Message
}

func (f *fake) ChooseNetwork(n control.Network) error {
	f.calls = append(f.calls, "network "+string(n))
	return nil
}

func (f *fake) ChooseProfile(p control.Profile) error {
	f.calls = append(f.calls, "profile "+string(p))
	return nil
}

func (f *fake) Up(_ context.Context, progress func(control.Step)) error {
	f.calls = append(f.calls, "up")
	progress(control.Step{Name: "start the lab", State: control.StepDone})
	return f.err
}

func (f *fake) Down(context.Context) error {
	f.calls = append(f.calls, "down")
	return f.err
}

func (f *fake) Status(context.Context) (control.Status, error) { return f.status, f.err }
func (f *fake) Env() (map[string]string, error)                { return f.env, f.err }
func (f *fake) Processes() ([]string, error)                   { return []string{"daemon", "etcd"}, nil }

func (f *fake) KeyVault(context.Context, control.VaultRequest) (json.RawMessage, error) {
	return nil, f.err
}

func (f *fake) AddMember(context.Context, string, string) error { return nil }
func (f *fake) Person(context.Context, control.PersonRequest) (control.Person, error) {
	return control.Person{}, nil
}

func (f *fake) LogFile(process string) (string, error) {
	if process != "etcd" {
		return "", fmt.Errorf("find the log of %q: there is none; use one of daemon, etcd", process)
	}
	return f.log, f.err
}

func (f *fake) Change(_ context.Context, typ, name string, changes map[string]any) (control.Item, error) {
	f.calls = append(f.calls, fmt.Sprint("change ", typ, " ", name, " ", changes))
	return control.Item{Type: typ, ID: name}, f.err
}

func (f *fake) Delete(_ context.Context, typ, name string) (control.Item, error) {
	f.calls = append(f.calls, fmt.Sprint("delete ", typ, " ", name))
	return control.Item{Type: typ, ID: name}, f.err
}

func (f *fake) AddFault(_ context.Context, added control.Fault) (control.Fault, error) {
	added.ID = len(f.faults) + 1
	f.faults = append(f.faults, added)
	return added, f.err
}

func (f *fake) Inbox(channel string) ([]control.Message, error) {
	f.calls = append(f.calls, "inbox "+channel)
	return f.messages, f.err
}

func (f *fake) Faults(context.Context) ([]control.Fault, error) { return f.faults, f.err }

func (f *fake) ClearFaults(_ context.Context, ids ...int) (int, error) {
	f.calls = append(f.calls, fmt.Sprint("clear ", ids))
	n := len(f.faults)
	f.faults = nil
	return n, f.err
}

func (f *fake) Cut(_ context.Context, cluster string) error     { return f.call("cut " + cluster) }
func (f *fake) Restore(_ context.Context, cluster string) error { return f.call("restore " + cluster) }
func (f *fake) Restart(_ context.Context, cluster string) error { return f.call("restart " + cluster) }

func (f *fake) call(what string) error {
	f.calls = append(f.calls, what)
	return f.err
}

// options have a command work on the fake, and write to the buffers.
func (f *fake) options(out io.Writer, errOut *bytes.Buffer, json bool) Options {
	return Options{
		Base: factory.Base{
			Out: out, JSON: func() bool { return json }, Table: func() render.TableOptions { return render.TableOptions{} },
			Status: func() render.Status { return render.Status{W: errOut, Style: render.Style{Unicode: true}} },
		},
		Lab: func() (Lab, error) { return f, nil },
	}
}

func TestUpAndDown(t *testing.T) {
	f, errOut, steps := &fake{}, &bytes.Buffer{}, 0
	up := &UpOptions{Options: f.options(nil, errOut, false), Steps: func() func(control.Step) { return func(control.Step) { steps++ } }}
	assert.NilError(t, upRun(t.Context(), up))
	assert.NilError(t, downRun(t.Context(), up.Options))
	if got, want := errOut.String(), "✔ the lab is running\n✔ the lab is gone\n"; got != want || steps != 1 {
		t.Errorf("people read %q after %d steps, want %q", got, steps, want)
	}
}

// TestUpWithAProfile chooses before it starts.
func TestUpWithAProfile(t *testing.T) {
	f := &fake{}
	o := &UpOptions{Options: f.options(nil, &bytes.Buffer{}, false), Profile: control.Light, Network: control.ClosedNetwork, Steps: func() func(control.Step) { return func(control.Step) {} }}
	assert.NilError(t, upRun(t.Context(), o))
	assert.Check(t, is.Equal(strings.Join(f.calls, ", "), "profile light, network closed, up"))
}

func TestUpFails(t *testing.T) {
	f := &fake{err: errors.New("etcd missing in .tools/bin; run `make tools`")}
	err := upRun(t.Context(), &UpOptions{Options: f.options(nil, nil, false), Steps: func() func(control.Step) { return func(control.Step) {} }})
	assert.Check(t, is.Error(err, "the lab did not start: etcd missing in .tools/bin; run `make tools`"))
}

func TestStatus(t *testing.T) {
	running := control.Status{
		Running: true, PID: 7, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local),
		Endpoints: []control.Endpoint{{Name: "git", URL: "http://git.lab.test/platform.git"}},
		Processes: []control.Process{
			{Name: "demo-etcd", State: "running", PID: 8},
			{Name: "demo-kwok", State: "failed", Restarts: 5, Detail: "exited with code 1\nand more"},
		},
		Inventory: []control.Item{{Type: "aws:ec2/vpc:Vpc", ID: "vpc-1", Name: "demo", Region: "eu-central-1"}},
		Notes:     []string{"the platform repository has commits of its own"},
	}
	light := running
	light.Profile, light.Processes, light.Endpoints, light.Inventory, light.Notes = control.Light, nil, nil, nil, nil
	empty := running
	empty.Processes, empty.Inventory, empty.Notes = nil, nil, nil
	for _, test := range []struct {
		name      string
		status    control.Status
		out, says string
	}{
		{"running", running, `Processes: 2
NAME        STATE     PID   RESTARTS   DETAIL
demo-etcd   running   8     0
demo-kwok   failed          5          exited with code 1
Endpoints: 1
NAME   URL
git    http://git.lab.test/platform.git
Cloud: 1
TYPE              ID      NAME   REGION
aws:ec2/vpc:Vpc   vpc-1   demo   eu-central-1
`, "✔ the lab is running since 2026-01-02 03:04:05 (process 7)\n  the platform repository has commits of its own\n"},
		{"nothing in the cloud", empty, `Endpoints: 1
NAME   URL
git    http://git.lab.test/platform.git
Cloud: 0
`, "✔ the lab is running since 2026-01-02 03:04:05 (process 7)\n"},
		{"light", light, "Cloud: 0\n", "✔ the lab is running since 2026-01-02 03:04:05 (process 7)\n  its profile is light\n"},
		{"down", control.Status{}, "Cloud: 0\n", "the lab is not running; start it with `tombolo lab up`\n"},
		{"down, with a cloud", control.Status{Inventory: running.Inventory}, `Cloud, on disk: 1
TYPE              ID      NAME   REGION
aws:ec2/vpc:Vpc   vpc-1   demo   eu-central-1
`, "the lab is not running, but has a cloud on disk; bring it back with `tombolo lab up`, or remove it with `tombolo lab down`\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			f := &fake{status: test.status}
			err := statusRun(t.Context(), f.options(&out, &errOut, false))
			if err != nil || out.String() != test.out || errOut.String() != test.says {
				t.Errorf("got %v\n%s%s\nwant:\n%s%s", err, &errOut, &out, test.says, test.out)
			}
		})
	}
}

func TestStatusDocument(t *testing.T) {
	var out, errOut bytes.Buffer
	err := statusRun(t.Context(), (&fake{}).options(&out, &errOut, true))
	if err != nil || !strings.HasPrefix(out.String(), `{"type":"lab-status","running":false,`) {
		t.Errorf("got %q, %v", &out, err)
	}
}

func TestEnv(t *testing.T) {
	f := &fake{env: map[string]string{"PATH": "/a dir:/bin", "PASSPHRASE": `it's "$x"`}}
	var out bytes.Buffer
	assert.NilError(t, envRun(f.options(&out, nil, false)))
	want := "export PASSPHRASE='it'\\''s \"$x\"'\nexport PATH='/a dir:/bin'\n"
	assert.Check(t, is.Equal(out.String(), want))
	out.Reset()
	assert.NilError(t, envRun(f.options(&out, nil, true)))
	assert.Check(t, is.Equal(out.String(), `{"PASSPHRASE":"it's \"$x\"","PATH":"/a dir:/bin"}`+"\n"))
}

func TestLogs(t *testing.T) {
	f := &fake{log: filepath.Join(t.TempDir(), "etcd.log")}
	assert.NilError(t, os.WriteFile(f.log, []byte("one\ntwo\nthree\n"), 0o600))
	for _, test := range []struct {
		name      string
		o         LogsOptions
		want, err string
	}{
		{name: "all", o: LogsOptions{Process: "etcd"}, want: "one\ntwo\nthree\n"},
		{name: "last", o: LogsOptions{Process: "etcd", Lines: 2}, want: "two\nthree\n"},
		{name: "more than there are", o: LogsOptions{Process: "etcd", Lines: 9}, want: "one\ntwo\nthree\n"},
		{name: "names", want: "daemon\netcd\n"},
		{name: "unknown", o: LogsOptions{Process: "etdc"}, err: `find the log of "etdc": there is none; use one of daemon, etcd`},
		{name: "negative", o: LogsOptions{Lines: -1}, err: "--lines is -1; give 0 for all, or how many"},
		{name: "follow nothing", o: LogsOptions{Follow: true}, err: "no process is named; name one; `tombolo lab logs` lists them"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			test.o.Options = f.options(&out, nil, false)
			err := logsRun(t.Context(), &test.o)
			if (err == nil) != (test.err == "") || (err != nil && err.Error() != test.err) {
				t.Errorf("got the error %v, want %q", err, test.err)
			}
			assert.Check(t, is.Equal(out.String(), test.want))
		})
	}
}

// signalling tells when something was written.
type signalling struct {
	text    strings.Builder
	written chan string
}

func (s *signalling) Write(p []byte) (int, error) {
	s.text.Write(p)
	s.written <- s.text.String()
	return len(p), nil
}

func TestFollow(t *testing.T) {
	f := &fake{log: filepath.Join(t.TempDir(), "etcd.log")}
	assert.NilError(t, os.WriteFile(f.log, []byte("one\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	out := &signalling{written: make(chan string, 8)}
	done := make(chan error, 1)
	go func() {
		done <- logsRun(ctx, &LogsOptions{Options: f.options(out, nil, false), Process: "etcd", Follow: true, Every: time.Millisecond})
	}()
	assert.Check(t, is.Equal(<-out.written, "one\n"))
	file, err := os.OpenFile(f.log, os.O_APPEND|os.O_WRONLY, 0)
	assert.NilError(t, err)
	defer file.Close()
	if _, err := file.WriteString("two\n"); err != nil {
		t.Fatal(err)
	}
	assert.Check(t, is.Equal(<-out.written, "one\ntwo\n"))
	cancel()
	if err := <-done; err != nil {
		t.Errorf("an interrupt ended following with %v", err)
	}
}
