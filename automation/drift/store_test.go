package drift

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStore(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "a", "drift")}
	if r, err := s.Load("demo"); r != nil || err != nil {
		t.Fatalf("before the first one: %v, %v", r, err)
	}
	want := Report{
		Cluster: "demo", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Stacks: []Stack{{Stack: "demo-core", Resources: 3}},
		Differences: []Difference{{Class: Missing, Type: vpcType, Name: "demo"}}, Seconds: 1.5,
	}
	for _, r := range []Report{{Cluster: "demo", Error: "an older one"}, want} {
		if err := s.Save(r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Load("demo")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	files, err := os.ReadDir(s.Dir)
	if err != nil || len(files) != 1 {
		t.Errorf("the directory holds %v, %v", files, err)
	}
}

func TestStoreBroken(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.Dir, "demo.json"), []byte(`{"cluster":`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.Load("demo")
	if err == nil || !strings.HasPrefix(err.Error(), "read the last drift of cluster demo from "+s.Dir) ||
		!strings.HasSuffix(err.Error(), "unexpected end of JSON input; delete the file, `tombolo drift` writes it again") {
		t.Errorf("error is %v", err)
	}
}
