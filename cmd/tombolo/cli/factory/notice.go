package factory

import (
	"cmp"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/ci"
	"tombolo/cmd/tombolo/cli/notice"
	"tombolo/internal/proxies"
)

// Notices returns what tells channels how the command's run has ended; nil, which tells nobody,
// before the command has a driver.
func (f *Factory) Notices() *notice.Sender {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.drivers) == 0 {
		return nil
	}
	driver := f.drivers[len(f.drivers)-1]
	getenv := func(name string) string {
		value, _ := f.Lookup(name)
		return value
	}
	job := ci.Of(f.Lookup)
	return &notice.Sender{
		Address: driver.ChannelAddress, Warn: f.warn,
		Who: cmp.Or(job.Actor, automation.Who(getenv)), Link: job.URL, Proxy: proxies.Of(getenv),
	}
}
