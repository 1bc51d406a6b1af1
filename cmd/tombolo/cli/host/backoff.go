package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"tombolo/internal/sleep"
)

// Backoff has the pauses between attempts at work that fails for a transient
// reason. The zero value makes no second attempt.
type Backoff []time.Duration

// DefaultBackoff is long enough for a restart of the host, and short if there is no
// host.
func DefaultBackoff() Backoff { return Backoff{time.Second, 4 * time.Second, 15 * time.Second} }

// longestPause is the longest pause that a host may ask for: a job does not wait for
// the hour after which GitHub resets its limit.
const longestPause = time.Minute

// Do repeats work, after a pause, as long as the host cannot answer. The work must
// first check whether it is done: the answer to an earlier attempt may be lost. retry
// is called with each failure before another attempt.
func (b Backoff) Do(ctx context.Context, retry func(error), work func() error) error {
	for _, pause := range b {
		err := work()
		wanted, again := transient(err)
		if !again || ctx.Err() != nil {
			return err
		}
		if wanted > longestPause {
			return fmt.Errorf("%w, and asks to wait %s", err, wanted)
		}
		retry(err)
		if sleep.For(ctx, max(pause, wanted)) != nil {
			return err
		}
	}
	return work()
}

// transient says whether another attempt may succeed, and how long the host asks to
// wait before it.
func transient(err error) (time.Duration, bool) {
	if e := new(Error); errors.As(err, &e) {
		return e.After, e.Limited || e.Code >= http.StatusInternalServerError && e.Code != http.StatusNotImplemented
	}
	lost := new(url.Error)
	return 0, errors.As(err, &lost)
}
