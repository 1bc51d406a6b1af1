// Package releases is a cloud's calendar of the minor versions of Kubernetes.
package releases

import (
	"slices"
	"time"
)

// Release is a minor version of Kubernetes on a cloud, with its dates, as days in UTC. What
// the cloud does on each, the calendar says.
type Release struct {
	// Minor version, such as 1.35.
	Minor string
	// Released is the day since which the cloud has it.
	Released time.Time
	// Extended is the first day of extended support: the first one without standard support.
	Extended time.Time
	// Ends is the first day without any support.
	Ends time.Time
}

// Day is one in UTC.
func Day(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// Calendar is the releases that a cluster file may name, oldest first.
type Calendar []Release

// Of is a minor version's entry of the calendar.
func (c Calendar) Of(minor string) (Release, bool) {
	i := c.index(minor)
	if i < 0 {
		return Release{}, false
	}
	return c[i], true
}

// After is the release that a cluster of a minor version is upgraded to: one minor version
// further. The newest release, and a minor version that is not in the calendar, have none.
func (c Calendar) After(minor string) (Release, bool) {
	i := c.index(minor)
	if i < 0 || i+1 == len(c) {
		return Release{}, false
	}
	return c[i+1], true
}

// Minors are the versions of the calendar, oldest first.
func (c Calendar) Minors() []string {
	minors := make([]string, len(c))
	for i, r := range c {
		minors[i] = r.Minor
	}
	return minors
}

func (c Calendar) index(minor string) int {
	return slices.IndexFunc(c, func(r Release) bool { return r.Minor == minor })
}
