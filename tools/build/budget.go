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

// programName is the name of bin/tombolo, and what is built with it, among the budgets.
const programName = "bin/tombolo"

// budgets are those of the groups and of the program, by name: what groups share counts for the one
// that is built first. They are not in the files of the groups, whose changes build a group anew.
func budgets() map[string]budget {
	return map[string]budget{
		"pulumi":          {1048, 190 * time.Second},
		"kubernetes":      {3231, 400 * time.Second},
		"plugins":         {1746, 30 * time.Second},
		"eks":             {0, 20 * time.Second},
		"argocd":          {2482, 150 * time.Second},
		"kubelogin":       {657, 10 * time.Second},
		"sealedsecrets":   {798, 10 * time.Second},
		"externalsecrets": {1363, 60 * time.Second},
		wholePulumi:       {1643, 350 * time.Second},
		"kubectl":         {0, 150 * time.Second},
		"lint":            {0, 250 * time.Second},
		programName:       {0, 290 * time.Second},
	}
}

// plan says before anything is built what will be, and how long that takes on so many
// processors. It is empty where nothing is missing.
func plan(missing []string, processors int) string {
	if len(missing) == 0 {
		return ""
	}
	var cpu time.Duration
	for _, name := range missing {
		cpu += budgets()[name].cpu
	}
	on := wording.Count(processors, "processor")
	return fmt.Sprintf("► to build, once: %s. On %s this takes about %s; a second time, seconds\n",
		wording.And(missing), on, about(cpu/time.Duration(processors)))
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

// unbuilt are the names of what there is to build.
func unbuilt(absent []group, root string, withProgram bool) []string {
	var names []string
	for _, g := range absent {
		names = append(names, g.name)
	}
	if _, err := os.Stat(filepath.Join(root, "bin", "tombolo")); err != nil && withProgram {
		names = append(names, programName)
	}
	return names
}
