package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"sigs.k8s.io/yaml"
)

// interval between two scrapes, and between two evaluations: the default of the chart is 30 s.
// Where days pass, it may be longer.
const interval = time.Minute

// Alert is an alert that fires, or waits for the end of its `for`.
type Alert struct {
	Name        string            `json:"name"`
	State       string            `json:"state"` // pending or firing
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// prometheus has Prometheus's storage, engine and rules, and a clock of its own.
type prometheus struct {
	db      *tsdb.DB
	query   rules.QueryFunc
	rules   []*rules.AlertingRule
	now     time.Time
	every   time.Duration // between two scrapes
	minutes int
	there   map[string]labels.Labels // the series of the last scrape
}

// start takes the PrometheusRules among manifests.
func start(dir string, manifests []byte) (*prometheus, error) {
	grammar := parser.NewParser(parser.Options{})
	alerting, err := alertingRules(grammar, manifests)
	if err != nil {
		return nil, err
	}
	db, err := tsdb.Open(dir, silent(), nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return nil, fmt.Errorf("open the storage: %w", err)
	}
	engine := promql.NewEngine(promql.EngineOpts{
		Logger: silent(), MaxSamples: 1_000_000, Timeout: time.Minute, Parser: grammar,
		EnableAtModifier: true, EnableNegativeOffset: true,
	})
	return &prometheus{
		db: db, query: rules.EngineQueryFunc(engine, db), rules: alerting,
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), every: interval,
	}, nil
}

func (p *prometheus) close() error { return p.db.Close() }

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// alertingRules are those of all PrometheusRules, as Prometheus itself reads and checks them.
func alertingRules(grammar parser.Parser, manifests []byte) ([]*rules.AlertingRule, error) {
	var out []*rules.AlertingRule
	for text := range bytes.SplitSeq(manifests, []byte("\n---\n")) {
		var object struct {
			Kind string
			Spec any
		}
		if err := yaml.Unmarshal(text, &object); err != nil {
			return nil, fmt.Errorf("read a manifest: %w", err)
		}
		if object.Kind != "PrometheusRule" {
			continue
		}
		spec, err := yaml.Marshal(object.Spec)
		if err != nil {
			return nil, err
		}
		groups, errs := rulefmt.Parse(spec, false, model.UTF8Validation, grammar, silent())
		if len(errs) > 0 {
			return nil, fmt.Errorf("read a PrometheusRule: %w", errors.Join(errs...))
		}
		for _, g := range groups.Groups {
			for _, r := range g.Rules {
				expr, err := grammar.ParseExpr(r.Expr)
				if err != nil {
					return nil, fmt.Errorf("rule %s: %w", r.Alert, err)
				}
				out = append(out, rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), time.Duration(r.KeepFiringFor),
					labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, silent()))
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("there is no PrometheusRule with alerts in the manifests")
	}
	return out, nil
}

// pass lets time pass. At each interval, what the function returns for the minute is scraped,
// and all rules are evaluated. Minutes count from 0, at the start.
func (p *prometheus) pass(ctx context.Context, span time.Duration, scrape func(minute int) string) error {
	for end := p.now.Add(span); p.now.Before(end); {
		p.now = p.now.Add(p.every)
		if err := p.scrape(ctx, scrape(p.minutes)); err != nil {
			return fmt.Errorf("minute %d: %w", p.minutes, err)
		}
		p.minutes += int(p.every / time.Minute)
		for _, r := range p.rules {
			if _, err := r.Eval(ctx, 0, p.now, p.query, nil, 0); err != nil {
				return fmt.Errorf("evaluate %s: %w", r.Name(), err)
			}
		}
	}
	return nil
}

// scrape keeps the samples of a text, and marks as stale what is no longer there.
func (p *prometheus) scrape(ctx context.Context, text string) error {
	app := p.db.Appender(ctx)
	there := map[string]labels.Labels{}
	samples, err := textparse.New([]byte(text), "text/plain", nil, textparse.ParserOptions{})
	if err != nil {
		return err
	}
	for {
		entry, err := samples.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(fmt.Errorf("read the metrics: %w", err), app.Rollback())
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		samples.Labels(&series)
		_, _, v := samples.Series()
		if err := p.append(app, series, v); err != nil {
			return errors.Join(err, app.Rollback())
		}
		there[series.String()] = series
	}
	for name, series := range p.there {
		if _, ok := there[name]; !ok {
			if err := p.append(app, series, math.Float64frombits(value.StaleNaN)); err != nil {
				return errors.Join(err, app.Rollback())
			}
		}
	}
	p.there = there
	return app.Commit()
}

func (p *prometheus) append(app storage.Appender, series labels.Labels, v float64) error {
	if _, err := app.Append(0, series, p.now.UnixMilli(), v); err != nil {
		return fmt.Errorf("keep %s: %w", series, err)
	}
	return nil
}

// alerts are those that fire or are pending now, by name and labels.
func (p *prometheus) alerts() []Alert {
	out := []Alert{}
	for _, r := range p.rules {
		for _, a := range r.ActiveAlerts() {
			out = append(out, Alert{Name: r.Name(), State: a.State.String(), Labels: a.Labels.Map(), Annotations: a.Annotations.Map()})
		}
	}
	slices.SortFunc(out, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(fmt.Sprint(a.Labels), fmt.Sprint(b.Labels)))
	})
	return out
}
