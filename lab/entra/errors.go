package entra

import (
	"fmt"
	"net/http"

	"github.com/google/uuid"
)

// Error is a refusal of Entra's. Codes:
// https://learn.microsoft.com/entra/identity-platform/reference-error-codes
type Error struct {
	// Status is the HTTP status, Name the one of OAuth such as invalid_client.
	Status int
	Name   string
	// Code is the number after AADSTS.
	Code    int
	Message string
}

// Error says it as clients do.
func (e *Error) Error() string { return fmt.Sprintf("%s: AADSTS%d: %s", e.Name, e.Code, e.Message) }

// refuse answers with an error. Source of its form:
// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow#error-response-1
func (e *Entra) refuse(w http.ResponseWriter, r *http.Request, why *Error) {
	trace, correlation := uuid.NewString(), r.Header.Get("Client-Request-Id")
	if correlation == "" {
		correlation = uuid.NewString()
	}
	at := e.o.Now().UTC().Format("2006-01-02 15:04:05Z")
	answer(w, why.Status, map[string]any{
		"error":             why.Name,
		"error_description": fmt.Sprintf("AADSTS%d: %s Trace ID: %s Correlation ID: %s Timestamp: %s", why.Code, why.Message, trace, correlation, at),
		"error_codes":       []int{why.Code},
		"timestamp":         at, "trace_id": trace, "correlation_id": correlation,
		"error_uri": fmt.Sprintf("https://%s/error?code=%d", LoginHost, why.Code),
	})
}

// badRequest is a refusal of a request that is wrong in itself.
func badRequest(name string, code int, format string, args ...any) *Error {
	return &Error{http.StatusBadRequest, name, code, fmt.Sprintf(format, args...)}
}

// badClient is a refusal of a client that does not prove who it is.
func badClient(code int, format string, args ...any) *Error {
	return &Error{http.StatusUnauthorized, "invalid_client", code, fmt.Sprintf(format, args...)}
}
