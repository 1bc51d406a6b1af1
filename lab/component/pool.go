// Package component serves a component of Pulumi's to engines by processes that stay. A
// plugin of Node.js takes a second of CPU to start, in each operation of a stack.
//
// The SDK keeps for a process what it knows of the engine. So a process answers one engine
// at a time, and is kept for the next only when nothing of the last one can be left in it.
package component

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"tombolo/lab/process"
)

// Options of a Pool. All are required.
type Options struct {
	// Name of the processes, which a number follows.
	Name string
	// Plugin is the program of the component, Env all of its environment.
	Plugin func() (string, error)
	Env    []string
	// Logs and PIDs are the directories of the processes' logs and pid files.
	Logs, PIDs string
	Log        *slog.Logger
}

// Pool has the processes of a component. It is safe for concurrent use.
type Pool struct {
	Options

	mu      sync.Mutex
	started int
	idle    []*plugin
	all     map[*plugin]bool
	closed  bool
}

// New makes a pool without a process: the first engine starts one.
func New(o Options) *Pool { return &Pool{Options: o, all: map[*plugin]bool{}} }

// plugin is a process of the component.
type plugin struct {
	process *process.Process
	conn    *grpc.ClientConn
}

func (p *plugin) stop() {
	_ = p.conn.Close() // the process ends anyway
	p.process.Stop()
}

// running says that the process has not ended by itself.
func (p *plugin) running() bool { return p.process.Err() == nil }

// take is a process for one engine.
func (p *Pool) take(ctx context.Context) (*plugin, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		has := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		if has.running() {
			return has, nil
		}
		p.end(has)
		return p.take(ctx)
	}
	p.started++
	number := p.started
	p.mu.Unlock()
	fresh, err := p.start(ctx, p.Name+"-"+strconv.Itoa(number))
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		fresh.stop()
		return nil, fmt.Errorf("start %s: the lab is shutting down", p.Name)
	}
	p.all[fresh] = true
	return fresh, nil
}

// start starts a process, which writes its port as the first line.
func (p *Pool) start(ctx context.Context, name string) (*plugin, error) {
	path, err := p.Plugin()
	if err != nil {
		return nil, err
	}
	port := ""
	spec := process.Spec{Name: name, Path: path, Env: p.Env, LogDir: p.Logs, PIDFile: filepath.Join(p.PIDs, name+".json")}
	spec.Healthy = func(context.Context) error {
		text, err := os.ReadFile(spec.LogFile())
		line, _, whole := strings.Cut(string(text), "\n")
		if _, bad := strconv.Atoi(line); err != nil || !whole || bad != nil {
			return fmt.Errorf("it has not said its port: %q, %w", line, err)
		}
		port = line
		return nil
	}
	running, err := process.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("127.0.0.1:"+port, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		running.Stop()
		return nil, fmt.Errorf("connect to %s: %w", name, err)
	}
	return &plugin{running, conn}, nil
}

// give takes a process back from an engine, for the next one.
func (p *Pool) give(used *plugin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.idle = append(p.idle, used)
	}
}

// end ends a process.
func (p *Pool) end(used *plugin) {
	p.mu.Lock()
	delete(p.all, used)
	p.mu.Unlock()
	used.stop()
}

// Close ends all processes.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	all := p.all
	p.all, p.idle = map[*plugin]bool{}, nil
	p.mu.Unlock()
	var ended sync.WaitGroup
	for one := range all {
		ended.Go(one.stop)
	}
	ended.Wait()
}
