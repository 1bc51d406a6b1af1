package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/config/awsfacts"
	"tombolo/config/kubernetes"
	"tombolo/config/strict"
	"tombolo/tests/files"
)

// onDay sets the clock, to any time of the day, until the test ends.
func onDay(t *testing.T, day string) {
	t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	assert.NilError(t, err)
	before := Today
	t.Cleanup(func() { Today = before })
	Today = func() time.Time { return at.Add(23 * time.Hour).In(time.FixedZone("", 9*60*60)) }
}

// loadVersion loads the base file with a version and lines of support. The engine's
// version is one that the calendar's versions have no warning for.
func loadVersion(t *testing.T, minor, support string) (c *Cluster, file string, err error) {
	t.Helper()
	content := files.Read(t, baseFile)
	dir := t.TempDir()
	write(t, dir, "base.yaml", strings.NewReplacer(`"1.35"`, `"`+minor+`"`+support, "v2.7.5", "v2.99.0").Replace(content))
	file = filepath.Join(dir, "base.yaml")
	c, err = Load(file)
	return c, file, err
}

// TestWarningsOfTheCalendar: the last day without a warning, and the first day of each.
func TestWarningsOfTheCalendar(t *testing.T) {
	const at = "12:12: warning: kubernetes.version: "
	for name, test := range map[string]struct{ day, minor, support, want string }{
		"61 days before": {"2026-10-02", "1.34", "", ""},
		"60 days before": {
			"2026-10-03", "1.34", "\n  support: standard",
			"1.34 leaves standard support on 2026-12-02: from that day, AWS upgrades the cluster by itself; run `tombolo upgrade demo --to 1.35`",
		},
		"extended": {
			"2026-12-01", "1.34", "\n  support: extended",
			"1.34 leaves standard support on 2026-12-02: from that day, the cluster costs more, and on 2027-12-02 AWS upgrades it by itself; " +
				"run `tombolo upgrade demo --to 1.35`",
		},
		"not said": {
			"2026-12-01", "1.34", "",
			"1.34 leaves standard support on 2026-12-02: from that day, AWS upgrades the cluster by itself if it was made with support: standard, the default; " +
				"otherwise the cluster costs more, and on 2027-12-02 AWS upgrades it by itself; run `tombolo upgrade demo --to 1.35`",
		},
		"the day": {
			"2026-12-02", "1.34", "\n  support: extended",
			"1.34 is in extended support since 2026-12-02: the cluster costs more, and on 2027-12-02 AWS upgrades it by itself; " +
				"run `tombolo upgrade demo --to 1.35`",
		},
		"past ones that go too": {
			"2026-11-23", "1.32", "\n  support: standard",
			"1.32 is in extended support since 2026-03-23: AWS upgrades the cluster by itself; run `tombolo upgrade demo --to 1.33`, and on to 1.35",
		},
		"the last day": {
			"2027-03-22", "1.32", "\n  support: extended",
			"1.32 is in extended support since 2026-03-23: the cluster costs more, and on 2027-03-23 AWS upgrades it by itself; " +
				"run `tombolo upgrade demo --to 1.33`, and on to 1.36",
		},
		"the newest": {
			"2027-08-02", "1.36", "\n  support: standard",
			"1.36 is in extended support since 2027-08-02: AWS upgrades the cluster by itself; use a newer release of Tombolo, which knows a newer version",
		},
	} {
		t.Run(name, func(t *testing.T) {
			onDay(t, test.day)
			c, file, err := loadVersion(t, test.minor, test.support)
			assert.NilError(t, err)
			var got []string
			for _, w := range c.Warnings {
				got = append(got, strings.TrimPrefix(w.Warning(), file+":"+at))
			}
			assert.Equal(t, strings.Join(got, "\n"), test.want)
		})
	}
}

// TestVersionHasEnded: EKS makes no cluster of a version from the end of its extended
// support on.
func TestVersionHasEnded(t *testing.T) {
	for minor, want := range map[string]string{
		"1.32": "12:12: kubernetes.version: 1.32 ended on EKS on 2027-03-23: EKS makes no cluster of it, and upgrades those that there are by itself; " +
			`write "1.33" for a live cluster, and "1.36" for a new one`,
		"1.36": "12:12: kubernetes.version: 1.36 ended on EKS on 2028-08-02: EKS makes no cluster of it, and upgrades those that there are by itself; " +
			"use a newer release of Tombolo, which knows a newer version",
	} {
		r, _ := awsfacts.Calendar.Of(minor)
		onDay(t, kubernetes.Date(r.Ends))
		_, file, err := loadVersion(t, minor, "")
		problems := strict.Problems{}
		assert.Assert(t, errors.As(err, &problems), "%v", err)
		assert.Equal(t, strings.TrimPrefix(problems.Error(), file+":"), want)
	}
}
