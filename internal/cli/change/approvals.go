package change

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tombolo/internal/cli/fault"
	"tombolo/internal/cli/host"
	"tombolo/internal/render"
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

// approvals is the number, of the host where it is to be asked.
func (j *Judge) approvals(ctx context.Context, status render.Status) (int, error) {
	if !j.Approvals.Auto {
		return j.Approvals.Number, nil
	}
	ctx, cancel := context.WithTimeout(ctx, approvalsTimeout)
	defer cancel()
	var people []string
	err := host.DefaultBackoff().Do(ctx, func(err error) { status.Doing("%v; trying again", err) }, func() error {
		request, err := host.Asked{Lookup: j.Lookup}.Reviewed(ctx, "read reviews")
		if err != nil || request.Number == 0 {
			return err
		}
		people, err = request.Approvals(ctx)
		return err
	})
	if err != nil {
		remedy := cmp.Or(host.AzureRemedy(err), "allow the token to read reviews")
		return 0, fault.NewPrecondition("read the approvals of the change", remedy+", or pass the number of approvals", err)
	}
	if len(people) > 0 {
		status.Doing("approved by %s", strings.Join(people, ", "))
	}
	return len(people), nil
}
