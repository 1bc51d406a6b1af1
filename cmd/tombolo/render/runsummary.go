package render

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/rollout"
)

// SummaryOptions say how the summary of a run is written.
type SummaryOptions struct {
	// Table is how the table is written.
	Table TableOptions
	// JSON writes one document in place of the table.
	JSON bool
}

// summaryDocument is the summary of a run in the JSON format.
type summaryDocument struct {
	Type      string           `json:"type"`
	Operation string           `json:"operation"`
	Clusters  []summaryCluster `json:"clusters"`
	Seconds   float64          `json:"seconds"`
}

// summaryCluster is one cluster of a run in the JSON format.
type summaryCluster struct {
	Cluster string         `json:"cluster"`
	Wave    int            `json:"wave"`
	Result  result         `json:"result"`
	Phase   string         `json:"phase,omitempty"`
	Changes map[string]int `json:"changes,omitempty"`
	Seconds float64        `json:"seconds"`
	Cause   string         `json:"cause,omitempty"`
}

// WriteSummary writes what a run did: a table with a line for each cluster, or
// a JSON document.
func WriteSummary(w io.Writer, s rollout.Summary, o SummaryOptions) error {
	if o.JSON {
		return WriteJSON(w, documentOf(s))
	}
	header := []string{"CLUSTER", "WAVE", "PHASE", "CHANGES", "DURATION", "RESULT"}
	if !s.Succeeded() {
		header = append(header, "FIRST CAUSE")
	}
	rows := make([][]string, len(s.Clusters))
	for i, c := range s.Clusters {
		rows[i] = rowOf(c, o.Table.Style)[:len(header)]
	}
	return Table(w, o.Table, header, rows)
}

func documentOf(s rollout.Summary) summaryDocument {
	d := summaryDocument{
		Type: "summary", Operation: s.Operation, Seconds: *seconds(s.Duration),
		Clusters: make([]summaryCluster, len(s.Clusters)),
	}
	for i, c := range s.Clusters {
		d.Clusters[i] = summaryCluster{
			Cluster: c.Cluster, Wave: c.Wave, Result: resultOf(c), Phase: c.Phase, Changes: c.Changes,
			Seconds: *seconds(c.Duration), Cause: c.Cause(),
		}
	}
	return d
}

func rowOf(c rollout.End, style Style) []string {
	ended, took := resultOf(c), "-"
	if c.Duration > 0 {
		took = duration(c.Duration)
	}
	return []string{
		c.Cluster, strconv.Itoa(c.Wave), cmp.Or(c.Phase, "-"), signed(c.Changes), took,
		style.paint(ended.color(), string(ended)), c.Cause(),
	}
}

// signed are changes in short: "+2 ~1 -3", or "none", or "-" when it has not been
// counted.
func signed(changes map[string]int) string {
	if changes == nil {
		return "-"
	}
	var parts []string
	for _, op := range orderedOps(changes) {
		if n := changes[op]; n > 0 && op != string(apitype.OpSame) && op != string(apitype.OpRead) {
			parts = append(parts, fmt.Sprintf("%s%d", words(op).sign, n))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, " ")
}
