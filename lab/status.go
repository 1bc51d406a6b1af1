package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"tombolo/lab/aws"
	"tombolo/lab/azure"
)

// Status says what the lab consists of now. A lab that is not running is no
// error: Running is false, and Inventory holds what the cloud's stand-in has on
// disk and will have again.
func (l *Lab) Status(ctx context.Context) (Status, error) {
	var s Status
	err := l.daemon().Ask(ctx, http.MethodGet, "/status", nil, &s)
	if errors.Is(err, ErrNotRunning) {
		return l.stored()
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
		Running: true, PID: os.Getpid(), Since: d.started, Profile: d.profile, Notes: notes,
		Endpoints: []Endpoint{
			{Name: "git", URL: "http://" + GitHost + "/" + trees()[treeFlux]},
			{Name: "git, Argo CD", URL: "http://" + GitHost + "/" + trees()[treeArgoCD]},
			{Name: "charts", URL: "http://" + ChartsHost},
			{Name: "proxy", URL: d.proxyURL()},
			{Name: "token reviews", URL: d.reviewURL()},
			{Name: "aws provider", URL: loopback(d.ports.provider)},
			{Name: "azure provider", URL: loopback(d.ports.azure)},
		},
		Processes: []Process{},
		Inventory: append(d.accounts.inventory(), d.azure.Inventory()...),
	}
	for _, p := range d.supervisor.List() {
		s.Processes = append(s.Processes, Process{
			Name: p.Name, PID: p.PID, State: string(p.State), Since: p.Since, Restarts: p.Restarts, Detail: p.Detail,
		})
	}
	return s
}

// stored is the status of a lab that is down.
func (l *Lab) stored() (Status, error) {
	all := []Item{}
	for _, dir := range []string{l.paths().cloud(), l.paths().member()} {
		found, err := aws.Stored(dir)
		if err != nil {
			return Status{}, fmt.Errorf("get the lab's status: the lab is not running, and what it left cannot be read: %w", err)
		}
		all = append(all, found...)
	}
	found, err := azure.Stored(l.paths().azure())
	if err != nil {
		return Status{}, fmt.Errorf("get the lab's status: the lab is not running, and what it left cannot be read: %w", err)
	}
	all = append(all, found...)
	return Status{Endpoints: []Endpoint{}, Processes: []Process{}, Inventory: all}, nil
}
