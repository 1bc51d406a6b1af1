package windows

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	_ "time/tzdata" // time zones, where the machine has none
)

// State is where a moment is in the change windows of a cluster.
type State struct {
	// Open says that the cluster may be changed.
	Open bool
	// Closes is when it may no longer; zero when it is not open, and without windows.
	Closes time.Time
	// Opens is when a window opens next, in the zone of that window; zero when one is open,
	// and when none opens within two weeks.
	Opens time.Time
}

// opening is one time that a window is open: from, until before to.
type opening struct{ from, to time.Time }

// horizon is how many days ahead openings are looked for: a day that the clocks leave out
// comes again after a week.
const horizon = 14

// openings of the window around a moment, and of the days after it.
func (w ChangeWindow) openings(at time.Time) []opening {
	zone, err := time.LoadLocation(w.TimeZone)
	if err != nil {
		return nil // validated when the file was read
	}
	from, to := Minutes(w.From), Minutes(w.To)
	if to <= from {
		to += 24 * 60
	}
	var out []opening
	year, month, day := at.In(zone).Date()
	for i := -2; i <= horizon; i++ {
		// As a date in UTC, which has all days, and each once.
		date := time.Date(year, month, day+i, 0, 0, 0, 0, time.UTC)
		if !slices.Contains(w.Days, Days()[date.Weekday()]) {
			continue
		}
		o := opening{
			from: whenClockShows(zone, date.Add(time.Duration(from)*time.Minute)),
			to:   whenClockShows(zone, date.Add(time.Duration(to)*time.Minute)),
		}
		if o.from.Before(o.to) { // all of it may be in an hour that is left out
			out = append(out, o)
		}
	}
	return out
}

// whenClockShows is the first moment at which the clock of a zone shows a local time or a
// later one. The local time is given as if it were in UTC. A time that the clocks leave out
// is the moment of their change; of a time that they show twice it is the first.
func whenClockShows(zone *time.Location, local time.Time) time.Time {
	at := local.Add(-15 * time.Hour).In(zone) // no zone is so far ahead of UTC
	for {
		_, offset := at.Zone()
		moment := local.Add(-time.Duration(offset) * time.Second)
		_, end := at.ZoneBounds()
		switch {
		case moment.Before(at): // the change has gone past it
			return at
		case end.IsZero() || moment.Before(end):
			return moment.In(zone)
		}
		at = end.In(zone)
	}
}

// Minutes of a time of the day such as 22:00.
func Minutes(text string) int {
	hour, err := strconv.Atoi(text[:2])
	if err != nil {
		return 0 // validated when the file was read
	}
	minute, err := strconv.Atoi(text[3:])
	if err != nil {
		return 0
	}
	return hour*60 + minute
}

// At says whether a cluster with the windows may be changed at a moment. Without change windows it
// may at any time.
func At(windows []ChangeWindow, at time.Time) State {
	if len(windows) == 0 {
		return State{Open: true}
	}
	var all []opening
	for _, w := range windows {
		all = append(all, w.openings(at)...)
	}
	slices.SortFunc(all, func(a, b opening) int { return a.from.Compare(b.from) })
	var s State
	until := at
	for _, o := range all {
		switch {
		case !o.from.After(until) && o.to.After(until) && (s.Open || !o.from.After(at)):
			s.Open, until = true, o.to // one that follows without a gap is the same time
		case s.Opens.IsZero() && o.from.After(at):
			s.Opens = o.from
		}
	}
	if s.Open {
		return State{Open: true, Closes: until}
	}
	return s
}

// Closed says, as a part of a sentence, that a cluster with the windows may not be changed at a moment
// and when it may; "" when it may.
func Closed(windows []ChangeWindow, at time.Time) string {
	s := At(windows, at)
	switch {
	case s.Open:
		return ""
	case s.Opens.IsZero():
		return "is outside of its change windows, and none opens within two weeks"
	}
	return fmt.Sprintf("is outside of its change windows: the window opens at %s (%s)",
		s.Opens.Format("Mon 2006-01-02 15:04 -0700"), s.Opens.Location())
}
