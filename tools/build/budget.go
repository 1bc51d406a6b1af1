package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tombolo/internal/wording"
)

// budget is what it takes to build something from nothing. A test holds that the packages do
// not grow by more than a tenth over what is written down: growth is a decision.
type budget struct {
	// packages is how many Go packages are compiled at most.
	packages int
	// cpu is the processors' time, as `make fresh` measures it on two cores.
	cpu time.Duration
}

// packagesSuffix ends the name of the file in .tools that says of how many packages a group
// was built.
const packagesSuffix = ".packages"

// programBudget is that of bin/tombolo and what is built with it.
var programBudget = budget{packages: 2300, cpu: 400 * time.Second}

// plan says before anything is built what will be, and how long that takes on so many
// processors. It is empty where nothing is missing.
func plan(missing []group, program bool, processors int) string {
	var cpu time.Duration
	var names []string
	for _, g := range missing {
		cpu += g.budget.cpu
		names = append(names, g.name)
	}
	if program {
		cpu += programBudget.cpu
		names = append(names, "bin/tombolo")
	}
	if len(names) == 0 {
		return ""
	}
	on := wording.Count(processors, "processor")
	return fmt.Sprintf("► to build, once: %s. On %s this takes about %s; a second time, seconds\n",
		wording.And(names), on, about(cpu/time.Duration(processors)))
}

// about rounds up to minutes: less is not known before.
func about(d time.Duration) string {
	minutes := int((d + time.Minute - 1) / time.Minute)
	if minutes <= 1 {
		return "a minute"
	}
	return fmt.Sprintf("%d minutes", minutes)
}

// missing are the groups of which the cache has nothing that is built from the same sources.
func missing(groups []group, root, cache string) ([]group, error) {
	var none []group
	for _, g := range groups {
		dir, err := g.place(root, cache)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(dir); err != nil {
			none = append(none, g)
		}
	}
	return none, nil
}

// programMissing says that the checkout has no program of any state of its sources.
func programMissing(root string) bool {
	_, err := os.Stat(filepath.Join(root, "bin", "tombolo"))
	return err != nil
}
