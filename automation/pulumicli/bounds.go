package pulumicli

import (
	"fmt"
	"strings"
	"time"
)

// bound is how long a command of the CLI may take.
type bound struct {
	// command is how its arguments begin.
	command []string
	most    time.Duration
}

// bounds are far above what a command takes that works: one that reaches its bound
// hangs. The first that matches counts.
var bounds = []bound{
	// They run the program and the providers, which give up by themselves on what does
	// not come. Six hours are what our pipelines give the job that applies: timeout in
	// .gitlab/pipelines.yml, and the default of jobs.<job_id>.timeout-minutes at GitHub.
	{[]string{"up"}, 6 * time.Hour},
	{[]string{"destroy"}, 6 * time.Hour},
	{[]string{"refresh"}, 6 * time.Hour},
	// It only reads: seconds to minutes, and a throttled cloud's retries.
	{[]string{"preview"}, time.Hour},
	// A download of a few hundred megabytes at most.
	{[]string{"plugin", "install"}, 20 * time.Minute},
	// It asks nobody.
	{[]string{"version"}, time.Minute},
}

// otherBound is for all other commands: they read or write a state, for which the CLI
// takes half a second, and half a minute of tries at a backend that refuses.
const otherBound = 5 * time.Minute

// longest is how long a command may take.
func (c *binary) longest(args []string) time.Duration {
	for _, b := range c.bounds {
		if hasPrefix(args, b.command...) {
			return b.most
		}
	}
	return otherBound
}

// hung is what the CLI would say of itself if it could; the SDK keeps no error of ours.
func hung(args []string, after time.Duration) string {
	words := args[:min(len(args), 2)]
	if len(words) == 2 && strings.HasPrefix(words[1], "-") {
		words = words[:1]
	}
	return fmt.Sprintf("\nerror: pulumi %s did not end within %s, and was ended\n", strings.Join(words, " "), after)
}
