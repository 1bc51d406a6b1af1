package azurefacts

import (
	"time"

	"tombolo/config/releases"
)

// first day of a month.
func first(year int, month time.Month) time.Time { return releases.Day(year, month, 1) }

// Calendar is AKS's, of the versions that a cluster file may name, oldest first: those that the
// lab runs. A version is released in the month in which AKS has it generally. Extended support
// is AKS's long-term support: with the community's support AKS's own ends for all other
// clusters. Source: "AKS Kubernetes release calendar" and "LTS versions" of
// articles/aks/supported-kubernetes-versions.md of
// https://github.com/MicrosoftDocs/azure-aks-docs at fb060ab, published as
// https://learn.microsoft.com/azure/aks/supported-kubernetes-versions. It tells months, whose
// last day is the last one with support. All of the versions have long-term support.
var Calendar = releases.Calendar{
	{Minor: "1.32", Released: first(2025, time.April), Extended: first(2026, time.April), Ends: first(2027, time.April)},
	{Minor: "1.33", Released: first(2025, time.June), Extended: first(2026, time.August), Ends: first(2027, time.August)},
	{Minor: "1.34", Released: first(2025, time.November), Extended: first(2026, time.December), Ends: first(2027, time.December)},
	{Minor: "1.35", Released: first(2026, time.March), Extended: first(2027, time.April), Ends: first(2028, time.April)},
	{Minor: "1.36", Released: first(2026, time.June), Extended: first(2027, time.July), Ends: first(2028, time.July)},
}

// CalendarEnds is the day on which the calendar has to be looked up again: the oldest of its
// versions ends then, and a newer one has come. A test fails from that day on.
var CalendarEnds = first(2027, time.April)
