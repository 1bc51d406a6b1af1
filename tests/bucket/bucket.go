// Package bucket serves an S3 bucket on loopback, for tests of what keeps its state
// in one.
package bucket

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const name = "state"

// Bucket is an empty bucket until something is put into it.
type Bucket struct {
	url     string
	backend *s3mem.Backend

	mu       sync.Mutex
	readOnly bool
	refused  []string
}

// Serve serves a bucket until the test ends.
func Serve(t *testing.T) *Bucket {
	t.Helper()
	b := &Bucket{backend: s3mem.New()}
	if err := b.backend.CreateBucket(name); err != nil {
		t.Fatalf("make a bucket: %v", err)
	}
	s3 := gofakes3.New(b.backend, gofakes3.WithLogger(gofakes3.StdLog(log.New(io.Discard, "", 0)))).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.forbids(r) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
			return
		}
		s3.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	query := url.Values{"endpoint": {server.URL}, "s3ForcePathStyle": {"true"}, "region": {"eu-central-1"}}
	b.url = "s3://" + name + "?" + query.Encode()
	return b
}

// URL of the bucket, as Pulumi takes it.
func (b *Bucket) URL() string { return b.url }

// SetReadOnly has the bucket refuse whatever would change it, as it refuses a role
// that may only read, or take that again.
func (b *Bucket) SetReadOnly(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readOnly, b.refused = on, nil
}

// Refused are the requests that the bucket has refused since it is read-only.
func (b *Bucket) Refused() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

func (b *Bucket) forbids(r *http.Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.readOnly || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return false
	}
	b.refused = append(b.refused, r.Method+" "+r.URL.Path)
	return true
}

// Objects are what is in the bucket, by key.
func (b *Bucket) Objects(t *testing.T) map[string]string {
	t.Helper()
	list, err := b.backend.ListBucket(name, nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatalf("list the bucket: %v", err)
	}
	out := map[string]string{}
	for _, entry := range list.Contents {
		object, err := b.backend.GetObject(name, entry.Key, nil)
		if err != nil {
			t.Fatalf("read %s of the bucket: %v", entry.Key, err)
		}
		content, err := io.ReadAll(object.Contents)
		if err != nil {
			t.Fatalf("read %s of the bucket: %v", entry.Key, err)
		}
		out[entry.Key] = string(content)
		if err := object.Contents.Close(); err != nil {
			t.Fatalf("read %s of the bucket: %v", entry.Key, err)
		}
	}
	return out
}

// Put puts an object into the bucket, also while it is read-only.
func (b *Bucket) Put(t *testing.T, key, content string) {
	t.Helper()
	_, err := b.backend.PutObject(name, key, nil, strings.NewReader(content), int64(len(content)), nil)
	if err != nil {
		t.Fatalf("put %s into the bucket: %v", key, err)
	}
}
