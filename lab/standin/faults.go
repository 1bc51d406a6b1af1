package standin

import (
	"slices"
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
)

// operationsOf are the operations that each kind can happen to.
func operationsOf() map[FaultKind][]string {
	all := []string{OpCreate, OpRead, OpUpdate, OpDelete, OpInvoke}
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
