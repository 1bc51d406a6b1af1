package wording

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// command is how a command begins for the agents of CI systems, anywhere in a line:
// ##vso[ at Azure Pipelines, and ##[ in the older form of GitHub's commands and in the log of
// both. Sources: TryParse in src/Microsoft.VisualStudio.Services.Agent/Command.cs of
// microsoft/azure-pipelines-agent, and src/Runner.Common/ActionCommand.cs of actions/runner.
var command = regexp.MustCompile(`##(\w*)\[`)

// lineCommand is how a line begins that is a command of GitHub Actions, after spaces. Source:
// TryParseV2 in the same file of actions/runner.
const lineCommand = "::"

// Line is a text of others on one line of ours: nothing in it is obeyed by a terminal or by
// the agent of a CI system. What is no letter, sign or plain space is written as Go writes it
// in quotes; so is what is not seen, which the agents' comparisons leave out. Commands get a
// backslash. A line stays as it is when it goes through twice.
func Line(s string) string {
	if strings.HasPrefix(strings.TrimLeft(s, " \t"), lineCommand) {
		s = strings.Replace(s, lineCommand, `\`+lineCommand, 1)
	}
	if strings.ContainsFunc(s, unseen) {
		s = visible(s)
	}
	return command.ReplaceAllString(s, `##$1\[`)
}

// Lines is Line for a text whose lines are to stay.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Line(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

func visible(s string) string {
	var b strings.Builder
	for rest := s; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(rest[0]), 16))
		case unseen(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return b.String()
}

// unseen says whether a character is not written as it is. Bytes that are not UTF-8 come as
// the replacement character.
func unseen(r rune) bool {
	return !strconv.IsPrint(r) || r == utf8.RuneError || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// JSON is a document in JSON, on a line that it ends, with escapes of its own for what Line
// changes.
func JSON(document string) string {
	text, ends := strings.CutSuffix(document, "\n")
	if strings.ContainsFunc(text, unseen) {
		var b strings.Builder
		for _, r := range text {
			if unseen(r) {
				for _, unit := range utf16.Encode([]rune{r}) {
					fmt.Fprintf(&b, `\u%04x`, unit)
				}
				continue
			}
			b.WriteRune(r)
		}
		text = b.String()
	}
	text = command.ReplaceAllString(text, `##$1\u005b`)
	if ends {
		text += "\n"
	}
	return text
}
