package lab

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"tombolo/lab/standin"
)

// Fault makes requests to the cloud's stand-in go wrong. It is gone when the
// lab is started anew.
type Fault = standin.Fault

// AddFault makes the next requests of a kind go wrong, and returns the fault as
// it was understood, with its id.
func (l *Lab) AddFault(ctx context.Context, f Fault) (Fault, error) {
	var added Fault
	err := l.daemon().Ask(ctx, http.MethodPost, "/faults", f, &added)
	return added, err
}

// Faults lists the faults that wait for a request, the oldest first.
func (l *Lab) Faults(ctx context.Context) ([]Fault, error) {
	var list []Fault
	err := l.daemon().Ask(ctx, http.MethodGet, "/faults", struct{}{}, &list)
	return list, err
}

// ClearFaults forgets faults, all of them when no ids are given, and returns
// how many it forgot.
func (l *Lab) ClearFaults(ctx context.Context, ids ...int) (int, error) {
	var cleared int
	err := l.daemon().Ask(ctx, http.MethodDelete, "/faults", ids, &cleared)
	return cleared, err
}

// serveFaults answers AddFault, Faults and ClearFaults. The clouds share the faults, so any of
// them lists and forgets all.
func (d *daemon) serveFaults(mux *http.ServeMux) {
	handle(mux, "POST /faults", func(_ context.Context, f Fault) (Fault, error) { return addFault(d.accounts.home(), d.azure, f) })
	handle(mux, "GET /faults", func(context.Context, struct{}) ([]Fault, error) { return d.accounts.home().Faults(), nil })
	handle(mux, "DELETE /faults", func(_ context.Context, ids []int) (int, error) { return d.accounts.home().ClearFaults(ids...), nil })
}

// addFault adds a fault to the cloud that knows its type.
func addFault(aws, azure *standin.Cloud, f Fault) (Fault, error) {
	inAWS, err := aws.FaultType(f)
	inAzure, errAzure := azure.FaultType(f)
	if err == nil && errAzure == nil && inAWS != inAzure {
		return f, fmt.Errorf("add a fault: %s is of both clouds; use one of %s, %s", f.Type, inAWS, inAzure)
	}
	if err != nil && (errAzure == nil || ofAzure(f.Type)) {
		return azure.AddFault(f)
	}
	return aws.AddFault(f)
}

// ofAzure says that a token is of azure-native's.
func ofAzure(token string) bool { return strings.HasPrefix(token, "azure-native:") }
