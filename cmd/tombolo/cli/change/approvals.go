package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"tombolo/automation/plan"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/host"
	"tombolo/cmd/tombolo/render"
	"tombolo/internal/wording"
)

// Approvals say how many people have approved a change. It is the value of a flag.
type Approvals struct {
	// Number of people.
	Number int
	// Auto has the Git host asked for the number.
	Auto bool
}

// auto is what the flag says for Approvals.Auto.
const auto = "auto"

// Set reads the flag.
func (a *Approvals) Set(text string) error {
	if text == auto {
		*a = Approvals{Auto: true}
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fmt.Errorf("it is a number of people, or %s", auto)
	}
	*a = Approvals{Number: n}
	return nil
}

// String is how the flag is written.
func (a *Approvals) String() string {
	if a.Auto {
		return auto
	}
	return strconv.Itoa(a.Number)
}

// Type is how the flag's value is called.
func (*Approvals) Type() string { return "people" }

// approvalsTimeout bounds the questions to the host together.
const approvalsTimeout = time.Minute

// approvals are the number, of the host where it is to be asked: about the job's own request, or,
// where something is applied, about each that has brought it, whatever the job is for.
func (j *Judge) approvals(ctx context.Context, status render.Status) plan.Approvals {
	switch {
	case j.Approvals.Auto && j.Brought != nil:
		return j.ofEach(ctx, status)
	case j.Approvals.Auto:
		once := sync.OnceValues(func() (int, error) { return j.ofOwn(ctx, status) })
		return func(string) (int, error) { return once() }
	}
	return func(string) (int, error) { return j.Approvals.Number, nil }
}

// ofOwn are the approvals of the job's own request. There are none where the host does not tell
// who has committed it: people have to see its preview all the same.
func (j *Judge) ofOwn(ctx context.Context, status render.Status) (int, error) {
	people, err := ask(ctx, status, func(ctx context.Context) ([]string, error) {
		request, err := host.Asked{Lookup: j.Lookup}.Reviewed(ctx, readReviews)
		if err != nil || request.Number == 0 {
			return nil, err
		}
		return request.Approvals(ctx)
	})
	if untold := new(host.Untold); errors.As(err, &untold) {
		status.Plain("! nobody is known to have approved the change: %v", untold)
		return 0, nil
	}
	if err == nil && len(people) > 0 {
		status.Doing("approved by %s", strings.Join(people, ", "))
	}
	return len(people), err
}

// readReviews is what a token has to be allowed.
const readReviews = "read reviews"

// ofEach are the approvals of the request with the fewest, of those that have changed the cluster
// since a plan of it was applied. Without such a request there are none: nobody has approved what
// else would change it.
func (j *Judge) ofEach(ctx context.Context, status render.Status) plan.Approvals {
	known := map[int]int{} // by the requests' numbers
	return func(cluster string) (int, error) {
		line, err := j.Brought(ctx, cluster)
		if err != nil {
			return 0, err
		}
		requests, err := ask(ctx, status, func(ctx context.Context) ([]host.Request, error) {
			return host.Asked{Lookup: j.Lookup}.Brought(ctx, readReviews, line.Brought, line.Commits)
		})
		if err != nil {
			return 0, err
		}
		if len(requests) == 0 {
			status.Doing("%s: no request has changed it since the last apply", cluster)
			return 0, nil
		}
		least := -1
		for _, r := range requests {
			n, ok := known[r.Number]
			if !ok {
				people, err := ask(ctx, status, r.Approvals)
				if err != nil {
					return 0, err
				}
				n, known[r.Number] = len(people), len(people)
			}
			status.Doing("%s: request %d has changed it, with %s", cluster, r.Number, wording.Count(n, "approval"))
			if least < 0 || n < least {
				least = n
			}
		}
		return least, nil
	}
}

// ask asks the host, again where it cannot answer. What it does not tell passes nothing.
func ask[T any](ctx context.Context, status render.Status, question func(context.Context) (T, error)) (answer T, err error) {
	ctx, cancel := context.WithTimeout(ctx, approvalsTimeout)
	defer cancel()
	err = host.DefaultBackoff().Do(ctx, func(err error) { status.Doing("%v; trying again", err) }, func() (err error) {
		answer, err = question(ctx)
		return err
	})
	if own := new(fault.Error); err != nil && !errors.As(err, &own) {
		remedy := cmp.Or(host.AzureRemedy(err), "allow the token to read reviews, commits and pushes")
		err = fault.NewPrecondition("read the approvals of the change", remedy+", or pass the number of approvals", err)
	}
	return answer, err
}
