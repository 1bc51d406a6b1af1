package lab

import (
	"context"
	"encoding/json"
	"net/http"

	"tombolo/lab/standin"
)

// Change changes properties of a resource in the cloud's stand-in, as a person
// does with the cloud's own tools. A type is Pulumi's token or the end of one, such
// as Vpc; a resource is named by its id or its own name; a property by its
// path, such as tags.Owner, and nil removes it. What the cloud would refuse is
// refused.
func (l *Lab) Change(ctx context.Context, typ, name string, changes map[string]any) (Item, error) {
	return l.drift(ctx, http.MethodPatch, driftRequest{typ, name, changes})
}

// Delete deletes a resource in the cloud's stand-in, as a person does with the
// cloud's own tools. Type and name are as for Change.
func (l *Lab) Delete(ctx context.Context, typ, name string) (Item, error) {
	return l.drift(ctx, http.MethodDelete, driftRequest{Type: typ, Name: name})
}

func (l *Lab) drift(ctx context.Context, method string, r driftRequest) (Item, error) {
	var item Item
	err := l.daemon().Call(ctx, method, "/resource", r, &item)
	return item, err
}

type driftRequest struct {
	Type    string         `json:"type"`
	Name    string         `json:"name"`
	Changes map[string]any `json:"changes,omitempty"`
}

// serveDrift answers Change and Delete.
func (d *daemon) serveDrift(mux *http.ServeMux) {
	handle(mux, "PATCH /resource", func(ctx context.Context, r driftRequest) (Item, error) {
		return d.having(r.Type, r.Name).Change(ctx, r.Type, r.Name, r.Changes)
	})
	handle(mux, "DELETE /resource", func(ctx context.Context, r driftRequest) (Item, error) {
		return d.having(r.Type, r.Name).Remove(ctx, r.Type, r.Name)
	})
}

// having is the cloud that has a resource of a type with an id or a name. Where none has it, it
// is Azure for types that Azure alone has, and otherwise AWS's own account.
func (d *daemon) having(typ, name string) *standin.Cloud {
	onlyAzure := ofAzure(typ) || d.azure.Knows(typ) && !d.accounts.home().Knows(typ)
	if onlyAzure || d.azure.Has(typ, name) {
		return d.azure
	}
	return d.accounts.having(typ, name)
}

// handle answers requests of one kind; what fails is the caller's to change.
func handle[In, Out any](mux *http.ServeMux, pattern string, do func(context.Context, In) (Out, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		var in In
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, "read the request: "+err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(r.Context(), in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		answer(w, out)
	})
}
