package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// Status says what the lab consists of now. A lab that is not running has
// Running false and is no error.
func (l *Lab) Status(ctx context.Context) (Status, error) {
	var s Status
	err := l.ask(ctx, http.MethodGet, "/status", nil, &s)
	if errors.Is(err, ErrNotRunning) {
		return Status{}, nil
	}
	if err != nil {
		return Status{}, fmt.Errorf("get the lab's status: %w", err)
	}
	return s, nil
}

// status of the daemon and everything below it.
func (d *daemon) status() Status {
	d.mu.Lock()
	notes := d.notes
	d.mu.Unlock()
	s := Status{
		Running: true, PID: os.Getpid(), Since: d.started, Notes: notes,
		Endpoints: []Endpoint{
			{"git", "http://" + GitHost + "/" + repository},
			{"charts", "http://" + ChartsHost},
			{"proxy", d.proxyURL()},
			{"token reviews", d.reviewURL()},
			{"aws provider", loopback(d.ports.provider)},
		},
		Processes: []Process{}, Inventory: []Item{},
	}
	for _, p := range d.supervisor.List() {
		s.Processes = append(s.Processes, Process{
			Name: p.Name, PID: p.PID, State: string(p.State), Since: p.Since, Restarts: p.Restarts, Detail: p.Detail,
		})
	}
	for _, i := range d.cloud.Inventory() {
		s.Inventory = append(s.Inventory, Item{Type: i.Type, ID: i.ID, Name: i.Name, Region: i.Region, Created: i.Created})
	}
	return s
}
