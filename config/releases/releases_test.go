package releases_test

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/releases"
)

// clouds are the calendars, with what their clouds promise.
var clouds = map[string]struct {
	calendar releases.Calendar
	// least and most months of standard support.
	least, most float64
	ends        time.Time
	// gone is what is true of a version that has ended.
	gone, source string
}{
	// A minor version has 14 months of standard support, and 12 of extended support.
	"EKS": {
		awsfacts.Calendar, 13.5, 14.5, awsfacts.CalendarEnds, "EKS makes no cluster",
		"https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, for KubernetesVersions in lab/aws/eks too",
	},
	// A minor version has about a year of the community's support, and a year of long-term
	// support.
	"AKS": {
		azurefacts.Calendar, 11, 15, azurefacts.CalendarEnds, "AKS has no support",
		"https://learn.microsoft.com/azure/aks/supported-kubernetes-versions",
	},
}

func TestCalendarIsInOrder(t *testing.T) {
	for name, cloud := range clouds {
		for i, r := range cloud.calendar {
			months := r.Extended.Sub(r.Released).Hours() / 24 / 30.4
			assert.Check(t, months > cloud.least && months < cloud.most, "%s on %s has %.1f months of standard support", r.Minor, name, months)
			assert.Check(t, r.Ends.Equal(r.Extended.AddDate(1, 0, 0)), "%s on %s", r.Minor, name)
			assert.Check(t, i == 0 || cloud.calendar[i-1].Released.Before(r.Released), "%s on %s", r.Minor, name)
		}
	}
}

func TestCalendarIsLookedUpInTime(t *testing.T) {
	for name, cloud := range clouds {
		for _, r := range cloud.calendar {
			assert.Check(t, !r.Ends.Before(cloud.ends), "%s of %s when the calendar ends: take it out", cloud.gone, r.Minor)
		}
		if !time.Now().Before(cloud.ends) {
			t.Errorf("the calendar of %s ended on %s: look it up in %s, and set CalendarEnds to the day on which the oldest version goes",
				name, cloud.ends.Format(time.DateOnly), cloud.source)
		}
	}
}

func TestOf(t *testing.T) {
	for name, cloud := range clouds {
		r, ok := cloud.calendar.Of("1.36")
		assert.Check(t, ok && r.Minor == "1.36", name)
		_, ok = cloud.calendar.Of("1.20")
		assert.Check(t, !ok, name)
	}
}

func TestAfter(t *testing.T) {
	for name, cloud := range clouds {
		for minor, want := range map[string]string{"1.32": "1.33", "1.35": "1.36", "1.36": "", "1.20": ""} {
			next, ok := cloud.calendar.After(minor)
			assert.Equal(t, next.Minor, want, name)
			assert.Equal(t, ok, want != "", name)
		}
	}
}
