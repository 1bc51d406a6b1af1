package files

import "strings"

// WithParts is the text of a YAML file with the top-level parts of another one in place of its own.
// Parts that it has not are added at its end.
func WithParts(text, others string) string {
	parts := topLevel(others)
	var out strings.Builder
	for _, p := range topLevel(text) {
		out.WriteString(chosen(p, parts).text)
	}
	for _, p := range parts {
		if p.key != "" && !strings.Contains("\n"+text, "\n"+p.key+":") {
			out.WriteString(p.text)
		}
	}
	return out.String()
}

// part is a top-level key of a YAML file, with all lines until the next one.
type part struct{ key, text string }

func topLevel(text string) []part {
	var out []part
	for line := range strings.Lines(text) {
		if key, _, found := strings.Cut(line, ":"); found && !strings.ContainsAny(key[:1], " #-") {
			out = append(out, part{key: key})
		} else if len(out) == 0 {
			out = append(out, part{})
		}
		out[len(out)-1].text += line
	}
	return out
}

func chosen(own part, others []part) part {
	for _, p := range others {
		if own.key != "" && p.key == own.key {
			return p
		}
	}
	return own
}
