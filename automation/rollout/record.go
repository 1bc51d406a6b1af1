package rollout

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tombolo/config"
	filesystem "tombolo/internal/file"
)

// Record is what a journal says of a run.
type Record struct {
	Header
	// Ends by cluster: the outcome of the last attempt.
	Ends map[string]RecordedEnd
	// Passed are waves whose gate let the next one go.
	Passed []int
	// Outcome of the run; "" when it was cut short.
	Outcome Outcome
	// Cause of a run that did not succeed.
	Cause string
	// Outside is why clusters were changed outside of their change windows: the last time
	// of each.
	Outside map[string]Outside
	// Last is the time of the last line.
	Last time.Time
}

// Outside is why a run changed a cluster outside of its change windows.
type Outside struct {
	At     time.Time
	Reason string
	// Window is what was said of them.
	Window string
}

// RecordedEnd is what became of a cluster in a run.
type RecordedEnd struct {
	// Outcome; "" for one that was begun and cut short.
	Outcome Outcome
	// Phase, Changes and Cause are those of End.
	Phase   string
	Changes map[string]int
	Cause   string
	// Started and Finished are when.
	Started, Finished time.Time
	// Duration of the work.
	Duration time.Duration
}

// Remaining are the clusters that the run has not finished, in its order.
func (r Record) Remaining() []string {
	var out []string
	for _, c := range r.Clusters {
		if r.Ends[c.Name].Outcome != Succeeded {
			out = append(out, c.Name)
		}
	}
	return out
}

// Records returns what the journals tell, from the newest run on; at most as many
// as most, all when that is 0. Journals of another version are passed over.
func (d Journals) Records(most int) ([]Record, error) {
	ids, err := d.ids()
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, id := range slices.Backward(ids) {
		r, err := readRecord(d.path(id))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoRecord) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
		if most > 0 && len(out) == most {
			break
		}
	}
	return out, nil
}

// errNoRecord is for a file that tells of no run: it was killed at its first
// line, or another version wrote it.
var errNoRecord = errors.New("no journal of this version")

func readRecord(path string) (Record, error) {
	file, err := os.Open(path)
	if err != nil {
		return Record{}, fmt.Errorf("read a journal: %w", err)
	}
	defer file.Close()
	r := Record{Ends: map[string]RecordedEnd{}, Outside: map[string]Outside{}}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20) // the first line has all clusters
	for lines.Scan() {
		var l line
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			continue // cut short by a kill
		}
		if l.Type == lineRun && (l.Version != journalVersion || l.Header == nil) {
			return Record{}, errNoRecord
		}
		r.take(l)
	}
	if err := lines.Err(); err != nil {
		return Record{}, fmt.Errorf("read journal %s: %w", path, err)
	}
	if r.ID == "" {
		return Record{}, errNoRecord
	}
	return r, nil
}

func (r *Record) take(l line) {
	if l.Time.After(r.Last) {
		r.Last = l.Time
	}
	switch l.Type {
	case lineRun:
		r.Header, r.Last = *l.Header, l.Started
	case lineResumed:
		r.Outcome, r.Cause = "", ""
	case lineStarted:
		r.Ends[l.Cluster] = RecordedEnd{Started: l.Time}
	case lineFinished:
		r.Ends[l.Cluster] = RecordedEnd{
			Outcome: l.Outcome, Phase: l.Phase, Changes: l.Changes, Cause: l.Cause,
			Started: r.Ends[l.Cluster].Started, Finished: l.Time,
			Duration: time.Duration(l.Seconds * float64(time.Second)),
		}
	case lineGate:
		if l.Outcome == Succeeded && l.Wave != nil {
			r.Passed = append(r.Passed, *l.Wave)
		}
	case lineOutside:
		r.Outside[l.Cluster] = Outside{At: l.Time, Reason: l.Reason, Window: l.Window}
	case lineEnded:
		r.Outcome, r.Cause = l.Outcome, l.Cause
	}
}

// SetClusters says which clusters a run is about, and what their files hold,
// their hubs' and those of shared settings too. root is the project's directory.
func (h *Header) SetClusters(root string, clusters []*config.Cluster) error {
	var files []string
	h.Clusters = nil
	for _, c := range clusters {
		h.Clusters = append(h.Clusters, HeaderCluster{Name: c.Name, Wave: c.Wave, File: relative(root, c.File)})
		files = append(files, relative(root, c.File))
		shared := c.SharedFiles() // one that is not there may come
		if c.HasHubFile() {
			files = append(files, relative(root, filepath.Join(filepath.Dir(c.File), c.Hub()+".yaml")))
			if hub, err := config.LoadHub(c); err == nil {
				shared = append(shared, hub.SharedFiles()...)
			}
		}
		for _, file := range shared {
			files = append(files, relative(root, file))
		}
	}
	var err error
	h.Files, err = digests(root, files)
	return err
}

// Changed are the files of the run whose content is not what it was, sorted; a
// file that is gone is one of them. root is the project's directory.
func (h Header) Changed(root string) ([]string, error) {
	now, err := digests(root, slices.Collect(maps.Keys(h.Files)))
	if err != nil {
		return nil, err
	}
	var out []string
	for file, digest := range h.Files {
		if now[file] != digest {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out, nil
}

// digests of files; "" for one that is not there.
func digests(root string, files []string) (map[string]string, error) {
	out := make(map[string]string, len(files))
	for _, file := range files {
		path := file
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, file)
		}
		content, err := filesystem.ReadInside(path, filesystem.MostOfSettings)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out[file] = ""
		case err != nil:
			return nil, fmt.Errorf("read a cluster file for the journal: %w", err)
		default:
			sum := sha256.Sum256(content)
			out[file] = "sha256:" + hex.EncodeToString(sum[:])
		}
	}
	return out, nil
}

// relative is the path below the root, where it is below it.
func relative(root, file string) string {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(root, absolute); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return absolute
}
