package standin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tombolo/lab/control"
)

// FaultKind is how a request to the cloud goes wrong.
type FaultKind = control.FaultKind

// The kinds of faults.
const (
	// FaultThrottled requests are refused because there are too many. The
	// provider repeats them.
	FaultThrottled FaultKind = "throttled"
	// FaultServerError is a failure of the cloud's own, with an HTTP status of 500
	// or above. The provider repeats the request.
	FaultServerError FaultKind = "server-error"
	// FaultAnswerLost requests work, but their answer never arrives. The
	// provider does not repeat them here.
	FaultAnswerLost FaultKind = "answer-lost"
	// FaultNotFound: what exists is not found yet when it is read, as a
	// refresh does or the provider itself right after a creation. After a
	// creation the provider looks again.
	FaultNotFound FaultKind = "not-found"
	// FaultSlow requests take longer.
	FaultSlow FaultKind = "slow"
	// FaultQuota: a creation exceeds a quota of the account.
	FaultQuota FaultKind = "quota"
)

// The operations that faults happen to.
const (
	OpCreate = "create"
	OpRead   = "read"
	OpUpdate = "update"
	OpDelete = "delete"
	OpInvoke = "invoke"
	// OpAsk is a question to the API of the cloud past the provider, which tries none again.
	OpAsk = "ask"
)

// operationsOf are the operations that each kind can happen to.
func operationsOf() map[FaultKind][]string {
	all := []string{OpCreate, OpRead, OpUpdate, OpDelete, OpInvoke, OpAsk}
	return map[FaultKind][]string{
		FaultThrottled: all, FaultServerError: all, FaultAnswerLost: all, FaultSlow: all,
		FaultNotFound: {OpCreate, OpRead}, FaultQuota: {OpCreate},
	}
}

// anyType stands for every resource type, or function.
const anyType = "*"

// defaultDelay is that of slow requests.
const defaultDelay = 5 * time.Second

// Attempts that the provider makes of a request that is throttled or meets an
// error of the cloud's own. Real ones make more (AWS's makes 25:
// https://registry.terraform.io/providers/hashicorp/aws/latest/docs#max_retries),
// with pauses that the stand-in leaves out.
const Attempts = 4

// Fault makes requests go wrong.
type Fault = control.Fault

// Faults are those that wait for a request, of one cloud or of several.
type Faults struct {
	mu   sync.Mutex
	last int
	list []Fault
}

// take is the oldest fault of some kinds that happens to a request; it has
// happened then.
func (l *Faults) take(r Request, kinds ...FaultKind) (Fault, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.list, func(f Fault) bool {
		return f.Operation == r.Operation && (f.Type == anyType || f.Type == r.Token) && slices.Contains(kinds, f.Kind)
	})
	if i < 0 {
		return Fault{}, false
	}
	taken := l.list[i]
	if l.list[i].Count--; l.list[i].Count == 0 {
		l.list = slices.Delete(l.list, i, i+1)
	}
	return taken, true
}

// AddFault makes the next requests of a kind go wrong.
func (c *Cloud) AddFault(f Fault) (Fault, error) {
	operations, known := operationsOf()[f.Kind]
	if !known {
		return f, fmt.Errorf("add a fault: there is no kind %q; use one of %s", f.Kind, strings.Join(kindNames(), ", "))
	}
	if !slices.Contains(operations, f.Operation) {
		return f, fmt.Errorf("add a fault: %s cannot happen to %q; use %s", f.Kind, f.Operation, strings.Join(operations, ", "))
	}
	if f.Count < 0 || f.Delay < 0 {
		return f, errors.New("add a fault: count and delay cannot be negative")
	}
	var err error
	if f.Type, err = c.FaultType(f); err != nil {
		return f, fmt.Errorf("add a fault: %w", err)
	}
	f.Count = max(f.Count, 1)
	if f.Delay = cmp.Or(f.Delay, defaultDelay); f.Kind != FaultSlow {
		f.Delay = 0
	}
	c.faults.mu.Lock()
	defer c.faults.mu.Unlock()
	c.faults.last++
	f.ID = c.faults.last
	c.faults.list = append(c.faults.list, f)
	return f, nil
}

func kindNames() []string {
	var names []string
	for kind := range operationsOf() {
		names = append(names, string(kind))
	}
	slices.Sort(names)
	return names
}

// FaultType is the token that a fault's type means; "*" is any. The error says that the cloud
// knows none.
func (c *Cloud) FaultType(f Fault) (string, error) {
	if f.Type == anyType {
		return anyType, nil
	}
	switch f.Operation {
	case OpInvoke:
		return c.resolved(f.Type, SortedKeys(c.catalogue.Functions), "function")
	case OpAsk:
		if len(c.catalogue.Questions) == 0 {
			return "", fmt.Errorf("no fault can happen to questions to %s past its provider", c.catalogue.Cloud)
		}
		return c.resolved(f.Type, c.catalogue.Questions, "question")
	}
	return c.resolved(f.Type, SortedKeys(c.catalogue.Types), "resource type")
}

// Faults lists the faults that wait for a request, the oldest first.
func (c *Cloud) Faults() []Fault {
	c.faults.mu.Lock()
	defer c.faults.mu.Unlock()
	return slices.Clone(c.faults.list)
}

// ClearFaults forgets faults, all of them when no ids are given, and returns
// how many it forgot.
func (c *Cloud) ClearFaults(ids ...int) int {
	c.faults.mu.Lock()
	defer c.faults.mu.Unlock()
	before := len(c.faults.list)
	c.faults.list = slices.DeleteFunc(c.faults.list, func(f Fault) bool {
		return len(ids) == 0 || slices.Contains(ids, f.ID)
	})
	return before - len(c.faults.list)
}

// meet lets faults happen to a request: those that keep it from being done,
// before run does it, and the loss of its answer afterwards.
func meet[T any](ctx context.Context, c *Cloud, r Request, run func() (T, error)) (T, error) {
	var none T
	if err := c.hinder(ctx, r); err != nil {
		return none, err
	}
	done, err := run()
	if err != nil {
		return done, err
	}
	if _, lost := c.faults.take(r, FaultAnswerLost); lost {
		return none, c.catalogue.Answers.Unanswered(r)
	}
	return done, nil
}

// hinder tries a request as often as the provider does, and returns the error
// of the last try; nil when it comes through.
func (c *Cloud) hinder(ctx context.Context, r Request) error {
	for tries := 1; ; {
		f, found := c.faults.take(r, FaultSlow, FaultQuota, FaultThrottled, FaultServerError)
		switch {
		case !found:
			return nil
		case f.Kind == FaultSlow:
			if err := c.wait(ctx, f.Delay); err != nil {
				return err
			}
			continue
		case f.Kind == FaultQuota:
			return c.overQuota(r)
		case tries == Attempts:
			return c.catalogue.Answers.Exhausted(r, f.Kind, Attempts)
		}
		tries++
	}
}

// Meet lets the oldest fault of a question happen, and returns how it goes wrong, "" for not at
// all. A slow one has taken its time then. The caller answers.
func (c *Cloud) Meet(ctx context.Context, question string) (FaultKind, error) {
	f, found := c.faults.take(Request{Operation: OpAsk, Token: question}, FaultSlow, FaultThrottled, FaultServerError, FaultAnswerLost)
	if found && f.Kind == FaultSlow {
		return "", c.wait(ctx, f.Delay)
	}
	return f.Kind, nil
}

// overQuota is the refusal of a creation for which the account has no quota left.
func (c *Cloud) overQuota(r Request) error {
	why := c.catalogue.LimitExceeded
	if typ := c.catalogue.Types[r.Token]; typ != nil && typ.LimitExceeded.Code != "" {
		why = typ.LimitExceeded
	}
	return c.catalogue.Answers.Refused(r, why)
}

// unread is the error of a creation that worked, but whose resource is not
// found afterwards. The provider has its id all the same.
type unread struct {
	record *Record
	noun   string
}

func (e *unread) Error() string {
	return fmt.Sprintf("waiting for %s (%s) create: couldn't find resource (%d retries)", e.noun, e.record.ID, Attempts)
}

// awaitSeen looks for what was just created, as the provider does before it goes on.
func (c *Cloud) awaitSeen(r Request, made *Record) error {
	for range Attempts {
		if _, hidden := c.faults.take(r, FaultNotFound); !hidden {
			return nil
		}
	}
	return &unread{record: made, noun: r.Noun}
}
