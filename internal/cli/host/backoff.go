package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Patience are the pauses after which work is done again that failed for a
// reason which goes away by itself. The zero value has none.
type Patience []time.Duration

// Usual outlasts a restart of the host, and is soon over when there is none.
func Usual() Patience { return Patience{time.Second, 4 * time.Second, 15 * time.Second} }

// longestPause is the longest that a host may ask for: a job is not held up for
// the hour after which GitHub counts anew.
const longestPause = time.Minute

// Do does work again, after a pause, as long as the host cannot answer. The work
// must look first whether it is done: an answer may be lost after it was. told
// hears of each failure that is followed by another attempt.
func (p Patience) Do(ctx context.Context, told func(error), work func() error) error {
	for _, pause := range p {
		err := work()
		wanted, again := passing(err)
		if !again || ctx.Err() != nil {
			return err
		}
		if wanted > longestPause {
			return fmt.Errorf("%w, and wants to be left alone for %s", err, wanted)
		}
		told(err)
		if !wait(ctx, max(pause, wanted)) {
			return err
		}
	}
	return work()
}

// passing says whether an error goes away by itself, and how long the host wants
// to be left alone.
func passing(err error) (time.Duration, bool) {
	if e := new(Error); errors.As(err, &e) {
		return e.After, e.Limited || e.Code >= http.StatusInternalServerError && e.Code != http.StatusNotImplemented
	}
	lost := new(url.Error)
	return 0, errors.As(err, &lost)
}

// wait says whether the pause was waited out.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
