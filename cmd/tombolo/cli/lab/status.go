package lab

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/render"
	"tombolo/lab/control"
)

// NewCmdStatus returns the command lab status.
func NewCmdStatus(f *Given) *cobra.Command {
	opts := f.options()
	return &cobra.Command{
		Use:   "status",
		Short: "Show the lab's processes and what exists in its cloud",
		Long: strings.TrimSpace(`
Show the processes of the lab, its addresses, and every resource in the cloud's
stand-in. After destroy there is no resource. If the lab is not running, show the
resources that it has on disk.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return statusRun(cmd.Context(), opts) },
	}
}

// statusDocument is the result in the JSON format.
type statusDocument struct {
	Type string `json:"type"`
	control.Status
}

func statusRun(ctx context.Context, o Options) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	s, err := l.Status(ctx)
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, statusDocument{Type: "lab-status", Status: s})
	}
	switch {
	case s.Running:
		o.Status().Done("the lab is running since %s (process %d)", s.Since.Local().Format(time.DateTime), s.PID)
		if s.Profile != "" && s.Profile != control.Full {
			o.Status().Plain("  its profile is %s", s.Profile)
		}
	case len(s.Inventory) > 0:
		o.Status().Plain("the lab is not running, but has a cloud on disk; bring it back with `tombolo lab up`, or remove it with `tombolo lab down`")
	default:
		o.Status().Plain("the lab is not running; start it with `tombolo lab up`")
	}
	for _, note := range s.Notes {
		o.Status().Plain("  %s", note)
	}
	return o.tables(s)
}

func (o Options) tables(s control.Status) error {
	var endpoints, processes, items [][]string
	for _, e := range s.Endpoints {
		endpoints = append(endpoints, []string{e.Name, e.URL})
	}
	for _, p := range s.Processes {
		pid := ""
		if p.PID != 0 {
			pid = strconv.Itoa(p.PID)
		}
		processes = append(processes, []string{p.Name, p.State, pid, strconv.Itoa(p.Restarts), p.Detail})
	}
	for _, i := range s.Inventory {
		items = append(items, []string{i.Type, i.ID, i.Name, i.Region})
	}
	cloud := "Cloud"
	if !s.Running && len(items) > 0 {
		cloud = "Cloud, on disk"
	}
	for _, t := range []struct {
		title  string
		header []string
		rows   [][]string
	}{
		{"Processes", []string{"NAME", "STATE", "PID", "RESTARTS", "DETAIL"}, processes},
		{"Endpoints", []string{"NAME", "URL"}, endpoints},
		{cloud, []string{"TYPE", "ID", "NAME", "REGION"}, items},
	} {
		if len(t.rows) == 0 && t.title != cloud {
			continue
		}
		fmt.Fprintf(o.Out, "%s: %d\n", t.title, len(t.rows))
		if err := render.Table(o.Out, o.Table(), t.header, t.rows); err != nil {
			return err
		}
	}
	return nil
}
