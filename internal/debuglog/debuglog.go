// Package debuglog logs what a command begins, and how long it takes, for people who look for the
// cause of a failure. The log is slog.Default at the level debug, which nobody sees until
// Enable. It names programs, hosts, paths and files, and never a value: arguments, queries,
// headers and bodies may be secrets.
package debuglog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"
)

// Logger writes everything that this module logs to w, a line for each record. What libraries log
// at the level debug is left out: nobody has looked for secrets in it.
func Logger(w io.Writer) *slog.Logger {
	return slog.New(ownRecords{slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})})
}

// module begins the names of all functions of this module.
const module = "tombolo/"

// ownRecords leaves out the debug records of libraries.
type ownRecords struct{ slog.Handler }

func (h ownRecords) Handle(ctx context.Context, r slog.Record) error {
	frame, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
	if r.Level < slog.LevelInfo && !strings.HasPrefix(frame.Function, module) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h ownRecords) WithAttrs(attrs []slog.Attr) slog.Handler {
	return ownRecords{h.Handler.WithAttrs(attrs)}
}

func (h ownRecords) WithGroup(name string) slog.Handler { return ownRecords{h.Handler.WithGroup(name)} }

// Enabled says whether anybody sees the log.
func Enabled(ctx context.Context) bool { return slog.Default().Enabled(ctx, slog.LevelDebug) }

// Begin logs that something begins. The returned function logs that it ends, with the time that it
// took and more attributes; it logs whether there was an error, and not its text.
func Begin(ctx context.Context, what string, attrs ...slog.Attr) (end func(err error, more ...slog.Attr)) {
	if !Enabled(ctx) {
		return func(error, ...slog.Attr) {}
	}
	log := func(state string, more ...slog.Attr) {
		slog.LogAttrs(ctx, slog.LevelDebug, what+" "+state, append(append([]slog.Attr{}, attrs...), more...)...)
	}
	log("begins")
	began := time.Now()
	return func(err error, more ...slog.Attr) {
		more = append(more, slog.Duration("took", time.Since(began).Round(time.Millisecond)))
		if err != nil {
			more = append(more, slog.String("error", kindOf(err)))
		}
		log("ends", more...)
	}
}

// kindOf is the kind of an error. Its text may have what a server or a program has answered.
func kindOf(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return fmt.Sprintf("%T", err)
}

// Process logs the start and the end of a child process.
func Process(ctx context.Context, program string, args ...string) (end func(err error, more ...slog.Attr)) {
	return Begin(ctx, "process", slog.String("command", Command(program, args...)))
}

// Command is a command line without what may be a secret: the program, at most two words of
// subcommands, and the names of flags. Of values it has those of --stack alone.
func Command(program string, args ...string) string {
	words := []string{program[strings.LastIndexByte(program, '/')+1:]}
	at := 0
	for at < len(args) && at < 2 && isSubcommand(args[at]) {
		words = append(words, args[at])
		at++
	}
	left := 0
	for ; at < len(args) && args[at] != "--"; at++ {
		name, value, given := strings.Cut(args[at], "=")
		switch {
		case !strings.HasPrefix(name, "-"):
			left++
		case name == "--stack" && given:
			words = append(words, name+"="+value)
		case name == "--stack" && at+1 < len(args):
			at++
			words = append(words, name, args[at])
		case isFlag(name):
			words = append(words, name)
		default:
			left++
		}
	}
	if left += len(args) - at; left > 0 {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}

func isSubcommand(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-") == "" && word[0] != '-'
}

// isFlag tells the name of a long flag from a short one, which may have its value behind it.
func isFlag(name string) bool {
	long, ok := strings.CutPrefix(name, "--")
	return ok && isSubcommand(long)
}

// Transport logs the requests that go through next, http.DefaultTransport if it is nil: method,
// host, path, status and time.
func Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return transport{next}
}

type transport struct{ next http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	end := Begin(r.Context(), "request", slog.String("method", r.Method), slog.String("host", r.URL.Host), slog.String("path", r.URL.Path))
	response, err := t.next.RoundTrip(r)
	if err != nil {
		end(err)
		return response, err
	}
	end(nil, slog.Int("status", response.StatusCode))
	return response, nil
}

// CloseIdleConnections has the connections of the wrapped transport closed.
func (t transport) CloseIdleConnections() { (&http.Client{Transport: t.next}).CloseIdleConnections() }

// WrappedRoundTripper is the transport that the requests go through, for libraries that look for it.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.next }
