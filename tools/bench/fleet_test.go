package bench

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkFleet makes fleets of clusters at the same time. up makes all clusters; noop has the
// engine find that nothing is to do; unchanged is the up after that, which starts no engine. No fleet can be
// made in less than what a fleet of one takes, nor in less than over-cores-sec: all CPU work, the
// lab's too, over the cores.
func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("clusters=%d", n), func(b *testing.B) {
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("bench%02d", i+1)
			}
			c := newCheckout(b, share, names...)
			all := []string{"up", "--all", "--lab", "--yes"}
			before := c.labCPU()
			up := c.measured(all...)
			up.report(b, "up")
			lab := c.labCPU() - before
			b.ReportMetric(lab, "lab-cpu-sec")
			b.ReportMetric((up.CPU+lab)/float64(runtime.NumCPU()), "over-cores-sec")
			c.measured(append(all, "--force")...).report(b, "noop")
			c.measured(all...).report(b, "unchanged")
		})
	}
}
