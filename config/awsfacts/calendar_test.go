package awsfacts

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// A minor version has 14 months of standard support, and 12 of extended support.
func TestCalendarIsInOrder(t *testing.T) {
	for i, r := range calendar {
		months := r.Standard.Sub(r.Released).Hours() / 24 / 30.4
		assert.Check(t, months > 13.5 && months < 14.5, "%s has %.1f months of standard support", r.Minor, months)
		assert.Check(t, r.Extended.Equal(r.Standard.AddDate(1, 0, 0)), r.Minor)
		assert.Check(t, i == 0 || calendar[i-1].Released.Before(r.Released), r.Minor)
	}
}

func TestCalendarIsLookedUpInTime(t *testing.T) {
	for _, r := range calendar {
		assert.Check(t, !r.Extended.Before(CalendarEnds), "EKS makes no cluster of %s when the calendar ends: take it out", r.Minor)
	}
	if !time.Now().Before(CalendarEnds) {
		t.Errorf("the calendar of EKS ended on %s: look it up in "+
			"https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, for KubernetesVersions in lab/aws/eks too, "+
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
