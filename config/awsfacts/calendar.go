package awsfacts

import (
	"time"

	"tombolo/config/releases"
)

// Calendar is EKS's, of the versions that a cluster file may name, oldest first. The lab has
// run all of them. EKS makes clusters of a version from its release on, in extended support
// too, which costs more from the start of its day; a cluster with the upgrade policy STANDARD
// is upgraded by AWS instead. Once a version has ended, EKS makes no cluster of it, and may
// upgrade a live one at any time.
//
// 1.32 to 1.34: "Amazon EKS Kubernetes release calendar" in
// https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, by
// latest/ug/versioning/kubernetes-versions.adoc of
// https://github.com/awsdocs/amazon-eks-user-guide at 0138560. 1.35 and 1.36:
// products/amazon-eks.md of https://github.com/endoflife-date/endoflife.date at a70eca3,
// which reads that page's table; it has 2026-01-28 as the release of 1.35, a day later than
// 14 months before the end of its standard support.
//
// The same page says that the days are in UTC, the price of extended
// support starts with its day, and EKS makes new clusters of a version in extended support.
// It does not say that EKS refuses such a cluster with the upgrade policy STANDARD.
var Calendar = releases.Calendar{
	{Minor: "1.32", Released: releases.Day(2025, time.January, 23), Extended: releases.Day(2026, time.March, 23), Ends: releases.Day(2027, time.March, 23)},
	{Minor: "1.33", Released: releases.Day(2025, time.May, 29), Extended: releases.Day(2026, time.July, 29), Ends: releases.Day(2027, time.July, 29)},
	{Minor: "1.34", Released: releases.Day(2025, time.October, 2), Extended: releases.Day(2026, time.December, 2), Ends: releases.Day(2027, time.December, 2)},
	{Minor: "1.35", Released: releases.Day(2026, time.January, 27), Extended: releases.Day(2027, time.March, 27), Ends: releases.Day(2028, time.March, 27)},
	{Minor: "1.36", Released: releases.Day(2026, time.June, 2), Extended: releases.Day(2027, time.August, 2), Ends: releases.Day(2028, time.August, 2)},
}

// CalendarEnds is the day on which the calendar has to be looked up again: the oldest of
// its versions ends then, and a newer one has come. A test fails from that day on.
var CalendarEnds = releases.Day(2027, time.March, 23)
