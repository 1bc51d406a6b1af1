package component

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/poll"
)

// TestMain lets the test binary play the plugin.
func TestMain(m *testing.M) {
	if os.Getenv("TOMBOLO_TEST_PLUGIN") != "" {
		serve()
	}
	os.Exit(m.Run())
}

func serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	server := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(server, component{})
	panic(server.Serve(l))
}

const waiting = "waiting"

// component answers with the pid of its process.
type component struct {
	pulumirpc.UnimplementedResourceProviderServer
}

func (component) Construct(ctx context.Context, r *pulumirpc.ConstructRequest) (*pulumirpc.ConstructResponse, error) {
	switch r.GetName() {
	case "fails":
		return nil, errors.New("it fails")
	case "waits":
		fmt.Println(waiting)
		<-ctx.Done()
	}
	return &pulumirpc.ConstructResponse{Urn: fmt.Sprint(os.Getpid())}, nil
}

// served is a pool, and what connects an engine to it.
func served(t *testing.T) (p *Pool, attach func() (pulumirpc.ResourceProviderClient, func())) {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	p = New(Options{
		Name: "plugin", Plugin: func() (string, error) { return self, nil }, Env: []string{"TOMBOLO_TEST_PLUGIN=1"},
		Logs: t.TempDir(), PIDs: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	server := p.Server()
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); p.Close() })
	return p, func() (pulumirpc.ResourceProviderClient, func()) {
		conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		assert.NilError(t, err)
		return pulumirpc.NewResourceProviderClient(conn), func() { conn.Close() }
	}
}

// TestProcesses: an engine has a process to itself, which the next one gets when all went well.
func TestProcesses(t *testing.T) {
	p, attach := served(t)
	construct := func(c pulumirpc.ResourceProviderClient, name string) string {
		t.Helper()
		made, err := c.Construct(t.Context(), &pulumirpc.ConstructRequest{Name: name})
		if name == "fails" {
			assert.Check(t, is.ErrorContains(err, "it fails"))
			return ""
		}
		assert.NilError(t, err)
		return made.GetUrn()
	}
	kept := func(idle, all int) {
		t.Helper()
		poll.WaitOn(t, func(poll.LogT) poll.Result {
			p.mu.Lock()
			defer p.mu.Unlock()
			if len(p.idle) == idle && len(p.all) == all {
				return poll.Success()
			}
			return poll.Continue("%d of %d are idle, want %d of %d", len(p.idle), len(p.all), idle, all)
		}, poll.WithTimeout(10*time.Second))
	}
	one, leaveOne := attach()
	two, leaveTwo := attach()
	first, second := construct(one, "a"), construct(two, "a")
	assert.Check(t, first != second && first == construct(one, "b"))
	_, err := one.Handshake(t.Context(), &pulumirpc.ProviderHandshakeRequest{})
	assert.Check(t, is.ErrorContains(err, "Unimplemented"), "what it does not know is no failure")
	leaveOne()
	kept(1, 2)
	three, leaveThree := attach()
	assert.Equal(t, construct(three, "a"), first)

	construct(two, "fails")
	leaveTwo()
	kept(0, 1)
	go func() { _, _ = three.Construct(t.Context(), &pulumirpc.ConstructRequest{Name: "waits"}) }()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if text, err := os.ReadFile(filepath.Join(p.Logs, "plugin-1.log")); err != nil || !strings.Contains(string(text), waiting) {
			return poll.Continue("its log is %q, %v", text, err)
		}
		return poll.Success()
	})
	leaveThree()
	kept(0, 0)
}

// TestPluginThatDoesNotStart: the engine hears why.
func TestPluginThatDoesNotStart(t *testing.T) {
	p, attach := served(t)
	p.Plugin = func() (string, error) { return filepath.Join(t.TempDir(), "none"), nil }
	c, leave := attach()
	defer leave()
	_, err := c.Construct(t.Context(), &pulumirpc.ConstructRequest{})
	assert.Check(t, err != nil && strings.Contains(err.Error(), "start plugin-1: none is missing"), "%v", err)
}
