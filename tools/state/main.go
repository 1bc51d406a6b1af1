// Command state prints the metrics that kube-state-metrics makes of objects, by its own code,
// in the version of the chart that the platform trees release, and as their release configures
// it.
//
//	go run . -release release.yaml -objects objects.json
//
// The objects are a list, as kubectl prints it; the release is the HelmRelease, or a file of
// values.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "state:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("state", flag.ContinueOnError)
	release := flags.String("release", "", "HelmRelease or values of kube-prometheus-stack")
	objects := flags.String("objects", "", "list of objects")
	if err := flags.Parse(args); err != nil {
		return err
	}
	configuration, err := os.ReadFile(*release)
	if err != nil {
		return fmt.Errorf("read the configuration of kube-state-metrics: %w", err)
	}
	list, err := os.ReadFile(*objects)
	if err != nil {
		return fmt.Errorf("read the objects: %w", err)
	}
	text, err := stateOf(configuration, list)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}
