package kustomize

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Kustomize runs in a process of its own, which can start no program, open no
// file and no connection: what a tree says is text of others. That process is
// this program again, told so by a variable; it asks for the tree's files over
// a pipe. ADR 55 has the reasons.

// apartVariable tells a process that it is the one that builds.
const apartVariable = "TOMBOLO_BUILDS_TREES"

func init() {
	if os.Getenv(apartVariable) != "" {
		os.Exit(serve(os.Stdin, os.Stdout))
	}
}

const (
	// longestBuild is how long a build of one directory may take. The largest
	// trees that were looked at take a second for all of theirs.
	longestBuild = 60 * time.Second
	// endOfComplaint is how much is kept of what the process says before it ends.
	endOfComplaint = 2048
)

// question is what the process asks while it builds, or its result.
type question struct {
	Ask  string // readFile, isDir, exists, cleanedAbs, readDir, glob; result
	Name string
	// Objects and Err are of a result.
	Objects []Object
	Err     string
}

// answer to a question.
type answer struct {
	Text      []byte
	Names     []string
	Dir, File string
	Yes       bool
	Err       string
	Missing   bool // Err is one of a file that is not there
}

// apart is the process, started when it is needed first. It ends with this one.
type apart struct {
	mu      sync.Mutex
	process *exec.Cmd
	in      io.Closer
	say     *gob.Encoder
	hear    *gob.Decoder
	says    *lastBytes
}

// builder is one for all trees: builds follow each other.
var builder apart

// shown is what kustomize gets to see.
type shown interface{ answer(question) answer }

// build has a directory of a disk built.
func (a *apart) build(d shown, dir string, atMost time.Duration) ([]Object, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.start(); err != nil {
		return nil, fmt.Errorf("start the process that builds: %w", err)
	}
	late := time.AfterFunc(atMost, func() { _ = a.process.Process.Kill() })
	objects, err := a.converse(d, dir)
	inTime := late.Stop()
	var broken pipeError
	switch {
	case !errors.As(err, &broken):
		return objects, err
	case !inTime:
		a.end()
		return nil, fmt.Errorf("it takes over %v to build: it was given up", atMost)
	default:
		says := a.end()
		return nil, fmt.Errorf("the process that builds ended: %s", says)
	}
}

// pipeError is a failure to speak with the process.
type pipeError struct{ error }

// converse tells the process what to build, answers it, and returns its result.
func (a *apart) converse(d shown, dir string) ([]Object, error) {
	if err := a.say.Encode(dir); err != nil {
		return nil, pipeError{err}
	}
	for {
		var q question
		if err := a.hear.Decode(&q); err != nil {
			return nil, pipeError{err}
		}
		if q.Ask == "result" && q.Err != "" {
			return nil, errors.New(q.Err)
		}
		if q.Ask == "result" {
			return q.Objects, nil
		}
		if err := a.say.Encode(d.answer(q)); err != nil {
			return nil, pipeError{err}
		}
	}
}

func (a *apart) start() error {
	if a.process != nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = []string{apartVariable + "=1"}
	if root, ok := os.LookupEnv("SYSTEMROOT"); ok {
		cmd.Env = append(cmd.Env, "SYSTEMROOT="+root) // no program starts on Windows without it
	}
	a.says = &lastBytes{}
	cmd.Stderr = a.says
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	a.process, a.in, a.say, a.hear = cmd, in, gob.NewEncoder(in), gob.NewDecoder(out)
	return nil
}

// end ends the process, and returns what it said last. Another build starts a
// new one.
func (a *apart) end() string {
	_ = a.in.Close()
	_ = a.process.Process.Kill()
	_ = a.process.Wait()
	a.process = nil
	first, _, _ := strings.Cut(strings.TrimSpace(a.says.String()), "\n\n")
	return first
}

// lastBytes keeps the end of what is written.
type lastBytes struct {
	mu   sync.Mutex
	text []byte
}

func (l *lastBytes) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if over := len(l.text) - endOfComplaint; over > 0 {
		l.text = l.text[over:]
	}
	return len(p), nil
}

func (l *lastBytes) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// answer gives the process what it asks for, from the tree alone.
func (d *disk) answer(q question) answer {
	var a answer
	var err error
	switch q.Ask {
	case "readFile":
		a.Text, err = d.readFile(q.Name)
	case "isDir":
		a.Yes = d.isDir(q.Name)
	case "exists":
		a.Yes = d.exists(q.Name)
	case "cleanedAbs":
		a.Dir, a.File, err = d.cleanedAbs(q.Name)
	case "readDir":
		a.Names, err = d.readDir(q.Name)
	case "glob":
		a.Names, err = d.glob(q.Name)
	default:
		err = fmt.Errorf("%s is nothing to ask", q.Ask)
	}
	if err != nil {
		a.Err, a.Missing = err.Error(), errors.Is(err, fs.ErrNotExist)
	}
	return a
}

// serve builds what it is told over in, until that ends.
func serve(in io.Reader, out io.Writer) int {
	if err := shut(); err != nil {
		fmt.Fprintln(os.Stderr, "give up the right to open files:", err)
		return 1
	}
	p := &pipe{say: gob.NewEncoder(out), hear: gob.NewDecoder(in)}
	for {
		var dir string
		if p.hear.Decode(&dir) != nil {
			return 0 // the program that asked has ended
		}
		result := question{Ask: "result"}
		var err error
		if result.Objects, err = run(p, path.Join("/", dir)); err != nil {
			result.Err = err.Error()
		}
		if p.say.Encode(result) != nil {
			return 0
		}
	}
}

// pipe is the tree as kustomize sees it in its process.
type pipe struct {
	say  *gob.Encoder
	hear *gob.Decoder
}

var _ filesys.FileSystem = (*pipe)(nil)

func (p *pipe) ask(what, name string) (answer, error) {
	var a answer
	if p.say.Encode(question{Ask: what, Name: name}) != nil || p.hear.Decode(&a) != nil {
		os.Exit(0) // the program that asked has ended
	}
	switch {
	case a.Missing:
		return a, missing(a.Err)
	case a.Err != "":
		return a, errors.New(a.Err)
	}
	return a, nil
}

// missing is the text of an error of a file that is not there.
type missing string

func (m missing) Error() string        { return string(m) }
func (m missing) Is(target error) bool { return target == fs.ErrNotExist }

func (p *pipe) ReadFile(name string) ([]byte, error) {
	a, err := p.ask("readFile", name)
	return a.Text, err
}

func (p *pipe) IsDir(name string) bool {
	a, _ := p.ask("isDir", name)
	return a.Yes
}

func (p *pipe) Exists(name string) bool {
	a, _ := p.ask("exists", name)
	return a.Yes
}

func (p *pipe) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	a, err := p.ask("cleanedAbs", name)
	return filesys.ConfirmedDir(a.Dir), a.File, err
}

func (p *pipe) ReadDir(name string) ([]string, error) {
	a, err := p.ask("readDir", name)
	return a.Names, err
}

func (p *pipe) Glob(pattern string) ([]string, error) {
	a, err := p.ask("glob", pattern)
	return a.Names, err
}

func (p *pipe) Open(name string) (filesys.File, error) {
	text, err := p.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return openFile{strings.NewReader(string(text))}, nil
}

func (*pipe) Create(string) (filesys.File, error)  { return nil, errReadOnly }
func (*pipe) Mkdir(string) error                   { return errReadOnly }
func (*pipe) MkdirAll(string) error                { return errReadOnly }
func (*pipe) RemoveAll(string) error               { return errReadOnly }
func (*pipe) WriteFile(string, []byte) error       { return errReadOnly }
func (*pipe) Walk(string, filepath.WalkFunc) error { return errReadOnly }

// errReadOnly is the answer to kustomize when it tries to change the tree. A
// local build never does.
var errReadOnly = errors.New("the platform tree is read only")

// openFile is a file of the tree, open for reading.
type openFile struct{ io.Reader }

func (openFile) Write([]byte) (int, error)  { return 0, errReadOnly }
func (openFile) Close() error               { return nil }
func (openFile) Stat() (os.FileInfo, error) { return nil, errReadOnly }
