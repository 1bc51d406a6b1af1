package awsfacts

import (
	"slices"
	"time"
)

// Release is a minor version of Kubernetes on EKS, with its dates, as days in UTC.
type Release struct {
	// Minor version, such as 1.35.
	Minor string
	// Released is the day since which EKS makes clusters of it.
	Released time.Time
	// Standard is the first day of extended support, which costs more from the start of
	// that day; a cluster with the upgrade policy STANDARD is upgraded by AWS instead.
	Standard time.Time
	// Extended is the first day on which EKS makes no cluster of it, and may upgrade a
	// live one at any time. Until then EKS makes clusters of it, in extended support too.
	Extended time.Time
}

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}

// calendar is EKS's, oldest first, of the versions that a cluster file may name.
//
// 1.32 to 1.34: "Amazon EKS Kubernetes release calendar" in
// https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, by
// latest/ug/versioning/kubernetes-versions.adoc of
// https://github.com/awsdocs/amazon-eks-user-guide at 0138560. 1.35 and 1.36:
// products/amazon-eks.md of https://github.com/endoflife-date/endoflife.date at a70eca3,
// which reads that page's table; it has 2026-01-28 as the release of 1.35, a day later than
// 14 months before the end of its standard support.
//
// The same page says what Release says of the days: they are in UTC, the price of extended
// support starts with its day, and EKS makes new clusters of a version in extended support.
// It does not say that EKS refuses such a cluster with the upgrade policy STANDARD.
var calendar = []Release{
	{"1.32", day(2025, time.January, 23), day(2026, time.March, 23), day(2027, time.March, 23)},
	{"1.33", day(2025, time.May, 29), day(2026, time.July, 29), day(2027, time.July, 29)},
	{"1.34", day(2025, time.October, 2), day(2026, time.December, 2), day(2027, time.December, 2)},
	{"1.35", day(2026, time.January, 27), day(2027, time.March, 27), day(2028, time.March, 27)},
	{"1.36", day(2026, time.June, 2), day(2027, time.August, 2), day(2028, time.August, 2)},
}

// CalendarEnds is the day on which the calendar has to be looked up again: the oldest of
// its versions ends then, and a newer one has come. A test fails from that day on.
var CalendarEnds = day(2027, time.March, 23)

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

// NextAfter is the release that EKS upgrades a cluster of a minor version to: one minor
// version further. The newest release, and a minor version that is not in the calendar,
// have none.
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

// KubernetesVersions are the versions a cluster file may ask for, oldest first: those of
// the calendar, at any date. The lab has run all of them.
func KubernetesVersions() []string {
	minors := make([]string, len(calendar))
	for i, r := range calendar {
		minors[i] = r.Minor
	}
	return minors
}
