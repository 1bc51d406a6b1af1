// Command rules says which alerts of PrometheusRules fire on metrics that stay as they are for
// a while. Prometheus's own engine evaluates the rules, in the version of the chart that the
// platform trees release.
//
//	go run . -rules rules.yaml -for 20m scrape.txt...
//
// It prints the alerts as JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rules:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("rules", flag.ContinueOnError)
	rules := flags.String("rules", "", "manifests with PrometheusRules")
	lasting := flags.Duration("for", time.Hour, "how long the metrics stay as they are")
	if err := flags.Parse(args); err != nil {
		return err
	}
	manifests, err := os.ReadFile(*rules)
	if err != nil {
		return fmt.Errorf("read the rules: %w", err)
	}
	var scrape strings.Builder
	for _, file := range flags.Args() {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the metrics: %w", err)
		}
		scrape.Write(append(text, '\n'))
	}
	alerts, err := evaluate(manifests, scrape.String(), *lasting)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(map[string]any{"alerts": alerts})
}

func evaluate(manifests []byte, scrape string, lasting time.Duration) ([]Alert, error) {
	dir, err := os.MkdirTemp("", "rules-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	p, err := start(dir, manifests)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := p.pass(context.Background(), lasting, func(int) string { return scrape }); err != nil {
		return nil, err
	}
	return p.alerts(), nil
}
