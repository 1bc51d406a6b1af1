package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// progress shows how far one group is: on a terminal as one line that is
// written over, elsewhere as a line now and then.
type progress struct {
	out      *os.File // nil for a group that is made beside others, which says nothing
	name     string
	terminal bool

	mu    sync.Mutex
	begun time.Time
	total int // packages to compile, 0 when not known
	done  int
	stop  chan struct{}
	ended sync.WaitGroup
}

// How often progress is shown.
const (
	everyOnTerminal = 200 * time.Millisecond
	everyElsewhere  = 20 * time.Second
)

func newProgress(out *os.File, name string) *progress {
	info, err := out.Stat()
	return &progress{out: out, name: name, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (p *progress) start() {
	p.begun, p.stop = time.Now(), make(chan struct{})
	if p.out == nil {
		return
	}
	every := everyElsewhere
	if p.terminal {
		every = everyOnTerminal
	} else {
		fmt.Fprintln(p.out, "► building", p.name)
	}
	p.ended.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-ticker.C:
				p.show()
			}
		}
	})
}

// said is where to say what else there is to say.
func (p *progress) said() io.Writer {
	if p.out == nil {
		return io.Discard
	}
	return p.out
}

// expect adds packages that there are to compile at most.
func (p *progress) expect(packages int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += packages
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf("◎ building %s  %s", p.name, time.Since(p.begun).Round(time.Second))
	if p.total > 0 {
		line += fmt.Sprintf("  %d of at most %d packages", p.done, p.total)
	}
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K"+line)
		return
	}
	fmt.Fprintln(p.out, line)
}

func (p *progress) finish(err error) {
	close(p.stop)
	p.ended.Wait()
	if p.out == nil {
		return
	}
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	if err == nil {
		fmt.Fprintf(p.out, "✔ built %s in %s\n", p.name, time.Since(p.begun).Round(time.Second))
	}
}

// tail is how many lines of a failed command's output an error shows.
const tail = 25

// run runs a command, counts the packages it names, and puts the end of its
// output into the error when it fails.
func (p *progress) run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, ownEnv(name)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = writer, writer
	var last []string
	var read sync.WaitGroup
	read.Go(func() { last = p.read(reader) })
	err := cmd.Run()
	_ = writer.Close() // never fails, by its documentation
	read.Wait()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.New("interrupted; what was compiled is kept, run it again to go on")
	default:
		return fmt.Errorf("%s: %w\n  %s", name, err, strings.Join(last, "\n  "))
	}
}

func (p *progress) read(r io.Reader) []string {
	var last []string
	for scanner := bufio.NewScanner(r); scanner.Scan(); {
		line := scanner.Text()
		if strings.HasPrefix(line, "go: downloading ") {
			continue
		}
		if !strings.Contains(line, " ") {
			p.mu.Lock()
			p.done++
			p.mu.Unlock()
		}
		if last = append(last, line); len(last) > tail {
			last = slices.Delete(last, 0, 1)
		}
	}
	return last
}
