package config

import (
	"time"

	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// CheckWindows checks when the cluster may be changed, and what becomes of drift.
func CheckWindows(v *File, windows []ChangeWindow, drift DriftPolicy) {
	list := strict.Path("changeWindows")
	for i, w := range windows {
		at := list.Index(i)
		Unique(v, at.Field("days"), "", w.Days, func(d Day) string { return string(d) }, "give each day once")
		if zone := at.Field("timeZone"); w.TimeZone != "" && !isTimeZone(w.TimeZone) {
			v.Problem(zone, "use a name of the IANA time zone database, such as Europe/Berlin, or UTC",
				"%s is not a time zone", wording.Quote(w.TimeZone))
		}
		if v.Doc.Sound(at.Field("from"), at.Field("to")) && w.From != "" && w.From == w.To {
			v.Problem(at.Field("to"), "use 24:00 for a window of the whole day, from 00:00",
				"the window closes when it opens")
		}
	}
	if drift.Remediate == RemediateInWindow && len(windows) == 0 && v.Doc.Sound(list) {
		v.Problem("drift.remediate", "add changeWindows, or use "+string(RemediateAlways),
			"the cluster has no change windows")
	}
}

// isTimeZone says whether a name is one of the database. Local is the machine's own.
func isTimeZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "Local"
}
