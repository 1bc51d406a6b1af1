package kubernetes

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tombolo/config/awsfacts"
	"tombolo/config/check"
	"tombolo/config/releases"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// noticeDays is how long before the end of standard support a file has a warning. EKS
// announces the day at least 60 days before:
// https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
const noticeDays = 60

// checkKubernetesVersion judges the version by the calendar of EKS: a warning of one that costs
// more or is about to, a problem with one that EKS has ended.
func checkKubernetesVersion(v *check.File, k Kubernetes) {
	at := strict.Path("kubernetes.version")
	r, ok := awsfacts.Calendar.Of(k.Version)
	if !ok || !v.Doc.Sound(at, "kubernetes.support") {
		return
	}
	day := v.Day
	switch {
	case !day.Before(r.Ends):
		v.Problem(at, successor(awsfacts.Calendar, r.Minor), "%s ended on EKS on %s: EKS makes no cluster of it, and upgrades those that there are by itself",
			r.Minor, Date(r.Ends))
	default:
		if notice := NoticeOn(r.Minor, k.Support, day); notice != "" {
			v.Warn(at, checkUpgrade(v, awsfacts.Calendar, r.Minor, day, standardEnd), "%s", notice)
		}
	}
}

// NoticeOn is the warning of a version of Kubernetes, major.minor, whose standard
// support is over or ends soon; "" for any other. Support is that of the live cluster.
func NoticeOn(minor string, support Support, day time.Time) string {
	r, ok := awsfacts.Calendar.Of(minor)
	switch {
	case !ok:
		return ""
	case !day.Before(r.Extended):
		return fmt.Sprintf("%s is in extended support since %s: %s", r.Minor, Date(r.Extended), afterStandard(support, r))
	case !day.Before(r.Extended.AddDate(0, 0, -noticeDays)):
		return fmt.Sprintf("%s leaves standard support on %s: from that day, %s", r.Minor, Date(r.Extended), afterStandard(support, r))
	}
	return ""
}

// afterStandard says what AWS does with a cluster whose version is no longer in standard
// support. Source: https://docs.aws.amazon.com/eks/latest/userguide/view-upgrade-policy.html
func afterStandard(s Support, r releases.Release) string {
	upgraded := "AWS upgrades the cluster by itself"
	paid := fmt.Sprintf("the cluster costs more, and on %s AWS upgrades it by itself", Date(r.Ends))
	switch s {
	case StandardSupport:
		return upgraded
	case ExtendedSupport:
		return paid
	}
	return fmt.Sprintf("%s if it was made with support: standard, the default; otherwise %s", upgraded, paid)
}

// standardEnd is the first day without standard support.
func standardEnd(r releases.Release) time.Time { return r.Extended }

// checkUpgrade is the remedy for a version whose support ends: the next version, and the first
// one further on whose support, which has an end for each release, lasts for longer than the
// notice; without one, the newest.
func checkUpgrade(v *check.File, c releases.Calendar, minor string, day time.Time, end func(releases.Release) time.Time) string {
	next, ok := c.After(minor)
	if !ok {
		return newerTombolo
	}
	remedy := fmt.Sprintf("run `tombolo upgrade %s --to %s`", v.Name, next.Minor)
	lasting := next
	for !day.Before(end(lasting).AddDate(0, 0, -noticeDays)) {
		further, ok := c.After(lasting.Minor)
		if !ok {
			break
		}
		lasting = further
	}
	if lasting.Minor != next.Minor {
		remedy += fmt.Sprintf(", and on to %s", lasting.Minor)
	}
	return remedy
}

// successor is the remedy for a version that has ended. `tombolo upgrade` does not help: it
// reads the same file.
func successor(c releases.Calendar, minor string) string {
	next, ok := c.After(minor)
	if !ok {
		return newerTombolo
	}
	return fmt.Sprintf("write %s for a live cluster, and %s for a new one", wording.Quote(next.Minor), wording.Quote(c[len(c)-1].Minor))
}

// newerTombolo is the remedy for the newest version that this release knows.
const newerTombolo = "use a newer release of Tombolo, which knows a newer version"

// Date is a day as messages write it.
func Date(day time.Time) string { return day.Format(time.DateOnly) }

// MovedMinors is the version of Kubernetes some minors after another, such as 1.35 one after
// 1.34; before it when minors is negative.
func MovedMinors(version string, minors int) string {
	major, _, _ := strings.Cut(version, ".")
	return fmt.Sprintf("%s.%d", major, Minor(version)+minors)
}

// Minor a version that EKS has, such as 35 of 1.35.
func Minor(version string) int {
	_, minor, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		return 0
	}
	return n
}
