package approved

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// Program is by what a program is known again that was built twice, as in two jobs of
// a pipeline.
type Program struct {
	// Build is the version or the commit that it was built from. It is the digest of Go's
	// build id for a build that knows neither, or whose source was changed.
	Build string `json:"build"`
	// Go is the version of Go, and Modules the digest of the versions and checksums of
	// all modules: those of the cloud's and Kubernetes' providers among them.
	Go      string `json:"go"`
	Modules string `json:"modules"`
	// Pulumi is the version of the Pulumi SDK, which the CLI is to have.
	Pulumi string `json:"pulumi"`
}

// ThisProgram is the one that runs.
func ThisProgram() (Program, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return programOf(info, ownDigest)
}

// ProgramOf is the one in a file.
func ProgramOf(name string) (Program, error) {
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		return Program{}, fmt.Errorf("read what a program was built from: %w", err)
	}
	return programOf(info, func() (string, error) { return digestOfProgram(name) })
}

func programOf(info *debug.BuildInfo, own func() (string, error)) (Program, error) {
	p := Program{Go: info.GoVersion}
	var modules strings.Builder
	for _, m := range info.Deps {
		if m.Path == "github.com/pulumi/pulumi/sdk/v3" {
			p.Pulumi = m.Version
		}
		fmt.Fprintln(&modules, m.Path, m.Version, m.Sum)
		if m.Replace != nil {
			fmt.Fprintln(&modules, "=>", m.Replace.Path, m.Replace.Version, m.Replace.Sum)
		}
	}
	p.Modules = digestOf([]byte(modules.String()))
	revision, modified := setting(info, "vcs.revision"), setting(info, "vcs.modified") != "false"
	if revision != "" && !modified {
		p.Build = revision
		return p, nil
	}
	var err error
	p.Build, err = own()
	return p, err
}

func setting(info *debug.BuildInfo, key string) string {
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
	if i < 0 {
		return ""
	}
	return info.Settings[i].Value
}

// ownDigest is the digest of the id that Go's linker has written into the program, which stands for
// all that it was built from; of a program without one, such as by -ldflags=-buildid=, that of its
// file, which takes a quarter of a second.
func ownDigest() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	return digestOfProgram(name)
}

func digestOfProgram(name string) (string, error) {
	id, err := buildID(name)
	if err == nil && id != "" {
		return digestOf([]byte(id)), nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read this program's file: %w", err)
	}
	return digestOf(text), nil
}

// buildID is the id that Go's linker has written into a program; "" when it has none. It is a note
// of an ELF file, and else a text near the begin of the code, as cmd/internal/buildid has it:
// https://github.com/golang/go/blob/go1.26.0/src/cmd/internal/buildid/buildid.go
func buildID(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if program, err := elf.NewFile(file); err == nil {
		note := program.Section(".note.go.buildid")
		if note == nil {
			return "", nil
		}
		text, err := note.Data()
		if err != nil || len(text) < noteHeader {
			return "", err
		}
		size := program.ByteOrder.Uint32(text[4:])
		text = text[noteHeader:]
		return string(text[:min(int(size), len(text))]), nil
	}
	begin := make([]byte, 32<<10)
	n, err := io.ReadFull(file, begin)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	_, text, _ := bytes.Cut(begin[:n], []byte("\xff Go build ID: \""))
	id, _, found := bytes.Cut(text, []byte("\"\n \xff"))
	if !found {
		return "", nil
	}
	return string(id), nil
}

// noteHeader is the length of what is before the id in the note: three lengths and "Go\x00\x00".
const noteHeader = 16
