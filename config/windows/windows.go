// Package windows says when a cluster may be changed, and what becomes of drift.
package windows

import (
	"regexp"
	"time"

	"tombolo/config/check"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Day of the week.
type Day string

// The days.
const (
	Monday    Day = "mon"
	Tuesday   Day = "tue"
	Wednesday Day = "wed"
	Thursday  Day = "thu"
	Friday    Day = "fri"
	Saturday  Day = "sat"
	Sunday    Day = "sun"
)

// Days are in the order of time.Weekday.
func Days() []Day { return []Day{Sunday, Monday, Tuesday, Wednesday, Thursday, Friday, Saturday} }

// ChangeWindow is a time of the week in which the cluster may be changed.
type ChangeWindow struct {
	// Days on which the window opens: mon, tue, wed, thu, fri, sat, sun.
	Days []Day `yaml:"days"`
	// From is when it opens, by the clock of the time zone, such as "22:00".
	From string `yaml:"from"`
	// To is when it closes. At From or before it, that is on the next day: a window from
	// 22:00 to 04:00 belongs to the day on which it opens. 24:00 is the end of the day.
	To string `yaml:"to"`
	// TimeZone of both, by its name in the IANA time zone database, such as Europe/Berlin
	// or UTC. When its clocks change, the window opens and closes at the first moment at
	// which they show the time or a later one.
	TimeZone string `yaml:"timeZone"`
}

var changeWindowFields = field.Of[ChangeWindow](map[string]field.Descriptor{
	"Days":     {Rule: strict.Rule{What: "a day", Noun: "day", MinItems: 1, Allowed: form.Texts(Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday)}, Change: field.Changes(field.Outside)},
	"From":     {Rule: strict.Rule{What: "a time of the day", Example: `"22:00"`, Pattern: timeOfDay}, Change: field.Changes(field.Outside)},
	"To":       {Rule: strict.Rule{What: "a time of the day", Example: `"04:00"`, Pattern: endOfDay}, Change: field.Changes(field.Outside)},
	"TimeZone": {Rule: strict.Rule{What: "a time zone", Example: "Europe/Berlin", Pattern: timeZone}, Change: field.Changes(field.Outside)},
})

// Remediation is when drift is put right without people.
type Remediation string

// The policies.
const (
	// RemediateNever leaves drift to people.
	RemediateNever Remediation = "never"
	// RemediateInWindow puts it right in the cluster's change windows.
	RemediateInWindow Remediation = "in-window"
	// RemediateAlways puts it right at any time, outside of change windows too.
	RemediateAlways Remediation = "always"
)

// DriftPolicy is what becomes of drift.
type DriftPolicy struct {
	// Remediate says when tombolo drift --remediate puts right what is missing or changed:
	// never, in-window, or always, which is outside of change windows too. It deletes and
	// replaces nothing that holds data or that others depend on. Default never.
	Remediate Remediation `yaml:"remediate,omitempty"`
}

var driftPolicyFields = field.Of[DriftPolicy](map[string]field.Descriptor{
	"Remediate": {Rule: strict.Rule{What: "a policy", Allowed: form.Texts(RemediateNever, RemediateInWindow, RemediateAlways), Default: RemediateNever}, Change: field.Changes(field.Outside)},
})

var (
	timeOfDay = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)
	endOfDay  = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$`)
	timeZone  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+_-]*(/[A-Za-z0-9+_-]+)*$`)
)

// Check checks when the cluster may be changed, and what becomes of drift.
func Check(v *check.File, windows []ChangeWindow, drift DriftPolicy) {
	list := strict.Path("changeWindows")
	for i, w := range windows {
		at := list.Index(i)
		check.Unique(v, at.Field("days"), "", w.Days, func(d Day) string { return string(d) }, "give each day once")
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

// Fields are the descriptors of the package.
var Fields = field.Join(changeWindowFields, driftPolicyFields)
