package lab

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/lab/control"
)

func TestFaultArguments(t *testing.T) {
	var got *FaultOptions
	keep := func(_ context.Context, o *FaultOptions) error { got = o; return nil }
	assert.NilError(t, clitest.Execute(t, NewCmdFaultAdd(testFactory(t), keep), "slow", "create", "*", "--count", "3", "--delay", "1s"))
	want := control.Fault{Kind: "slow", Operation: "create", Type: "*", Count: 3, Delay: time.Second}
	assert.Check(t, is.DeepEqual(got.Fault, want))
	if err := clitest.Execute(t, NewCmdFaultClear(testFactory(t), keep), "1", "2"); err != nil || !cmp.Equal(got.IDs, []int{1, 2}) {
		t.Errorf("%v, %v", got.IDs, err)
	}
	err := clitest.Execute(t, NewCmdFaultClear(testFactory(t), keep), "Vpc")
	assert.Check(t, is.Error(err, "\"Vpc\" is not the id of a fault; see `tombolo lab fault list`"))
}

func TestFaultRun(t *testing.T) {
	f, errOut, out := &fake{}, &bytes.Buffer{}, &bytes.Buffer{}
	o := &FaultOptions{Options: f.options(out, errOut, false)}
	o.Fault = control.Fault{Kind: "quota", Operation: "create", Type: "aws:ec2/vpc:Vpc", Count: 2}
	for _, run := range []func(context.Context, *FaultOptions) error{faultListRun, faultAddRun, faultListRun, faultClearRun} {
		assert.NilError(t, run(t.Context(), o))
	}
	want := "there is no fault\n✔ fault 1 added: create of aws:ec2/vpc:Vpc, quota, 2 times\n✔ faults removed: 1, left: 0\n"
	assert.Check(t, is.Equal(errOut.String(), want))
	table := "ID   KIND    OPERATION   TYPE              LEFT\n1    quota   create      aws:ec2/vpc:Vpc   2\n"
	assert.Check(t, out.String() == table, "the table is\n%s\nwant\n%s", out, table)
	o.Options = f.options(out, errOut, true)
	out.Reset()
	assert.NilError(t, faultAddRun(t.Context(), o))
	assert.Check(t, is.Equal(out.String(), `{"type":"lab-faults","faults":[{"id":1,"kind":"quota","operation":"create","type":"aws:ec2/vpc:Vpc","count":2}]}`+"\n"))
}

func TestClusterRun(t *testing.T) {
	f, c := &fake{}, clitest.New(t, render.Text)
	cmd := NewCmdCluster(&Given{Factory: c.Factory, Here: Here{Open: func(string) Lab { return f }}})
	if err := clitest.Execute(t, cmd, "cut", "demo"); err != nil || c.ErrOut.String() != "✔ cluster demo is cut off\n" {
		t.Errorf("%v, people read %q", err, c.ErrOut)
	}
	f.err = errors.New("cut cluster demo off: send stopped (signal) to demo-kube-apiserver: there is no such process")
	if err := clitest.Execute(t, cmd, "cut", "demo"); !errors.Is(err, f.err) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"cut demo", "cut demo"}, f.calls); diff != "" {
		t.Error(diff)
	}
}
