package kustomize

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/platform/contract/tree/treetest"
)

// unfiltered is a directory whose kustomization file nobody has looked through.
type unfiltered string

func (u unfiltered) answer(q question) answer {
	switch name := path.Base(q.Name); {
	case q.Ask == "cleanedAbs" && name == "own":
		return answer{Dir: "/own"}
	case q.Ask == "readFile" && name == "kustomization.yaml":
		return answer{Text: []byte(u)}
	}
	return answer{Err: q.Name + " is not there", Missing: true}
}

// TestApartReachesNothing has references built that nobody has taken out: git is
// not found, and no request leaves.
func TestApartReachesNothing(t *testing.T) {
	w := watch(t)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(server.Close)
	var a apart
	t.Cleanup(func() { a.end() })
	for reference, want := range map[string]string{
		"git@example.com:o/r?ref=--output=x": "no 'git' program on path",
		"file:///o/r":                        "no 'git' program on path",
		server.URL + "/a.yaml":               "nothing is fetched",
	} {
		_, err := a.build(unfiltered("resources: [\""+reference+"\"]\n"), "own", time.Minute)
		assert.ErrorContains(t, err, want)
	}
	assert.Equal(t, w.reached(), "")
	assert.Equal(t, asked, 0)
}

// TestShut tries in a process of its own what the one that builds cannot do.
func TestShut(t *testing.T) {
	if to := os.Getenv("SHUT_AND_TRY"); to != "" {
		git, sh := os.Args[0], []string{"-test.run=none"}
		assert.NilError(t, shut())
		_, file := os.ReadFile(git)
		_, connection := net.DialTimeout("tcp", to, time.Second)
		fmt.Println(file != nil, connection != nil, exec.Command(git, sh...).Run() != nil, os.Getenv("SHUT_AND_TRY") == "")
		os.Exit(0)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	cmd := exec.Command(os.Args[0], "-test.run=^TestShut$")
	cmd.Env = append(os.Environ(), "SHUT_AND_TRY="+listener.Addr().String())
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, string(out))
	assert.Equal(t, strings.TrimSpace(string(out)), "true true true true")
}

// slow answers after a while.
type slow struct{ unfiltered }

func (s slow) answer(q question) answer {
	time.Sleep(200 * time.Millisecond)
	return s.unfiltered.answer(q)
}

// TestApartIsGivenUp ends a build that takes too long, and one whose process
// dies; the next one has a process again.
func TestApartIsGivenUp(t *testing.T) {
	var a apart
	t.Cleanup(func() { a.end() })
	_, err := a.build(slow{"namePrefix: a\n"}, "own", time.Millisecond)
	assert.Error(t, err, "it takes over 1ms to build: it was given up")
	assert.NilError(t, a.start())
	assert.NilError(t, a.process.Process.Kill())
	_, err = a.build(unfiltered("namePrefix: a\n"), "own", time.Minute)
	assert.ErrorContains(t, err, "the process that builds ended")
	_, err = a.build(unfiltered("namePrefix: a\n"), "own", time.Minute)
	assert.NilError(t, err)
}

// TestUnreadable gives kustomize no file that it could read in another way.
func TestUnreadable(t *testing.T) {
	b := NewBuilder(treetest.Index(t, treetest.FS(map[string]string{"own/kustomization.yaml": "resource: [a.yaml]\n"})))
	built := b.Build("own", Options{})
	assert.ErrorContains(t, built.Err, `unknown field "resource"`)
}
