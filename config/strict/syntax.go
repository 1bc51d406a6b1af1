package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"tombolo/internal/wording"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse returns the root of the only document in content, or nil when there
// is none, which it reports. It skips a UTF-8 byte order mark, which some editors
// write.
func (f Format) parse(doc *Document, content []byte) *yaml.Node {
	content = bytes.TrimPrefix(content, byteOrderMark)
	if !encoded(doc, content) {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	err := decoder.Decode(&first)
	switch {
	case errors.Is(err, io.EOF), err == nil && isEmpty(&first):
		doc.ReportAt(Position{}, "", "is empty", f.Empty)
		return nil
	case err != nil:
		syntaxProblem(doc, content, err)
		return nil
	}
	err = decoder.Decode(&second)
	switch {
	case err == nil:
		doc.ReportAt(positionOf(&second), "", "a second document starts here", f.Several)
		return nil
	case !errors.Is(err, io.EOF):
		syntaxProblem(doc, content, err)
		return nil
	}
	return first.Content[0]
}

func isEmpty(n *yaml.Node) bool {
	return len(n.Content) == 0 || isNull(n.Content[0]) || n.Content[0].Kind == yaml.ScalarNode && n.Content[0].Value == ""
}

// encoded checks that content is text in UTF-8.
func encoded(doc *Document, content []byte) bool {
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		doc.ReportAt(Position{}, "", "is encoded in UTF-16", "save it as UTF-8")
		return false
	}
	line, column := 1, 1
	for rest := content; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			doc.ReportAt(Position{Line: line, Column: column}, "", "contains a byte that is not UTF-8", "save the file as UTF-8")
			return false
		}
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
		rest = rest[size:]
	}
	return true
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxProblem reports what the parser could not read. The parser says where
// the surrounding thing starts, so the line is looked for.
func syntaxProblem(doc *Document, content []byte, err error) {
	message, line := err.Error(), 0
	if m := syntaxLine.FindStringSubmatch(message); m != nil {
		message = m[2]
		line, _ = strconv.Atoi(m[1])
	}
	lines := strings.Split(string(content), "\n")
	if found := firstBadLine(content); found > 0 {
		line = found
	}
	line = min(max(line, 1), len(lines))
	text := strings.TrimRight(lines[line-1], "\r")
	column := 1 + len(text) - len(strings.TrimLeft(text, " "))
	explained, remedy := explain(message, text)
	doc.ReportAt(Position{Line: line, Column: column}, "", "is not YAML: "+explained, remedy)
}

// mostParsed bounds the search for the bad line, which parses the file once for each line,
// in bytes in all. A file of 500 lines of 40 bytes is looked through.
const mostParsed = 4 << 20

// firstBadLine is the line after the longest beginning of the file that is
// YAML, or 0 when that takes too long to find out.
func firstBadLine(content []byte) int {
	parsed := 0
	for n := bytes.Count(content, []byte("\n")); n > 0; n-- {
		content = content[:bytes.LastIndexByte(content, '\n')]
		if parsed += len(content); parsed > mostParsed {
			return 0
		}
		var node yaml.Node
		if yaml.Unmarshal(append(slices.Clip(content), '\n'), &node) == nil {
			return n + 1
		}
	}
	return 1
}

var (
	tabIndented  = regexp.MustCompile(`^ *\t`)
	conflictMark = regexp.MustCompile(`^(<<<<<<<|=======|>>>>>>>)`)
)

// explain says what the parser means, in words for the line at hand.
func explain(message, line string) (explained, remedy string) {
	trimmed := strings.TrimLeft(line, " \t-")
	switch {
	case conflictMark.MatchString(line):
		return "a merge conflict is not resolved", "choose one side, and remove the marks"
	case tabIndented.MatchString(line):
		return "the line is indented with a tab", "indent with spaces"
	case strings.Contains(message, "cannot start any token"):
		start, _ := utf8.DecodeRuneInString(afterKey(trimmed))
		return fmt.Sprintf("a value cannot start with %s", wording.Quote(string(start))), "put the value in quotes"
	case strings.Contains(message, "mapping values are not allowed"):
		return "a value contains a colon and a space, or the indentation is wrong",
			"put the value in quotes, or align the line with its neighbours"
	case strings.Contains(message, "unknown anchor"):
		return message, "define it with & before the alias"
	case strings.Contains(message, "expected ',' or"):
		return "a list or mapping in brackets is not closed, or lacks a comma", "close the bracket"
	case strings.Contains(message, "unexpected end of stream"):
		return "a quote is not closed", "close it"
	case strings.Contains(message, "could not find expected ':'"):
		return "a key has no colon", "write key: value"
	case strings.Contains(message, "did not find expected"):
		return "the line does not continue what is above it", "align the line with its neighbours, and close quotes and brackets"
	}
	return message, "correct the line"
}

// afterKey is the value on a line of key: value.
func afterKey(line string) string {
	if _, value, ok := strings.Cut(line, ": "); ok {
		return strings.TrimLeft(value, " ")
	}
	return line
}
