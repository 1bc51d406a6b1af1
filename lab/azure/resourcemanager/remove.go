package resourcemanager

import (
	"context"
	"errors"
	"net/http"
	"time"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
)

// operation is a deletion under way.
type operation struct {
	// done is closed when it has ended, with err.
	done chan struct{}
	err  error
}

// patience is how long a deletion takes until its answer names an operation. What is refused
// is refused within.
const patience = time.Second

// remove a resource: https://learn.microsoft.com/en-us/rest/api/resources/resources/delete-by-id.
// One that takes its time goes on after the answer:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/async-operations
func (a *api) remove(w http.ResponseWriter, r *http.Request) {
	q, err := a.admit(r)
	if err != nil {
		refuse(w, err)
		return
	}
	found, err := a.known(q)
	if refused := new(arm.Error); errors.As(err, &refused) && refused.Code == "ResourceNotFound" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err == nil {
		err = a.may(q, a.cloud.TypeOf(found.Type).Noun+"/delete", found.ID)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	o := &operation{done: make(chan struct{})}
	go func(ctx context.Context) {
		defer close(o.done)
		o.err = a.cloud.Client("").Delete(ctx, found.Type, found.ID)
	}(context.WithoutCancel(r.Context()))
	select {
	case <-o.done:
		if o.err != nil {
			refuse(w, o.err)
			return
		}
		reply(w, http.StatusOK, nil)
	case <-time.After(patience):
		id := arm.UUID()
		a.mu.Lock()
		a.operations[id] = o
		a.mu.Unlock()
		at := a.o.Endpoint + "/subscriptions/" + armid.SubscriptionOf(found.ID) + "/operationresults/" + id + "?api-version=" + r.URL.Query().Get("api-version")
		w.Header().Set("Azure-AsyncOperation", at)
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusAccepted)
	}
}

// progress of an operation that an answer has named.
func (a *api) progress(q *question) (any, error) {
	id := q.PathValue("operation")
	a.mu.Lock()
	o := a.operations[id]
	a.mu.Unlock()
	if o == nil {
		return nil, &arm.Error{Status: 404, Code: "OperationNotFound", Message: "The operation '" + id + "' could not be found."}
	}
	select {
	case <-o.done:
	default:
		return map[string]any{"id": q.URL.Path, "name": id, "status": "InProgress"}, nil
	}
	if o.err == nil {
		return map[string]any{"id": q.URL.Path, "name": id, "status": "Succeeded"}, nil
	}
	refused := &arm.Error{Code: "InternalServerError", Message: o.err.Error()}
	errors.As(o.err, &refused)
	return map[string]any{"id": q.URL.Path, "name": id, "status": "Failed", "error": refusal(refused)}, nil
}
