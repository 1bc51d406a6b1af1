package cli

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is how wide help is at most, in characters: that of the narrowest terminals.
const helpWidth = 80

// fitHelp breaks the help of a command and of all below it at helpWidth, and indents all of its examples.
func fitHelp(cmd *cobra.Command) {
	all := strings.Split(cmd.Long, "\n\n")
	for i, p := range all {
		all[i] = paragraph(p)
	}
	cmd.Long = strings.Join(all, "\n\n")
	if cmd.Example != "" {
		lines := strings.Split("  "+strings.TrimSpace(cmd.Example), "\n")
		for i, line := range lines {
			lines[i] = command(line)
		}
		cmd.Example = strings.Join(lines, "\n")
	}
	for _, c := range cmd.Commands() {
		fitHelp(c)
	}
}

// paragraph breaks the lines of a text anew, between words only: an option is never broken.
// A text with an indented line stays as it is: it is a list, or code.
func paragraph(text string) string {
	if strings.HasPrefix(text, " ") || strings.Contains(text, "\n ") {
		return text
	}
	var lines []string
	var line string
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= helpWidth:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// command breaks the line of an example before options, as a shell takes it. One that is in quotes stays
// where it is.
func command(line string) string {
	if utf8.RuneCountInString(line) <= helpWidth {
		return line
	}
	at := strings.LastIndex(line[:helpWidth-len(` \`)+1], " --")
	if at < 0 || strings.Count(line[:at], `"`)%2+strings.Count(line[:at], "'")%2 > 0 {
		return line
	}
	return line[:at] + " \\\n" + command("    "+line[at+1:])
}

// usageTemplate is cobra's, with flags that are broken at helpWidth.
func usageTemplate(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped "+strconv.Itoa(helpWidth))
}
