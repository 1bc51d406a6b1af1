// Command upstream reads charts as they are published and keeps their facts:
// values, definitions, service accounts, images, and functions of templates that
// may give something else each time, in tools/upstream/facts.
//
//	go run ./tools/upstream                    # download the pinned charts and compare
//	go run ./tools/upstream -write             # and keep what they say
//	go run ./tools/upstream -sources <dir>     # read <dir>/<chart> in place of downloads
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
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// kept is where facts are kept, from the project's root.
const kept = "tools/upstream/facts"

func main() {
	sources := flag.String("sources", "", "`directory` with a folder for each chart, in place of downloads")
	write := flag.Bool("write", false, "keep what the charts say")
	report := flag.String("report", "", "`file` for the findings, in Markdown")
	flag.Parse()
	found, err := run(*sources, *write)
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
	if write {
		if err := forget(charts); err != nil {
			return nil, err
		}
	}
	defer os.RemoveAll(work)
	var found []string
	for _, c := range charts {
		file := filepath.Join(sources, c.Chart)
		if sources == "" {
			if file, err = pull(c, work); err != nil {
				return nil, err
			}
		} else if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			found = append(found, fmt.Sprintf("%s %s: no sources in %s", c.Chart, c.Version, sources))
			continue
		} else if source, err := os.ReadFile(file + ".source"); err == nil {
			c.URL = strings.TrimSpace(string(source))
		}
		new, err := look(c, file, write)
		if err != nil {
			return nil, err
		}
		found = append(found, new...)
	}
	return found, nil
}

// forget removes the facts of versions that are no longer pinned.
func forget(charts []pin) error {
	files, err := filepath.Glob(filepath.Join(kept, "*.json"))
	if err != nil {
		return fmt.Errorf("find facts: %w", err)
	}
	for _, file := range files {
		if slices.ContainsFunc(charts, func(c pin) bool { return c.file() == file }) {
			continue
		}
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove the facts of an old version: %w", err)
		}
	}
	return nil
}

// file with the chart's facts.
func (c pin) file() string { return filepath.Join(kept, c.Chart+"-"+c.Version+".json") }

// look compares one chart with its facts and renders it twice.
func look(c pin, file string, write bool) ([]string, error) {
	got, err := read(file, c)
	if err != nil {
		return nil, err
	}
	name := c.file()
	data, err := encode(got)
	if err != nil {
		return nil, err
	}
	var found []string
	if write {
		if err := os.WriteFile(name, data, 0o644); err != nil { //nolint:gosec // a file of the project
			return nil, fmt.Errorf("keep facts: %w", err)
		}
	} else if have, err := os.ReadFile(name); err != nil || !same(have, data) {
		found = append(found, fmt.Sprintf("%s %s: the chart is not as %s says; run `go run ./tools/upstream -write` and read the difference", c.Chart, c.Version, name))
	}
	if got.Unrendered != "" {
		return found, nil
	}
	differ, err := renderedTwice(file, c.Values)
	if err != nil {
		return append(found, fmt.Sprintf("%s %s: with the tree's values it does not render: %s", c.Chart, c.Version, firstLine(err.Error()))), nil
	}
	differ = slices.DeleteFunc(differ, func(o string) bool { return slices.Contains(known[c.Chart], o) })
	for _, object := range differ {
		found = append(found, fmt.Sprintf("%s %s: %s is rendered differently each time", c.Chart, c.Version, object))
	}
	return found, nil
}

// encode writes facts a line for each key, in order, for people to review.
func encode(content any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(content); err != nil {
		return nil, fmt.Errorf("encode facts: %w", err)
	}
	return out.Bytes(), nil
}

// same compares facts by what both read: the source may be named differently,
// and a chart from sources is not rendered without its dependencies.
func same(a, b []byte) bool {
	var x, y map[string]any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	drop := []string{"source"}
	if x["unrendered"] != nil || y["unrendered"] != nil {
		drop = append(drop, "unrendered", "serviceAccounts", "images")
	}
	for _, key := range drop {
		delete(x, key)
		delete(y, key)
	}
	first, err := json.Marshal(x)
	second, err2 := json.Marshal(y)
	return err == nil && err2 == nil && bytes.Equal(first, second)
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
