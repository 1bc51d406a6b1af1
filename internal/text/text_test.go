package text

import "testing"

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 objects", 1: "1 object", 2: "2 objects"} {
		if got := Plural(n, "object"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
