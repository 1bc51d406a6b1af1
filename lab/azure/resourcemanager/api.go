// Package resourcemanager is the HTTP API of Azure's Resource Manager in the stand-in, as far as the
// tools of the project ask it: what a subscription has and is allowed, lists of resources,
// and resources by their ids. Resources are made by the provider alone.
package resourcemanager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/authorization"
	"tombolo/lab/standin"
)

// Host serves the API in Azure.
const Host = "management.azure.com"

// Options of an API.
type Options struct {
	// Endpoint is what URLs in answers begin with. Default https://management.azure.com.
	Endpoint string
	// Object is the id of who a token for the API was given to. Default: the tokens that
	// the provider's getClientToken gives are taken, and no others.
	Object func(token string) (string, error)
}

// api answers for one tenant.
type api struct {
	cloud *standin.Cloud
	o     Options

	mu sync.Mutex
	// operations that an answer has named, by the id in their URL.
	operations map[string]*operation
}

// New returns the API of a tenant.
func New(c *standin.Cloud, o Options) http.Handler {
	o.Endpoint = cmp.Or(o.Endpoint, "https://"+Host)
	if o.Object == nil {
		o.Object = func(token string) (string, error) { return object(c, token) }
	}
	a := &api{cloud: c, o: o, operations: map[string]*operation{}}
	mux := http.NewServeMux()
	for question, route := range a.routes() {
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) { a.meet(w, r, question, route.answer) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Paths are the same in any case of their letters. What a path names keeps its own
		// in what is found.
		lower := r.Clone(context.WithValue(r.Context(), asked{}, r.URL.Path))
		lower.URL.Path, lower.URL.RawPath = strings.ToLower(r.URL.Path), ""
		mux.ServeHTTP(w, lower)
	})
}

// route is how a question is answered.
type route struct {
	pattern string
	answer  http.HandlerFunc
}

// routes are the questions that there are an answer to, by the names that faults know them by.
func (a *api) routes() map[string]route {
	answers := func(pattern string, answer func(q *question) (any, error)) route {
		return route{"GET " + pattern, func(w http.ResponseWriter, r *http.Request) { a.answer(w, r, answer) }}
	}
	const one = "/subscriptions/{subscription}"
	return map[string]route{
		"subscriptions":   answers("/subscriptions", a.subscriptions),
		"subscription":    answers(one, a.subscription),
		"locations":       answers(one+"/locations", a.locations),
		"provider":        answers(one+"/providers/{namespace}", a.provider),
		"permissions":     answers(one+"/providers/microsoft.authorization/permissions", a.permissions),
		"sizes":           answers(one+"/providers/microsoft.compute/skus", a.sizes),
		"compute-usages":  answers(one+"/providers/microsoft.compute/locations/{location}/usages", a.vCPUs),
		"network-usages":  answers(one+"/providers/microsoft.network/locations/{location}/usages", a.networkUsages),
		"versions":        answers(one+"/providers/microsoft.containerservice/locations/{location}/kubernetesversions", a.versions),
		"upgrades":        answers(one+"/resourcegroups/{group}/providers/microsoft.containerservice/managedclusters/{cluster}/upgradeprofiles/default", a.upgrades),
		"key-version":     answers(one+"/resourcegroups/{group}/providers/microsoft.keyvault/vaults/{vault}/keys/{key}/versions/{version}", a.keyVersion),
		"operation":       answers(one+"/operationresults/{operation}", a.progress),
		"groups":          answers(one+"/resourcegroups", a.groups),
		"resources":       answers(one+"/resources", a.resources),
		"group-resources": answers(one+"/resourcegroups/{group}/resources", a.resources),
		"register": {"POST " + one + "/providers/{namespace}/register", func(w http.ResponseWriter, r *http.Request) {
			a.answer(w, r, a.register)
		}},
		"get":    answers("/{id...}", a.get),
		"delete": {"DELETE /{id...}", a.remove},
	}
}

// Questions are the names of all questions, sorted.
func Questions() []string { return slices.Sorted(maps.Keys((&api{}).routes())) }

// meet answers a question, or lets the fault happen that waits for it. Sources of the answers:
// https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling
// and https://github.com/microsoft/MLOS/pull/950
func (a *api) meet(w http.ResponseWriter, r *http.Request, question string, answer http.HandlerFunc) {
	kind, err := a.cloud.Meet(r.Context(), question)
	switch {
	case err != nil:
		refuse(w, err)
	case kind == standin.FaultThrottled:
		refuse(w, arm.Answers{}.Exhausted(standin.Request{Operation: standin.OpRead}, kind, 1))
	case kind == standin.FaultServerError:
		refuse(w, &arm.Error{Status: 503, Code: "ServerTimeout", Message: "The request timed out."})
	case kind == standin.FaultAnswerLost:
		answer(unheard{}, r)
		panic(http.ErrAbortHandler) // so the connection ends without an answer
	default:
		answer(w, r)
	}
}

// unheard is where an answer goes that is lost.
type unheard struct{}

func (unheard) Header() http.Header            { return http.Header{} }
func (unheard) Write(text []byte) (int, error) { return len(text), nil }
func (unheard) WriteHeader(int)                {}

// asked is the key of the path of a request as it was sent.
type asked struct{}

// object reads a token of getClientToken's.
func object(c *standin.Cloud, token string) (string, error) {
	claims, err := authorization.Verify(c, token, "https://"+Host+"/")
	if err != nil {
		claims, err = authorization.Verify(c, token, "https://"+Host)
	}
	return claims.Object, err
}

// question is a request, and who asks.
type question struct {
	*http.Request
	caller string
}

// path of the request as it was sent.
func (q *question) path() string {
	path, _ := q.Context().Value(asked{}).(string)
	return path
}

// answer answers a request by a function.
func (a *api) answer(w http.ResponseWriter, r *http.Request, answer func(q *question) (any, error)) {
	q, err := a.admit(r)
	var found any
	if err == nil {
		found, err = answer(q)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, http.StatusOK, found)
}

// admit refuses requests without a version of the API, or without a token that is good. Sources:
// https://learn.microsoft.com/en-us/rest/api/azure/#create-the-request and
// https://github.com/Azure/azure-cli/issues/9310
func (a *api) admit(r *http.Request) (*question, error) {
	token, has := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !has {
		return nil, &arm.Error{Status: 401, Code: "AuthenticationFailed", Message: "Authentication failed. The 'Authorization' header is missing."}
	}
	caller, err := a.o.Object(token)
	if err != nil {
		return nil, &arm.Error{Status: 401, Code: "InvalidAuthenticationToken", Message: "The access token is invalid: " + err.Error() + "."}
	}
	if r.URL.Query().Get("api-version") == "" {
		return nil, &arm.Error{Status: 400, Code: "MissingApiVersionParameter", Message: "The api-version query parameter (?api-version=) is required for all requests."}
	}
	q := &question{r, caller}
	if parts := strings.Split(r.URL.Path, "/"); len(parts) > 2 && parts[1] == "subscriptions" && !arm.KnownSubscription(a.cloud, parts[2]) {
		return nil, &arm.Error{Status: 404, Code: "SubscriptionNotFound", Message: "The subscription '" + parts[2] + "' could not be found."}
	}
	return q, nil
}

// may refuses a caller without the right to an action. The account is not locked. Source:
// https://learn.microsoft.com/en-us/azure/role-based-access-control/troubleshooting
func (a *api) may(q *question, action, id string) error {
	if a.allowed(q, action, id) {
		return nil
	}
	return &arm.Error{Status: 403, Code: "AuthorizationFailed", Message: "The client '" + q.caller + "' with object id '" + q.caller +
		"' does not have authorization to perform action '" + action + "' over scope '" + id + "' or the scope is invalid. If access was recently granted, please refresh your credentials."}
}

func (a *api) allowed(q *question, action, id string) bool {
	defer a.cloud.Lock()()
	for _, role := range arm.RolesOf(a.cloud, q.caller, id) {
		if role.Allows(action) {
			return true
		}
	}
	return false
}

// list is the form of lists.
func list(values any) any { return map[string]any{"value": values} }

// refuse answers with an error in the form of
// https://github.com/microsoft/api-guidelines/blob/vNext/azure/Guidelines.md#handling-errors
func refuse(w http.ResponseWriter, err error) {
	refused := &arm.Error{Status: 500, Code: "InternalServerError", Message: err.Error()}
	errors.As(err, &refused)
	if refused.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "17")
	}
	reply(w, refused.Status, map[string]any{"error": refusal(refused)})
}

func refusal(e *arm.Error) any { return map[string]any{"code": e.Code, "message": e.Message} }

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // to somebody who may be gone
}

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
