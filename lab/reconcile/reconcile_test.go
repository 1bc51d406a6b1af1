package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

// TestLoop: an object is worked on when it is there, again after a failure, when it
// is asked for, and when it is gone.
func TestLoop(t *testing.T) {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	factory := informers.NewSharedInformerFactory(client, 0)
	seen, failed := make(chan any, 10), make(chan error, 10)
	broken := errors.New("not yet")
	first := true
	l := New(Options{
		Factory: factory, Informers: map[string]cache.SharedIndexInformer{"namespace": factory.Core().V1().Namespaces().Informer()},
		Workers: 1, Least: time.Millisecond, Most: time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Do: func(_ context.Context, o Object, object any) error {
			if o.String() != "namespace a" {
				t.Errorf("worked on %s", o)
			}
			if first {
				first = false
				return broken
			}
			seen <- object
			return nil
		},
		Failed: func(_ Object, err error) { failed <- err },
	})
	l.Start()
	if err := <-failed; !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if object := <-seen; object.(*corev1.Namespace).Name != "a" {
		t.Errorf("saw %v", object)
	}
	l.AddAll()
	if object := <-seen; object == nil {
		t.Error("what is asked for is gone")
	}
	assert.NilError(t, client.CoreV1().Namespaces().Delete(t.Context(), "a", metav1.DeleteOptions{}))
	if object := <-seen; object != nil {
		t.Errorf("what is gone is %v", object)
	}
	l.End()
}
