package azurefacts

import (
	"slices"
	"time"
)

// Release is a minor version of Kubernetes on AKS, with its dates, as days in UTC.
type Release struct {
	// Minor version, such as 1.35.
	Minor string
	// Available is the first day of the month in which AKS has it generally.
	Available time.Time
	// Ends is the first day without the community's support. From then on AKS supports only
	// clusters with long-term support.
	Ends time.Time
	// LongTermEnds is the first day without long-term support.
	LongTermEnds time.Time
}

// first day of a month.
func first(year int, month time.Month) time.Time {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// calendar is AKS's, oldest first, of the versions that a cluster file may name: those that
// the lab runs. Source: "AKS Kubernetes release calendar" and "LTS versions" of
// articles/aks/supported-kubernetes-versions.md of
// https://github.com/MicrosoftDocs/azure-aks-docs at fb060ab, published as
// https://learn.microsoft.com/azure/aks/supported-kubernetes-versions. It tells months, whose
// last day is the last one with support. All of the versions have long-term support.
var calendar = []Release{
	{"1.32", first(2025, time.April), first(2026, time.April), first(2027, time.April)},
	{"1.33", first(2025, time.June), first(2026, time.August), first(2027, time.August)},
	{"1.34", first(2025, time.November), first(2026, time.December), first(2027, time.December)},
	{"1.35", first(2026, time.March), first(2027, time.April), first(2028, time.April)},
	{"1.36", first(2026, time.June), first(2027, time.July), first(2028, time.July)},
}

// CalendarEnds is the day on which the calendar has to be looked up again: the oldest of its
// versions ends then, and a newer one has come. A test fails from that day on.
var CalendarEnds = first(2027, time.April)

// Releases are the calendar, oldest first.
func Releases() []Release { return slices.Clone(calendar) }

// ReleaseOf is a minor version's entry of the calendar.
func ReleaseOf(minor string) (Release, bool) {
	i := indexOf(minor)
	if i < 0 {
		return Release{}, false
	}
	return calendar[i], true
}

// NextAfter is the release that a cluster of a minor version is upgraded to: one minor
// version further. The newest release, and a minor version that is not in the calendar, have
// none.
func NextAfter(minor string) (Release, bool) {
	i := indexOf(minor)
	if i < 0 || i+1 == len(calendar) {
		return Release{}, false
	}
	return calendar[i+1], true
}

func indexOf(minor string) int {
	return slices.IndexFunc(calendar, func(r Release) bool { return r.Minor == minor })
}

// KubernetesVersions are the versions a cluster file may ask for, oldest first: those of the
// calendar, at any date.
func KubernetesVersions() []string {
	minors := make([]string, len(calendar))
	for i, r := range calendar {
		minors[i] = r.Minor
	}
	return minors
}
