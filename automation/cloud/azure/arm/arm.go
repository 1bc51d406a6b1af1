// Package arm asks Azure's Resource Manager over HTTPS, for what no function of the provider
// tells: what has a tag, quotas, rights. It reads, and deletes; core makes what there is.
package arm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"tombolo/internal/debuglog"
	"tombolo/internal/proxies"
	"tombolo/internal/sleep"
)

// Public is the Resource Manager of Azure's public cloud.
const Public = "https://management.azure.com"

// Client asks the Resource Manager. All fields are required but Poll.
type Client struct {
	// Endpoint of the Resource Manager, without a slash at its end.
	Endpoint string
	// Token is the bearer token of each request.
	Token string
	// HTTP sends the requests.
	HTTP *http.Client
	// Poll is the time between two looks at a deletion, where Azure names none. Default 5s.
	Poll time.Duration
}

// requestTimeout bounds one request: the Resource Manager answers within seconds.
const requestTimeout = time.Minute

// HTTP is a client that reaches the internet as the environment says: env reads
// HTTPS_PROXY and NO_PROXY, and SSL_CERT_FILE with the certificates to trust besides the
// system's.
func HTTP(env func(string) string) (*http.Client, error) {
	choose := proxies.Of(env)
	transport := &http.Transport{Proxy: func(r *http.Request) (*url.URL, error) { return choose(r.URL) }}
	if file := env("SSL_CERT_FILE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the certificates that SSL_CERT_FILE names: %w", err)
		}
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		roots.AppendCertsFromPEM(pem)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: debuglog.Transport(transport), Timeout: requestTimeout}, nil
}

// Error is a refusal. Source of its form:
// https://github.com/microsoft/api-guidelines/blob/vNext/azure/Guidelines.md#handling-errors
type Error struct {
	// Status of the answer.
	Status int
	// Code and Message of the refusal; Code is "" where the answer has none.
	Code, Message string
}

func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("status %d: %s", e.Status, e.Message)
	}
	return e.Code + ": " + e.Message
}

// IsMissing says that an error is of what does not exist.
func IsMissing(err error) bool {
	refused := new(Error)
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// IsForbidden says that an error is of what the caller may not do.
func IsForbidden(err error) bool {
	refused := new(Error)
	return errors.As(err, &refused) && refused.Status == http.StatusForbidden
}

// Get reads what is at a path, such as a resource's id, into the value.
func (c Client) Get(ctx context.Context, path, version string, into any) error {
	body, _, err := c.send(ctx, http.MethodGet, c.address(path, version, ""))
	if err != nil {
		return fmt.Errorf("get %s: %w", path, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("get %s: read the answer: %w", path, err)
	}
	return nil
}

// List reads all pages of a list. query has parameters besides the version, with their values escaped; it
// may be "".
func List[T any](ctx context.Context, c Client, path, version, query string) ([]T, error) {
	var out []T
	for next := c.address(path, version, query); next != ""; {
		body, _, err := c.send(ctx, http.MethodGet, next)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", path, err)
		}
		var page struct {
			Value    []T    `json:"value"`
			NextLink string `json:"nextLink"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, fmt.Errorf("list %s: read the answer: %w", path, err)
		}
		out, next = append(out, page.Value...), page.NextLink
	}
	return out, nil
}

// Delete deletes a resource, and waits until it is gone. One that is gone is no error. Source
// of how a deletion goes on after its answer:
// https://learn.microsoft.com/azure/azure-resource-manager/management/async-operations
func (c Client) Delete(ctx context.Context, id, version string) error {
	_, header, err := c.send(ctx, http.MethodDelete, c.address(id, version, ""))
	for err == nil {
		operation := header.Get("Azure-AsyncOperation")
		at := cmp.Or(operation, header.Get("Location"))
		if at == "" {
			return nil
		}
		if err = sleep.For(ctx, c.pause(header)); err != nil {
			break
		}
		var body []byte
		var answer http.Header
		if body, answer, err = c.send(ctx, http.MethodGet, at); err != nil {
			break
		}
		var done bool
		if done, err = over(body, answer, operation != ""); done {
			break
		}
		if answer.Get("Retry-After") != "" {
			header.Set("Retry-After", answer.Get("Retry-After"))
		}
	}
	if err != nil && !IsMissing(err) {
		return fmt.Errorf("delete %s: %w", id, err)
	}
	return nil
}

// statusHeader has the status of an answer, for over.
const statusHeader = "Tombolo-Status"

// over says whether an operation has come to its end. A URL of Azure-AsyncOperation tells by
// its body, one of Location by its status.
func over(body []byte, answer http.Header, tells bool) (bool, error) {
	if !tells {
		return answer.Get(statusHeader) != strconv.Itoa(http.StatusAccepted), nil
	}
	var operation struct {
		Status string
		Error  struct{ Code, Message string }
	}
	if err := json.Unmarshal(body, &operation); err != nil {
		return true, fmt.Errorf("read the state of the operation: %w", err)
	}
	switch operation.Status {
	case "Succeeded":
		return true, nil
	case "Failed", "Canceled":
		return true, &Error{Code: cmp.Or(operation.Error.Code, operation.Status), Message: operation.Error.Message}
	}
	return false, nil
}

// pause is how long Azure asks to wait.
func (c Client) pause(header http.Header) time.Duration {
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil {
		return time.Duration(seconds) * time.Second
	}
	return cmp.Or(c.Poll, 5*time.Second)
}

func (c Client) address(path, version, query string) string {
	at := c.Endpoint + path + "?api-version=" + version
	if query != "" {
		at += "&" + query
	}
	return at
}

// Filter is a query by a filter in OData's words.
func Filter(expression string) string { return "$filter=" + url.QueryEscape(expression) }

// Tagged is the filter for a tag with a value. Resources that it finds come without tags:
// https://learn.microsoft.com/rest/api/resources/resources/list
func Tagged(tag, value string) string {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return Filter("tagName eq " + quoted(tag) + " and tagValue eq " + quoted(value))
}

// tries of a request that Azure asks to slow down, that met an error of the server's own, or got
// no answer: to read and to delete do the same when they are done twice.
const tries = 3

// Tired is in the text of the error of a request that was given up after all tries: the same
// request may work later.
var Tired = fmt.Sprintf("after %d tries", tries)

// IsPassing says that an error is of what passes by itself.
func IsPassing(err error) bool {
	if refused := new(Error); errors.As(err, &refused) {
		return refused.Status == http.StatusTooManyRequests || refused.Status >= http.StatusInternalServerError
	}
	unanswered := new(url.Error)
	return errors.As(err, &unanswered)
}

// send sends a request, and again when what it meets passes by itself. Only what the Resource
// Manager itself has named is asked: the token is not for others.
func (c Client) send(ctx context.Context, method, at string) ([]byte, http.Header, error) {
	if !strings.HasPrefix(at, c.Endpoint+"/") {
		return nil, nil, errors.New(c.away(at))
	}
	for try := 1; ; try++ {
		body, header, err := c.once(ctx, method, at)
		if !IsPassing(err) || ctx.Err() != nil {
			return body, header, err
		}
		if try == tries {
			return nil, nil, fmt.Errorf("%s: %w", Tired, err)
		}
		if waited := sleep.For(ctx, c.pause(header)); waited != nil {
			return nil, nil, errors.Join(err, waited)
		}
	}
}

func (c Client) away(to string) string {
	return fmt.Sprintf("the answer leads to %s, away from %s", to, c.Endpoint)
}

func (c Client) once(ctx context.Context, method, at string) ([]byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, method, at, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	client := *c.HTTP
	// The token would go along.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	response.Header.Set(statusHeader, strconv.Itoa(response.StatusCode))
	if to := response.Header.Get("Location"); response.StatusCode/100 == 3 {
		return nil, nil, &Error{Status: response.StatusCode, Message: c.away(to)}
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, response.Header, refusal(response.StatusCode, body)
	}
	return body, response.Header, nil
}

// refusal reads the body of an answer that refuses.
func refusal(status int, body []byte) *Error {
	var said struct{ Error Error }
	if json.Unmarshal(body, &said) != nil || said.Error.Code == "" {
		text, _, _ := strings.Cut(string(bytes.TrimSpace(body)), "\n")
		return &Error{Status: status, Message: cmp.Or(text, http.StatusText(status))}
	}
	return &Error{Status: status, Code: said.Error.Code, Message: said.Error.Message}
}
