package rollout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/automation/fault"
	"tombolo/config"
)

// at is a moment of the tests' clock, in minutes.
func at(minutes int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
}

// recorded runs an operation on clusters of one wave each, with a journal that
// begins at a minute, and fails those of bad.
func recorded(t *testing.T, d Journals, operation string, minute int, names []string, bad ...string) Record {
	t.Helper()
	h := Header{Operation: operation, Started: at(minute), Selection: Selection{All: true}, Options: map[string]string{"refresh": "true"}}
	var jobs []Job
	for i, name := range names {
		h.Clusters = append(h.Clusters, HeaderCluster{Name: name, Wave: i})
		jobs = append(jobs, job(name, i, 0))
	}
	j, err := d.Begin(h)
	assert.NilError(t, err)
	defer j.Close()
	attempt(t, j, operation, minute, jobs, nil, bad...)
	records, err := d.Records(0)
	assert.NilError(t, err)
	return records[slices.IndexFunc(records, func(r Record) bool { return r.ID == j.id })]
}

// attempt runs jobs; each takes as many seconds as its name has letters.
func attempt(t *testing.T, j *Journal, operation string, minute int, jobs []Job, passed []int, bad ...string) {
	t.Helper()
	now := at(minute)
	r := Runner{
		Operation: operation, Waves: true, Journal: j, Passed: passed, Now: func() time.Time { return now },
		Gate: Gate(func(context.Context, string) error { return nil }),
		Work: func(_ context.Context, name string) (Work, error) {
			now = now.Add(time.Duration(len(name)) * time.Second)
			if slices.Contains(bad, name) {
				return Work{Phase: "core"}, errors.New("no quota")
			}
			return Work{Phase: "bootstrap", Changes: map[string]int{"create": 7}}, nil
		},
	}
	if summary, err := r.Run(t.Context(), jobs); err != nil || summary.Journal != nil {
		t.Fatal(err, summary.Journal)
	}
}

func TestJournal(t *testing.T) {
	d := Journals{Dir: filepath.Join(t.TempDir(), "journal")}
	r := recorded(t, d, "up", 0, []string{"a", "bb", "c"}, "bb")
	assert.Check(t, r.Operation == "up" && r.Outcome == Failed && r.Options["refresh"] == "true" && r.Selection.All && slices.Equal(r.Passed, []int{0}),
		"got %+v", r)
	want := RecordedEnd{Outcome: Succeeded, Phase: "bootstrap", Changes: map[string]int{"create": 7}, Started: at(0), Finished: at(0).Add(time.Second), Duration: time.Second}
	assert.Check(t, reflect.DeepEqual(r.Ends["a"], want), "a: got %+v, want %+v", r.Ends["a"], want)
	e := r.Ends["bb"]
	assert.Check(t, e.Outcome == Failed && e.Phase == "core" && e.Cause == "no quota", "bb: got %+v", e)
	got := r.Remaining()
	assert.Check(t, slices.Equal(got, []string{"bb", "c"}), "%v remain", got)
	if want := "up: 1 of 3 clusters succeeded, 1 failed, 1 skipped; first cause: no quota"; r.Cause != want {
		t.Errorf("got %q, want %q", r.Cause, want)
	}
}

func TestResumeInAnotherBackend(t *testing.T) {
	here := Journals{Dir: t.TempDir(), Backend: "file:///here"}
	there := Journals{Dir: here.Dir, Backend: "s3://there"}
	recorded(t, here, "up", 0, []string{"a", "bb"}, "bb")
	if _, err := there.Unfinished("up", "destroy"); err == nil || err.Error() != "the run of up that began 2026-03-01T12:00:00Z cannot be resumed: "+
		"its state is in file:///here, and this is s3://there; give `--backend file:///here`, or run `tombolo up --all` anew" {
		t.Errorf("got %v", err)
	}
	// What happens there changes nothing here.
	recorded(t, there, "up", 5, []string{"a", "bb"})
	recorded(t, there, "destroy", 6, []string{"a", "bb"})
	for _, d := range []Journals{here, {Dir: here.Dir}} {
		r, err := d.Unfinished("up", "")
		if d.Backend != "" && (err != nil || r.Backend != here.Backend || !slices.Equal(r.Remaining(), []string{"bb"})) {
			t.Errorf("got %+v, %v", r, err)
		}
		if d.Backend == "" && err == nil {
			t.Errorf("where nobody knows the backend, the later run counts: got %+v", r)
		}
	}
	r, err := here.Unfinished("up", "destroy")
	assert.Check(t, err == nil && r.Backend == here.Backend, "got %+v, %v", r, err)
}

func TestResume(t *testing.T) {
	d := Journals{Dir: t.TempDir()}
	recorded(t, d, "up", 0, []string{"a", "bb", "c"}, "bb")
	r, err := d.Unfinished("up", "destroy")
	assert.NilError(t, err)
	// The kill of the first attempt cut its last line short.
	path := d.path(r.ID)
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(path, text[:len(text)-9], 0o644))
	j, err := d.Resume(r)
	assert.NilError(t, err)
	var jobs []Job
	for _, c := range r.Clusters {
		jobs = append(jobs, Job{Cluster: c.Name, Wave: c.Wave, Done: r.Ends[c.Name].Outcome == Succeeded})
	}
	attempt(t, j, "up", 5, jobs, r.Passed)
	j.Close()
	records, err := d.Records(0)
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	if got := records[0]; got.Outcome != Succeeded || len(got.Remaining()) > 0 || got.Ends["a"].Started != at(0) || got.Ends["bb"].Started != at(5) {
		t.Errorf("got %+v", got)
	}
	text, err = os.ReadFile(path)
	assert.NilError(t, err)
	assert.Check(t, strings.Count(string(text), `"type":"started","time":"2026-03-01T12:00:00Z","cluster":"a"`) == 1,
		"a was started again:\n%s", text)
}

func TestUnfinished(t *testing.T) {
	for name, test := range map[string]struct {
		runs func(Journals)
		want time.Time
		err  string
	}{
		"none": {
			runs: func(Journals) {},
			err:  "no run of up is unfinished; run `tombolo up` with the clusters it is about",
		},
		"all finished": {
			runs: func(d Journals) { recorded(t, d, "up", 0, []string{"a"}) },
			err:  "no run of up is unfinished; run `tombolo up` with the clusters it is about",
		},
		"the last": {
			runs: func(d Journals) {
				recorded(t, d, "up", 0, []string{"a"}, "a")
				recorded(t, d, "up", 1, []string{"b"}, "b")
				recorded(t, d, "push", 2, []string{"b"}, "b")
			},
			want: at(1),
		},
		"one that a later one has not finished": {
			runs: func(d Journals) {
				recorded(t, d, "up", 0, []string{"a", "b"}, "a")
				recorded(t, d, "up", 1, []string{"a"}, "a")
				recorded(t, d, "up", 2, []string{"a"})
			},
			want: at(0),
		},
		"one that a later one has finished": {
			runs: func(d Journals) {
				recorded(t, d, "up", 0, []string{"a", "b"}, "a")
				recorded(t, d, "up", 1, []string{"b", "a"})
			},
			err: "no run of up is unfinished; run `tombolo up` with the clusters it is about",
		},
		"destroyed since": {
			runs: func(d Journals) {
				recorded(t, d, "up", 0, []string{"a", "b", "c"}, "b")
				recorded(t, d, "destroy", 1, []string{"a", "x"}, "x")
			},
			err: "the run of up that began 2026-03-01T12:00:00Z cannot be resumed: destroy at 2026-03-01T12:01:00Z was about a; run `tombolo up` with the clusters it is about",
		},
		"others destroyed since": {
			runs: func(d Journals) {
				recorded(t, d, "up", 0, []string{"a"}, "a")
				recorded(t, d, "destroy", 1, []string{"x"})
			},
			want: at(0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := Journals{Dir: t.TempDir()}
			test.runs(d)
			r, err := d.Unfinished("up", "destroy")
			if test.err != "" {
				var resume *fault.Error
				assert.Check(t, errors.As(err, &resume) && err.Error() == test.err, "got %v, want %s", err, test.err)
				return
			}
			assert.Check(t, err == nil && r.Started.Equal(test.want), "got the run of %s, %v; want that of %s", r.Started, err, test.want)
		})
	}
}

func TestResumeOfARunThatGoesOn(t *testing.T) {
	d := Journals{Dir: t.TempDir()}
	j, err := d.Begin(Header{Operation: "up", Started: at(0), Clusters: []HeaderCluster{{Name: "a"}}})
	assert.NilError(t, err)
	r, err := d.Unfinished("up", "destroy")
	assert.NilError(t, err)
	want := "the run of up that began 2026-03-01T12:00:00Z still goes on; wait for its end, or end it"
	_, err = d.Resume(r)
	assert.Check(t, err != nil && err.Error() == want, "got %v, want %s", err, want)
	j.Close()
	again, err := d.Resume(r)
	assert.NilError(t, err)
	again.Close()
}

func TestChangedFiles(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(root, name)
		assert.NilError(t, os.WriteFile(file, []byte(content), 0o644))
		return file
	}
	spoke := cluster("spoke", 1, "hub", nil)
	spoke.File = write("spoke.yaml", "one")
	hub := write("hub.yaml", "two")
	r := Record{Header: Header{Operation: "up", Started: at(0), Selection: Selection{All: true}}}
	assert.NilError(t, r.SetClusters(root, []*config.Cluster{spoke}))
	if want := []HeaderCluster{{"spoke", 1, "spoke.yaml"}}; !slices.Equal(r.Clusters, want) || len(r.Files) != 4 || r.Files["_defaults.yaml"] != "" || !strings.HasPrefix(r.Files["hub.yaml"], "sha256:") {
		t.Errorf("got %+v of %v", r.Clusters, r.Files)
	}
	assert.NilError(t, r.Unchanged(root))
	write("spoke.yaml", "three")
	assert.NilError(t, os.Remove(hub))
	write("_defaults.yaml", "protect: true")
	want := "the run of up that began 2026-03-01T12:00:00Z cannot be resumed: since then _defaults.yaml, hub.yaml, spoke.yaml changed; " +
		"run `tombolo up --all` anew, which changes nothing where nothing is to change"
	assert.Error(t, r.Unchanged(root), want)
}

func TestJournalsAreKept(t *testing.T) {
	d := Journals{Dir: t.TempDir(), Keep: 3}
	for i := range 5 {
		recorded(t, d, "up", i, []string{"a"})
	}
	records, err := d.Records(0)
	assert.Check(t, err == nil && len(records) == 3 && records[0].Started.Equal(at(4)) && records[2].Started.Equal(at(2)),
		"%v: got %+v", err, records)
	some, err := d.Records(2)
	assert.Check(t, err == nil && len(some) == 2, "asked for two: %d, %v", len(some), err)
}

func TestStrangeJournals(t *testing.T) {
	d := Journals{Dir: t.TempDir()}
	for name, text := range map[string]string{
		"empty": "", "cut": `{"type":"run","vers`, "newer": `{"type":"run","version":2,"id":"x","operation":"up"}` + "\n",
	} {
		assert.NilError(t, os.WriteFile(d.path(name), []byte(text), 0o644))
	}
	records, err := d.Records(0)
	assert.Check(t, err == nil && len(records) == 0, "got %+v, %v", records, err)
	records, err = (Journals{Dir: filepath.Join(d.Dir, "none")}).Records(0)
	assert.Check(t, err == nil && len(records) == 0, "without a directory: %+v, %v", records, err)
}

func TestJournalThatCannotBeWritten(t *testing.T) {
	d := Journals{Dir: t.TempDir()}
	j, err := d.Begin(Header{Operation: "up", Started: at(0)})
	assert.NilError(t, err)
	j.Close()
	r := Runner{Operation: "up", Journal: j, Work: func(context.Context, string) (Work, error) { return Work{}, nil }}
	summary, err := r.Run(t.Context(), []Job{job("a", 0, 0)})
	assert.Check(t, err == nil && summary.Err() == nil && summary.Journal != nil && strings.HasPrefix(summary.Journal.Error(), "write the journal: "),
		"got %v, %v, %v", err, summary.Err(), summary.Journal)
}

func TestExpected(t *testing.T) {
	d := Journals{Dir: t.TempDir()}
	for i := range 7 {
		recorded(t, d, "up", i, []string{"a", "four", "sevenly"}, "sevenly")
	}
	recorded(t, d, "up", 8, []string{"ninechars"})
	expected, err := d.Expected("up")
	assert.NilError(t, err)
	for name, want := range map[string]time.Duration{"a": 1, "four": 4, "ninechars": 9, "sevenly": 4, "new": 4} {
		got := expected(name)
		assert.Check(t, got == want*time.Second, "%s: got %s, want %ds", name, got, want)
	}
	none, err := d.Expected("destroy")
	assert.Check(t, err == nil && none("a") == 0, "without a history: %v, %v", none("a"), err)
}
