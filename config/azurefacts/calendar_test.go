package azurefacts

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// A minor version has about a year of the community's support, and a year of long-term support.
func TestCalendarIsInOrder(t *testing.T) {
	for i, r := range calendar {
		months := r.Ends.Sub(r.Available).Hours() / 24 / 30.4
		assert.Check(t, months > 11 && months < 15, "%s has %.1f months of support", r.Minor, months)
		assert.Check(t, r.LongTermEnds.Equal(r.Ends.AddDate(1, 0, 0)), r.Minor)
		assert.Check(t, i == 0 || calendar[i-1].Available.Before(r.Available), r.Minor)
	}
}

func TestCalendarIsLookedUpInTime(t *testing.T) {
	for _, r := range calendar {
		assert.Check(t, !r.LongTermEnds.Before(CalendarEnds), "AKS has no support of %s when the calendar ends: take it out", r.Minor)
	}
	if !time.Now().Before(CalendarEnds) {
		t.Errorf("the calendar of AKS ended on %s: look it up in "+
			"https://learn.microsoft.com/azure/aks/supported-kubernetes-versions, "+
			"and set CalendarEnds to the day on which the oldest version goes", CalendarEnds.Format(time.DateOnly))
	}
}

func TestReleaseOf(t *testing.T) {
	r, ok := ReleaseOf("1.36")
	assert.Check(t, ok && r.Minor == "1.36")
	_, ok = ReleaseOf("1.20")
	assert.Check(t, !ok)
}

func TestNextAfter(t *testing.T) {
	for minor, want := range map[string]string{"1.32": "1.33", "1.35": "1.36", "1.36": "", "1.20": ""} {
		next, ok := NextAfter(minor)
		assert.Equal(t, next.Minor, want)
		assert.Equal(t, ok, want != "")
	}
}
