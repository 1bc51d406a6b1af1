package check

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

// mostMemory is what a build may take, in bytes. The largest trees that were
// looked at take a tenth of it.
const mostMemory = 2 << 30

// shut takes from this process what it does not need to build: kustomize looks
// for git on the PATH, and asks by HTTP's common transport. Where the system
// allows it, no file and no connection can be opened from then on.
func shut() error {
	os.Clearenv()
	http.DefaultTransport = refused{}
	// A timer has Go open what it waits with, while it still can.
	<-time.After(time.Nanosecond)
	return openNoMore()
}

// refused is the way out that there is not.
type refused struct{}

func (refused) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s is not in this tree, and nothing is fetched", r.URL.Redacted())
}
