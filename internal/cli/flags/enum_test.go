package flags

import "testing"

type colour string

func TestEnum(t *testing.T) {
	value := colour("red")
	e := NewEnum(&value, "red", "green")
	if got, want := e.Type(), "red|green"; got != want {
		t.Errorf("type: got %q, want %q", got, want)
	}
	if err := e.Set("green"); err != nil || value != "green" || e.String() != "green" {
		t.Errorf("setting green: %v, value %q", err, value)
	}
	err := e.Set("blue")
	if err == nil || err.Error() != "must be one of: red, green" {
		t.Errorf("setting blue: got %v", err)
	}
	if value != "green" {
		t.Errorf("a refused value was taken: %q", value)
	}
}
