package rollout

import (
	"fmt"
	"strconv"
	"strings"
)

// Failures is how many clusters of a run may fail: a number, or a percentage of the run's
// clusters. It is the value of a flag. The zero value sets no limit.
type Failures struct {
	// Given says that there is a limit.
	Given bool
	// Number of clusters, or with Percent a percentage.
	Number  int
	Percent bool
}

// Set reads a limit such as 3 or 10%.
func (f *Failures) Set(text string) error {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || percent && n > 100 {
		return fmt.Errorf("%q is neither a number of clusters, such as 3, nor a percentage from 0%% to 100%%", text)
	}
	*f = Failures{Given: true, Number: n, Percent: percent}
	return nil
}

// String is the limit as it is written.
func (f *Failures) String() string {
	switch {
	case !f.Given:
		return ""
	case f.Percent:
		return fmt.Sprintf("%d%%", f.Number)
	}
	return strconv.Itoa(f.Number)
}

// Type is how the flag's value is called.
func (*Failures) Type() string { return "N|%" }

// Of is the limit for a run on so many clusters; nil without one. A percentage is rounded
// down, so that no more fail than it says.
func (f *Failures) Of(clusters int) *int {
	if !f.Given {
		return nil
	}
	n := f.Number
	if f.Percent {
		n = clusters * f.Number / 100
	}
	return &n
}
