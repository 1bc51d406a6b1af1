package config

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/config/windows"
)

func inZone(t *testing.T, zone, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04 -0700", text)
	assert.NilError(t, err)
	loc, err := time.LoadLocation(zone)
	assert.NilError(t, err)
	return at.In(loc)
}

// TestChangeWindows: windows over midnight belong to the day on which they open, and clock
// changes neither lose one nor open it twice.
func TestChangeWindows(t *testing.T) {
	berlin := func(from, to string, days ...windows.Day) []windows.ChangeWindow {
		return []windows.ChangeWindow{{Days: days, From: from, To: to, TimeZone: "Europe/Berlin"}}
	}
	const closed = "is outside of its change windows: the window opens at "
	for _, test := range []struct {
		name    string
		windows []windows.ChangeWindow
		at      string
		want    string // Closed's, or when it closes
	}{
		{"none", nil, "2026-01-05 12:00 +0100", "open"},
		{"opens with its first minute", berlin("22:00", "04:00", windows.Monday), "2026-01-05 22:00 +0100", "until 2026-01-06 04:00 +0100"},
		{"over midnight", berlin("22:00", "04:00", windows.Monday), "2026-01-06 03:59 +0100", "until 2026-01-06 04:00 +0100"},
		{"closed at its end", berlin("22:00", "04:00", windows.Monday), "2026-01-06 04:00 +0100", closed + "Mon 2026-01-12 22:00 +0100 (Europe/Berlin)"},
		{"the night before is another day's", berlin("22:00", "04:00", windows.Monday), "2026-01-05 03:00 +0100", closed + "Mon 2026-01-05 22:00 +0100 (Europe/Berlin)"},
		{"read in another zone", berlin("22:00", "04:00", windows.Monday), "2026-01-05 16:00 -0500", "until 2026-01-06 04:00 +0100"},
		{"two without a gap are one", append(berlin("22:00", "24:00", windows.Monday), berlin("00:00", "04:00", windows.Tuesday)...), "2026-01-05 23:00 +0100", "until 2026-01-06 04:00 +0100"},
		{"the whole day", berlin("00:00", "24:00", windows.Saturday), "2026-01-10 23:59 +0100", "until 2026-01-11 00:00 +0100"},
		// On 2026-03-29 the clock goes from 01:59 +01:00 to 03:00 +02:00.
		{"opens at a time that is left out", berlin("02:30", "05:00", windows.Sunday), "2026-03-29 03:00 +0200", "until 2026-03-29 05:00 +0200"},
		{"before a time that is left out", berlin("02:30", "05:00", windows.Sunday), "2026-03-29 01:59 +0100", closed + "Sun 2026-03-29 03:00 +0200 (Europe/Berlin)"},
		{"closes at a time that is left out", berlin("22:00", "02:30", windows.Saturday), "2026-03-29 01:59 +0100", "until 2026-03-29 03:00 +0200"},
		{"closed at a time that is left out", berlin("22:00", "02:30", windows.Saturday), "2026-03-29 03:00 +0200", closed + "Sat 2026-04-04 22:00 +0200 (Europe/Berlin)"},
		{"is left out itself", berlin("02:10", "02:50", windows.Sunday), "2026-03-29 03:00 +0200", closed + "Sun 2026-04-05 02:10 +0200 (Europe/Berlin)"},
		// On 2026-10-25 the clock goes from 02:59 +02:00 to 02:00 +01:00.
		{"opens at the first of two", berlin("02:30", "05:00", windows.Sunday), "2026-10-25 02:30 +0200", "until 2026-10-25 05:00 +0100"},
		{"stays open at the second", berlin("02:30", "05:00", windows.Sunday), "2026-10-25 02:10 +0100", "until 2026-10-25 05:00 +0100"},
		{"closes at the first of two", berlin("22:00", "02:30", windows.Saturday), "2026-10-25 02:29 +0200", "until 2026-10-25 02:30 +0200"},
		{"closed at the second", berlin("22:00", "02:30", windows.Saturday), "2026-10-25 02:10 +0100", closed + "Sat 2026-10-31 22:00 +0100 (Europe/Berlin)"},
		{"through the long night", berlin("22:00", "04:00", windows.Saturday), "2026-10-25 03:59 +0100", "until 2026-10-25 04:00 +0100"},
		// Samoa had no 2011-12-30, a Friday.
		{"a day that is left out", []windows.ChangeWindow{{Days: []windows.Day{windows.Friday}, From: "09:00", To: "17:00", TimeZone: "Pacific/Apia"}}, "2011-12-29 12:00 -1000", closed + "Fri 2012-01-06 09:00 +1400 (Pacific/Apia)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &Cluster{ChangeWindows: test.windows}
			at := inZone(t, "UTC", test.at)
			got := c.Closed(at)
			if s := c.WindowAt(at); s.Open && s.Closes.IsZero() {
				got = "open"
			} else if s.Open {
				got = "until " + s.Closes.Format("2006-01-02 15:04 -0700")
			}
			assert.Equal(t, got, test.want)
		})
	}
}

// zonesWithChanges have clocks that change by an hour and by half of one, at midnight and in
// the night, and offsets that are no whole hours.
var zonesWithChanges = []string{
	"UTC", "Europe/Berlin", "Europe/Lisbon", "America/New_York", "America/St_Johns", "America/Sao_Paulo", "America/Havana",
	"Africa/Casablanca", "Asia/Kathmandu", "Asia/Beirut", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia", "Pacific/Kiritimati",
}

// TestWindowsByTheClock holds windows to a clock that is read minute by minute, for a
// thousand clusters around days on which clocks change.
func TestWindowsByTheClock(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 49))
	for range 1000 {
		w := windows.ChangeWindow{
			From: fmt.Sprintf("%02d:%02d", random.IntN(24), 10*random.IntN(6)), To: fmt.Sprintf("%02d:%02d", random.IntN(24), 10*random.IntN(6)),
			TimeZone: zonesWithChanges[random.IntN(len(zonesWithChanges))],
		}
		if w.From == w.To {
			w.To = "24:00"
		}
		for _, day := range windows.Days() {
			if random.IntN(2) == 0 {
				w.Days = append(w.Days, day)
			}
		}
		zone, err := time.LoadLocation(w.TimeZone)
		assert.NilError(t, err)
		start := time.Date(2010+random.IntN(16), time.Month(1+random.IntN(12)), 1+random.IntN(28), random.IntN(24), 0, 0, 0, zone)
		if _, end := start.ZoneBounds(); !end.IsZero() {
			start = end.Add(-time.Duration(random.IntN(40)) * time.Hour) // a change of clocks is near
		}
		checkByTheClock(t, w, start.In(zone))
	}
}

// checkByTheClock walks through two days, and knows a window to be open from the first minute
// that shows its beginning, or a later time, until the first that shows its end.
func checkByTheClock(t *testing.T, w windows.ChangeWindow, start time.Time) {
	t.Helper()
	c := &Cluster{ChangeWindows: []windows.ChangeWindow{w}}
	from, to := windows.Minutes(w.From), windows.Minutes(w.To)
	if to <= from {
		to += 24 * 60
	}
	type edges struct{ from, to int64 } // local times as if in UTC, in minutes
	var all []edges
	shows := func(at time.Time) int64 {
		_, offset := at.Zone()
		return (at.Unix() + int64(offset)) / 60
	}
	midnight := shows(start) / (24 * 60) * (24 * 60)
	for day := int64(-3); day <= 3; day++ {
		date := midnight + day*24*60
		if slices.Contains(w.Days, windows.Days()[(4+date/(24*60))%7]) { // 1970-01-01 was a Thursday
			all = append(all, edges{date + int64(from), date + int64(to)})
		}
	}
	begun, over := make([]bool, len(all)), make([]bool, len(all))
	for at := start.Add(-72 * time.Hour); at.Before(start.Add(48 * time.Hour)); at = at.Add(time.Minute) {
		open, clock := false, shows(at)
		for i, e := range all {
			begun[i] = begun[i] || clock >= e.from
			over[i] = over[i] || clock >= e.to
			open = open || begun[i] && !over[i]
		}
		near := func(e edges) bool {
			return clock-e.from >= -1 && clock-e.from <= 1 || clock-e.to >= -1 && clock-e.to <= 1
		}
		if at.Before(start) || clock%60 != 0 && !slices.ContainsFunc(all, near) {
			continue
		}
		if s := c.WindowAt(at); s.Open != open {
			t.Fatalf("%s to %s on %v in %s at %s: open is %t, want %t", w.From, w.To, w.Days, w.TimeZone, at, s.Open, open)
		} else if !open && !s.Opens.IsZero() && !s.Opens.After(at) || open && !s.Closes.After(at) {
			t.Fatalf("%s to %s on %v in %s at %s: %+v is over", w.From, w.To, w.Days, w.TimeZone, at, s)
		}
	}
}
