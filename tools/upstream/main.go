// Command upstream reads charts as they are published and keeps their facts:
// values, definitions, service accounts, images, and functions of templates that
// may give something else each time, in tools/upstream/facts/facts.json.gz.
//
//	go run ./tools/upstream                    # download the pinned charts and compare
//	go run ./tools/upstream -write             # and keep what they say
//	go run ./tools/upstream -sources <dir>     # read <dir>/<chart> in place of downloads
//	go run ./tools/upstream -print <file>      # the text of a file with facts; git diff calls it
//
// The file <dir>/<chart>.source says where a chart's files came from: address,
// revision and directory. Charts that it depends on are in <dir>/<chart>/charts, as
// in a download: kube-prometheus-stack and authentik do not render without theirs.
//
// Downloads call helm, which `make tools-argocd` builds. A difference from the
// kept facts, and a chart that renders differently each time, is written to the
// report; the command then ends with code 9, as `tombolo drift` does.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/tools/upstream/facts"
)

// kept is where facts are kept, from the project's root.
const kept = "tools/upstream/facts/" + facts.File

func main() {
	sources := flag.String("sources", "", "`directory` with a folder for each chart, in place of downloads")
	write := flag.Bool("write", false, "keep what the charts say")
	report := flag.String("report", "", "`file` for the findings, in Markdown")
	text := flag.String("print", "", "`file` with facts, to print as text")
	flag.Parse()
	var found []string
	var err error
	if *text != "" {
		err = show(*text, os.Stdout)
	} else {
		found, err = run(*sources, *write)
	}
	if err == nil && *report != "" {
		err = os.WriteFile(*report, []byte(markdown(found)), 0o644) //nolint:gosec // a report is for everybody
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
	for _, f := range found {
		fmt.Fprintln(os.Stderr, f)
	}
	if len(found) > 0 {
		os.Exit(9)
	}
}

// run reads all charts that the tree pins, and returns the findings.
func run(sources string, write bool) ([]string, error) {
	charts, err := pinned(os.DirFS("."))
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "upstream-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for charts: %w", err)
	}
	defer os.RemoveAll(work)
	var found []string
	var all []facts.Chart
	for _, c := range charts {
		file := filepath.Join(sources, c.Chart)
		if sources == "" {
			if file, err = pull(c, work); err != nil {
				return nil, err
			}
		} else if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			found = append(found, fmt.Sprintf("%s %s: no sources in %s", c.Chart, c.Version, sources))
			have, ok, err := facts.Find(c.Chart, c.Version)
			if err != nil {
				return nil, err
			}
			if ok {
				all = append(all, have)
			}
			continue
		} else if source, err := os.ReadFile(file + ".source"); err == nil {
			c.URL = strings.TrimSpace(string(source))
		}
		got, new, err := look(c, file, write)
		if err != nil {
			return nil, err
		}
		all, found = append(all, got), append(found, new...)
	}
	if write {
		return found, keep(all)
	}
	return found, nil
}

// look compares one chart with its facts and renders it twice.
func look(c pin, file string, write bool) (facts.Chart, []string, error) {
	got, err := read(file, c)
	if err != nil {
		return got, nil, err
	}
	var found []string
	if have, ok, err := facts.Find(c.Chart, c.Version); err != nil {
		return got, nil, err
	} else if !write && (!ok || !same(have, got)) {
		found = append(found, fmt.Sprintf("%s %s: the chart is not as %s says; run `go run ./tools/upstream -write` and read the difference", c.Chart, c.Version, kept))
	}
	if got.Unrendered != "" {
		return got, found, nil
	}
	differ, err := renderedTwice(file, c.Values)
	if err != nil {
		return got, append(found, fmt.Sprintf("%s %s: with the tree's values it does not render: %s", c.Chart, c.Version, firstLine(err.Error()))), nil
	}
	differ = slices.DeleteFunc(differ, func(o string) bool { return slices.Contains(known[c.Chart], o) })
	for _, object := range differ {
		found = append(found, fmt.Sprintf("%s %s: %s is rendered differently each time", c.Chart, c.Version, object))
	}
	return got, found, nil
}

// keep writes the facts of the pinned charts in place of those that were kept.
func keep(charts []facts.Chart) error {
	data, err := facts.Text(charts)
	if err == nil {
		data, err = facts.Pack(data)
	}
	if err != nil {
		return err
	}
	if err := os.WriteFile(kept, data, 0o644); err != nil { //nolint:gosec // a file of the project
		return fmt.Errorf("keep facts: %w", err)
	}
	return nil
}

// show writes the text of a file with facts.
func show(file string, out io.Writer) error {
	data, err := os.ReadFile(file)
	if err == nil {
		data, err = facts.Unpack(data)
	}
	if err == nil {
		_, err = out.Write(data)
	}
	if err != nil {
		return fmt.Errorf("print %s: %w", file, err)
	}
	return nil
}

// same compares facts by what both read: the source may be named differently,
// and a chart from sources is not rendered without its dependencies.
func same(a, b facts.Chart) bool {
	a.Source, b.Source = "", ""
	if a.Unrendered+b.Unrendered != "" {
		for _, c := range []*facts.Chart{&a, &b} {
			c.Unrendered, c.ServiceAccounts, c.Images = "", nil, nil
		}
	}
	x, err := facts.Text([]facts.Chart{a})
	y, err2 := facts.Text([]facts.Chart{b})
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// pull downloads a chart's archive.
func pull(c pin, dir string) (string, error) {
	args := []string{"pull", c.Chart, "--repo", c.URL}
	if strings.HasPrefix(c.URL, "oci://") {
		args = []string{"pull", c.URL + "/" + c.Chart}
	}
	into := filepath.Join(dir, c.Chart+"-"+c.Version)
	cmd := exec.Command("helm", append(args, "--version", c.Version, "--destination", into)...) //nolint:gosec // of the tree's pins
	if err := os.MkdirAll(into, 0o755); err != nil {                                            //nolint:gosec // holds charts
		return "", fmt.Errorf("make a directory for charts: %w", err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("download chart %s %s from %s: %w: %s", c.Chart, c.Version, c.URL, err, out)
	}
	found, err := filepath.Glob(filepath.Join(into, "*.tgz"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("download chart %s %s: helm wrote %d archives", c.Chart, c.Version, len(found))
	}
	return found[0], nil
}

func markdown(found []string) string {
	if len(found) == 0 {
		return ""
	}
	return "The charts are not as the project knows them:\n\n- " + strings.Join(found, "\n- ") + "\n"
}
