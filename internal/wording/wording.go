// Package wording puts the small parts of messages together: a number with its
// noun, alternatives, a quoted value, and the known word that a misspelt one was meant to be.
package wording

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Count is "1 zone" or "2 zones": a number and its noun, whose plural ends in
// -s.
func Count(n int, noun string) string { return Plural(n, noun, noun+"s") }

// Plural is Count for a noun with another plural, or for one with its verb: "1
// policy", "2 objects are".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Or is "a", "a or b", or "a, b or c".
func Or(words []string) string { return list(words, " or ") }

// And is "a", "a and b", or "a, b and c".
func And(words []string) string { return list(words, " and ") }

func list(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + conjunction + words[last]
}

// quotedRunes is how much of a value a message repeats.
const quotedRunes = 80

// Quote is s in quotes, on one line and never long.
func Quote(s string) string {
	n := utf8.RuneCountInString(s)
	if n <= quotedRunes {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%s (%d characters)", strconv.Quote(string([]rune(s)[:quotedRunes-1])+"…"), n)
}

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

// OneLine is a text with its lines joined by spaces. Controllers say the cause in the last of them.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

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

// prefixRunes is the number of characters that a word needs to be taken for the
// beginning of a longer one.
const prefixRunes = 5

// Nearest is the known word that a misspelt one was probably meant to be, or
// "". Words are near when at most a third of the longer one's letters differ, and
// one in any case; two letters in the wrong order are one difference, and
// capitals are none. With none near, it is one that begins with the word. Of two
// that are as near, it is the first by the alphabet.
func Nearest(word string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	letters := []rune(strings.ToLower(word))
	best, least := "", 0
	for _, candidate := range known {
		others := []rune(strings.ToLower(candidate))
		most := max(1, len(letters)/3, len(others)/3)
		if candidate == word || len(letters)-len(others) > most || len(others)-len(letters) > most {
			continue // a letter more is one that differs
		}
		if d := distance(letters, others); d <= most && (best == "" || d < least) {
			best, least = candidate, d
		}
	}
	if best != "" || len(letters) < prefixRunes {
		return best
	}
	for _, candidate := range known {
		if candidate != word && strings.HasPrefix(candidate, word) {
			return candidate
		}
	}
	return ""
}

// distance is the number of letters to insert, delete, replace or swap with
// their neighbour that make b of a (optimal string alignment).
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			changed := 1
			if a[i] == b[j] {
				changed = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+changed)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
