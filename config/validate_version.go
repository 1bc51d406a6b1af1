package config

import (
	"fmt"
	"time"

	"tombolo/config/awsfacts"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// noticeDays is how long before the end of standard support a file has a warning. EKS
// announces the day at least 60 days before:
// https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
const noticeDays = 60

// kubernetesVersion judges the version by the calendar of EKS: a warning of one that costs
// more or is about to, a problem with one that EKS has ended.
func (v *validator) kubernetesVersion(k Kubernetes) {
	at := strict.Path("kubernetes.version")
	r, ok := awsfacts.ReleaseOf(k.Version)
	if !ok || !v.doc.Sound(at, "kubernetes.support") {
		return
	}
	day := today()
	switch {
	case !day.Before(r.Extended):
		v.problem(at, successor(r.Minor), "%s ended on EKS on %s: EKS makes no cluster of it, and upgrades those that there are by itself",
			r.Minor, date(r.Extended))
	default:
		if notice := SupportNotice(r.Minor, k.Support); notice != "" {
			v.warn(at, v.upgrade(r.Minor, day), "%s", notice)
		}
	}
}

// SupportNotice is the warning of a version of Kubernetes, major.minor, whose standard
// support is over or ends soon; "" for any other. Support is that of the live cluster.
func SupportNotice(minor string, support Support) string {
	r, ok := awsfacts.ReleaseOf(minor)
	day := today()
	switch {
	case !ok:
		return ""
	case !day.Before(r.Standard):
		return fmt.Sprintf("%s is in extended support since %s: %s", r.Minor, date(r.Standard), afterStandard(support, r))
	case !day.Before(r.Standard.AddDate(0, 0, -noticeDays)):
		return fmt.Sprintf("%s leaves standard support on %s: from that day, %s", r.Minor, date(r.Standard), afterStandard(support, r))
	}
	return ""
}

// afterStandard says what AWS does with a cluster whose version is no longer in standard
// support. Source: https://docs.aws.amazon.com/eks/latest/userguide/view-upgrade-policy.html
func afterStandard(s Support, r awsfacts.Release) string {
	upgraded := "AWS upgrades the cluster by itself"
	paid := fmt.Sprintf("the cluster costs more, and on %s AWS upgrades it by itself", date(r.Extended))
	switch s {
	case StandardSupport:
		return upgraded
	case ExtendedSupport:
		return paid
	}
	return fmt.Sprintf("%s if it was made with support: standard, the default; otherwise %s", upgraded, paid)
}

// upgrade is the remedy for a version whose support ends: the next version, and the first
// one further on that is in standard support for longer than the notice.
func (v *validator) upgrade(minor string, day time.Time) string {
	next, ok := awsfacts.NextAfter(minor)
	if !ok {
		return newerTombolo
	}
	remedy := fmt.Sprintf("run `tombolo upgrade %s --to %s`", v.c.Name, next.Minor)
	if lasting := lastingAfter(next, day); lasting.Minor != next.Minor {
		remedy += fmt.Sprintf(", and on to %s", lasting.Minor)
	}
	return remedy
}

// lastingAfter is the first release from r on that is in standard support for longer than
// the notice; without one, the newest.
func lastingAfter(r awsfacts.Release, day time.Time) awsfacts.Release {
	for !day.Before(r.Standard.AddDate(0, 0, -noticeDays)) {
		next, ok := awsfacts.NextAfter(r.Minor)
		if !ok {
			return r
		}
		r = next
	}
	return r
}

// successor is the remedy for a version that has ended. `tombolo upgrade` does not help: it
// reads the same file.
func successor(minor string) string {
	next, ok := awsfacts.NextAfter(minor)
	if !ok {
		return newerTombolo
	}
	releases := awsfacts.Releases()
	return writeVersions(next.Minor, releases[len(releases)-1].Minor)
}

// newerTombolo is the remedy for the newest version that this release knows.
const newerTombolo = "use a newer release of Tombolo, which knows a newer version"

// writeVersions is the remedy that names the version after one that has ended, and the newest.
func writeVersions(next, newest string) string {
	return fmt.Sprintf("write %s for a live cluster, and %s for a new one", wording.Quote(next), wording.Quote(newest))
}

func date(day time.Time) string { return day.Format(time.DateOnly) }
