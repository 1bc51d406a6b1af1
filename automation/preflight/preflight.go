// Package preflight looks for what would keep an up from succeeding, before it
// starts: tools, backend, credentials, the account with its region and quotas,
// the repository, the distribution, access. It knows no driver: it asks by small
// interfaces, so that everything it says can be tested.
package preflight

import (
	"fmt"
	"slices"
)

// Level of a finding.
type Level string

// The levels, from good to bad.
const (
	// OK: as it should be.
	OK Level = "ok"
	// Warn: it may do, and may not.
	Warn Level = "warn"
	// Fail: an up would fail.
	Fail Level = "fail"
)

// Finding is what a check found.
type Finding struct {
	// Check is its name, such as credentials.
	Check string `json:"check"`
	Level Level  `json:"level"`
	// Key of the cluster file that is at fault, such as network.zones[1]; empty when none is.
	Key string `json:"key,omitempty"`
	// Message says what was found. It begins with the place of the Key.
	Message string `json:"message"`
	// Remedy is what to do about it; empty when it is OK.
	Remedy string `json:"remedy,omitempty"`
}

// Report is what was found for one cluster.
type Report struct {
	Cluster  string    `json:"cluster"`
	Findings []Finding `json:"findings"`
}

// Of are the findings of a level.
func (r Report) Of(l Level) []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Level != l })
}

// Count of the findings of a level.
func (r Report) Count(l Level) int { return len(r.Of(l)) }

// Good is a finding that is as it should be.
func Good(check, format string, args ...any) Finding {
	return Finding{Check: check, Level: OK, Message: fmt.Sprintf(format, args...)}
}

// Bad is a finding with its remedy.
func Bad(check string, level Level, remedy, format string, args ...any) Finding {
	return Finding{Check: check, Level: level, Remedy: remedy, Message: fmt.Sprintf(format, args...)}
}

// BadKey is a finding about a key of the cluster file, with its remedy.
func BadKey(check, key string, level Level, remedy, format string, args ...any) Finding {
	f := Bad(check, level, remedy, format, args...)
	f.Key = key
	return f
}
