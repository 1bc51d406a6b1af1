package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
)

// screen is a terminal of some width that keeps all its lines. It understands
// what the live view writes and fails the test on anything else, and on a line
// that the terminal would have to wrap.
type screen struct {
	t     *testing.T
	width int
	lines []string
}

var (
	sequences = regexp.MustCompile(`\x1b\[(\d*)([A-Za-z])`)
	colours   = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

func (s *screen) Write(p []byte) (int, error) {
	text := colours.ReplaceAllString(string(p), "")
	for text != "" {
		at := sequences.FindStringSubmatchIndex(text)
		if at == nil {
			s.print(text)
			break
		}
		s.print(text[:at[0]])
		s.command(text[at[2]:at[3]], text[at[4]:at[5]])
		text = text[at[1]:]
	}
	return len(p), nil
}

func (s *screen) command(count, name string) {
	switch name {
	case "A":
		n, err := strconv.Atoi(count)
		if err != nil || n > len(s.lines) {
			s.t.Fatalf("the cursor was moved up %q rows on a screen of %d", count, len(s.lines))
		}
		s.lines = s.lines[:len(s.lines)-n] // the view always clears what it moves over
	case "J":
	default:
		s.t.Fatalf("unexpected control sequence ESC[%s%s", count, name)
	}
}

func (s *screen) print(text string) {
	text = strings.ReplaceAll(text, "\r", "")
	if text == "" {
		return
	}
	if !strings.HasSuffix(text, "\n") {
		s.t.Fatalf("a line was left open: %q", text)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if w := lipgloss.Width(line); w >= s.width {
			s.t.Errorf("a line of %d cells wraps on a terminal of %d: %q", w, s.width, line)
		}
		s.lines = append(s.lines, line)
	}
}

func (s *screen) String() string { return strings.Join(s.lines, "\n") + "\n" }

func TestLive(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			s := &screen{t: t, width: width}
			var frames strings.Builder
			o := Options{Err: s, Terminal: true, Width: func() int { return width }, Style: Style{Color: true, Unicode: true}}
			p := replay(t, "testdata/up.jsonl", o, func(record) {
				fmt.Fprintf(&frames, "---\n%s", s)
			})
			p.Close()
			fmt.Fprintf(&frames, "--- closed\n%s", s)
			golden.Assert(t, frames.String(), fmt.Sprintf("live-%d.golden", width))
		})
	}
}

func TestLiveInASCII(t *testing.T) {
	s := &screen{t: t, width: 80}
	replay(t, "testdata/up.jsonl", Options{Err: s, Terminal: true}, nil).Close()
	for _, line := range s.lines {
		for _, r := range line {
			if r > 127 {
				t.Errorf("%q holds %q, which an ASCII locale cannot show", line, r)
			}
		}
	}
}

func TestLiveNarrowedTerminal(t *testing.T) {
	var b strings.Builder
	width := 80
	v := &liveView{o: Options{Err: &b, Width: func() int { return width }}, model: newModel(nil)}
	v.drawn = []int{70, 30}
	width = 35
	assert.Check(t, is.Equal(v.clearing(), "\x1b[3A\r\x1b[J"))
}
