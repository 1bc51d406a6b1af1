package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/check/tree"
)

// A tree is text of others: kustomize, Helm and templates read it in a process
// of its own, which can start no program, open no file and no connection, and
// which is ended when it takes too much. That process is this program again, told
// so by a variable; it asks for the tree's files over a pipe. ADR 55 has the reasons.

// apartVariable tells a process that it is the one that checks.
const apartVariable = "TOMBOLO_CHECKS_TREES"

func init() { //nolint:gochecknoinits // before any main, also that of a test
	if os.Getenv(apartVariable) != "" {
		out := os.Stdout                         //nolint:forbidigo // this process has no main
		os.Stdout = os.Stderr                    //nolint:forbidigo // what a library prints is no answer
		os.Exit(serve(os.Stdin, out, os.Stderr)) //nolint:forbidigo // as above
	}
}

// A check may take longest, and longestOfOne for each cluster, but no more than longestOfAll: who
// proposes a change decides how many clusters there are. The largest public trees that were looked
// at take three seconds.
var (
	longest      = time.Minute
	longestOfOne = 5 * time.Second
)

const longestOfAll = 10 * time.Minute

// endOfComplaint is how much is kept of what the process says before it ends, in bytes: a crash has
// its reason before the stacks of all its goroutines.
const endOfComplaint = 256 << 10

// order is what to check.
type order struct {
	Name             string
	Regular, Dirs    []string
	Links            map[string]string
	Clusters, Others []published.Set
}

// question is the name of a file that the process wants to read, or its result.
type question struct {
	Read   string
	Done   bool
	Result finding.List
}

// answer to a question: the content of a file, or why there is none.
type answer struct {
	Text    []byte
	Err     string
	Missing bool
}

// apart is the process, started when it is needed first. It ends with this one.
type apart struct {
	mu      sync.Mutex
	process *exec.Cmd
	in      io.Closer
	say     *json.Encoder
	hear    *json.Decoder
	answers *limited
	says    *lastBytes
}

// checker is one for all trees: checks follow each other.
var checker apart

// checking is what Check has a tree checked by. Tests of rules check in their own process, which
// takes two thirds of the time.
var checking = checker.check

// check has a tree checked. The last file that was read is near to what keeps a
// process busy.
func (a *apart) check(files *tree.Files, o order) (finding.List, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.start(); err != nil {
		return nil, fmt.Errorf("start the process that checks: %w", err)
	}
	a.answers.left = mostOfAnswers
	atMost := min(longest+time.Duration(len(o.Clusters))*longestOfOne, longestOfAll)
	late := time.AfterFunc(atMost, func() { _ = a.process.Process.Kill() })
	found, last, err := a.converse(files, o)
	inTime := late.Stop()
	if err == nil {
		return found, nil
	}
	var tooMuch *tree.LimitError
	switch says := a.end(); {
	case errors.As(err, &tooMuch):
		return nil, fmt.Errorf("reading the platform tree %s: %w", o.Name, tooMuch)
	case !inTime:
		return nil, fmt.Errorf("checking takes over %v and was given up; the file read last is %s", atMost, last)
	default:
		return nil, fmt.Errorf("the process that checks ended (%w); the file read last is %s: %s", err, last, says)
	}
}

// converse says what to check, answers questions, and returns the result.
func (a *apart) converse(files *tree.Files, o order) (found finding.List, last string, err error) {
	if err := a.say.Encode(o); err != nil {
		return nil, "", err
	}
	for {
		var q question
		if err := a.hear.Decode(&q); err != nil || q.Done {
			return q.Result, last, err
		}
		last = q.Read
		var reply answer
		var tooMuch *tree.LimitError
		if reply.Text, err = files.Load(q.Read); errors.As(err, &tooMuch) {
			return nil, last, err
		}
		if err != nil {
			reply.Err, reply.Missing = err.Error(), errors.Is(err, fs.ErrNotExist)
		}
		if err := a.say.Encode(reply); err != nil {
			return nil, last, err
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
	cmd.Env = []string{apartVariable + "=1", "GOTRACEBACK=none"} // a crash says why, and no more
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
	a.answers = &limited{from: out}
	a.process, a.in, a.say, a.hear = cmd, in, json.NewEncoder(in), json.NewDecoder(a.answers)
	return nil
}

// end ends the process, and returns the first line of what it said last. Another
// check starts a new one.
func (a *apart) end() string {
	_ = a.in.Close()
	_ = a.process.Process.Kill()
	_ = a.process.Wait()
	a.process = nil
	said := a.says.String()
	if strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory") {
		return fmt.Sprintf("it takes over %d MB of memory", mostMemory>>20)
	}
	said, _, _ = strings.Cut(strings.TrimSpace(said), "\n")
	return said
}

// mostOfAnswers is what the process may say in a check, in bytes: names of files, and more
// findings than anybody reads.
const mostOfAnswers = 64 << 20

// limited reads until so much was read.
type limited struct {
	from io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("it says over %d bytes", mostOfAnswers)
	}
	n, err := l.from.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
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

// serve checks what it is told over in, until that ends. It answers with an exit code.
func serve(in io.Reader, out, complaints io.Writer) int {
	if err := shut(); err != nil {
		fmt.Fprintln(complaints, "give up the right to open files:", err)
		return 1
	}
	say, hear := json.NewEncoder(out), json.NewDecoder(in)
	read := func(name string) ([]byte, error) {
		var a answer
		switch err := errors.Join(say.Encode(question{Read: name}), hear.Decode(&a)); {
		case err != nil: // the program that asked has ended
			return nil, err
		case a.Missing:
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		case a.Err != "":
			return nil, errors.New(a.Err)
		}
		return a.Text, nil
	}
	for {
		var o order
		if hear.Decode(&o) != nil {
			return 0
		}
		found := checkFiles(tree.Listed(o.Regular, o.Dirs, read).WithLinks(o.Links, false), o.Name, o.Clusters, o.Others)
		if say.Encode(question{Done: true, Result: found}) != nil {
			return 0
		}
	}
}
