package issue

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tombolo/cmd/tombolo/cli/clitest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// boards is enough of Azure DevOps's API: it keeps work items.
type boards struct {
	items map[int]map[string]string // fields of each, with "by"
	asked []string
	// refuses makes it refuse to write.
	refuses bool
	query   string
}

// patch is one operation of a JSON Patch.
type patch struct{ Op, Path, Value string }

func (b *boards) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer j0b" || !strings.HasPrefix(r.URL.Query().Get("api-version"), "7.1") {
		http.Error(w, `{"message":"who are you"}`, http.StatusUnauthorized)
		return
	}
	switch path := strings.TrimPrefix(r.URL.Path, "/acme"); path {
	case "/_apis/connectionData":
		fmt.Fprint(w, `{"authenticatedUser":{"id":"robot"}}`)
	case "/My project/_apis/wit/workitemtypes/Task/states":
		fmt.Fprint(w, `{"value":[{"name":"New","category":"Proposed"},{"name":"Won't do","category":"Completed"},{"name":"Closed","category":"Completed"},{"name":"Removed","category":"Removed"}]}`)
	case "/My project/_apis/wit/workitemtypes/Idea/states":
		fmt.Fprint(w, `{"value":[{"name":"New","category":"Proposed"}]}`)
	case "/My project/_apis/wit/wiql":
		b.find(w, r)
	case "/My project/_apis/wit/workitemsbatch":
		b.batch(w, r)
	default:
		b.write(w, r, strings.TrimPrefix(path, "/My project/_apis/wit/workitems/"))
	}
}

func (b *boards) find(w http.ResponseWriter, r *http.Request) {
	var in struct{ Query string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Query().Get("$top") != "200" {
		http.Error(w, "no query", http.StatusBadRequest)
		return
	}
	b.query = in.Query
	found := []map[string]int{}
	for id, fields := range b.items {
		if s := fields["System.State"]; s != "Won't do" && s != "Closed" && s != "Removed" {
			found = append(found, map[string]int{"id": id})
		}
	}
	slices.SortFunc(found, func(a, b map[string]int) int { return a["id"] - b["id"] })
	_ = json.NewEncoder(w).Encode(map[string]any{"workItems": found})
}

func (b *boards) batch(w http.ResponseWriter, r *http.Request) {
	var in struct{ IDs []int }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.IDs) == 0 || len(in.IDs) > 200 {
		http.Error(w, `{"message":"give between 1 and 200 ids"}`, http.StatusBadRequest)
		return
	}
	var out []map[string]any
	for _, id := range in.IDs {
		fields := b.items[id]
		out = append(out, map[string]any{"id": id, "fields": map[string]any{
			"System.Description": fields["System.Description"], "System.Tags": fields["System.Tags"],
			"System.CreatedBy": map[string]string{"id": fields["by"], "displayName": "Build Service"},
		}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"value": out})
}

func (b *boards) write(w http.ResponseWriter, r *http.Request, what string) {
	if r.Method == http.MethodGet {
		http.Error(w, "no such thing as "+what, http.StatusNotFound)
		return
	}
	var changes []patch
	if err := json.NewDecoder(r.Body).Decode(&changes); err != nil || r.Header.Get("Content-Type") != "application/json-patch+json" {
		http.Error(w, "no patch", http.StatusUnsupportedMediaType)
		return
	}
	if b.refuses {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message":"TF237111: The current user does not have permissions to save work items under the specified area path."}`)
		return
	}
	b.asked = append(b.asked, r.Method+" "+what)
	var id int
	if what == "$Task" && r.Method == http.MethodPost {
		id = 3
		b.items[id] = map[string]string{"by": "robot", "System.State": "New"}
	} else if _, err := fmt.Sscanf(what, "%d", &id); err != nil || b.items[id] == nil || r.Method != http.MethodPatch {
		http.Error(w, "no such thing as "+what, http.StatusNotFound)
		return
	}
	for _, c := range changes {
		field := strings.TrimPrefix(c.Path, "/fields/")
		b.items[id][field] = c.Value
		if field == "System.Description" { // as Azure DevOps keeps it
			_, text, _ := strings.Cut(c.Value, "-->")
			b.items[id][field] = "<div>" + strings.ReplaceAll(strings.ReplaceAll(text, "\n", ""), "<p>", `<p style="">`) + "</div>"
		}
	}
	fmt.Fprintf(w, `{"id":%d}`, id)
}

func TestWorkItem(t *testing.T) {
	b := &boards{items: map[int]map[string]string{
		// Hers with the tag, ours with another one that has ours in it, and ours, closed.
		1: {"by": "mallory", "System.Tags": "tombolo-drift", "System.Description": "hers", "System.State": "New"},
		2: {"by": "robot", "System.Tags": "a; tombolo-drift-old", "System.Description": "another", "System.State": "New"},
		4: {"by": "robot", "System.Tags": "tombolo-drift", "System.Description": "of old", "System.State": "Closed"},
	}}
	server := clitest.Serve(t, b)
	env := map[string]string{"SYSTEM_ACCESSTOKEN": "j0b", "SYSTEM_COLLECTIONURI": server.URL + "/acme/", "SYSTEM_TEAMPROJECT": "My project"}
	page := server.URL + "/acme/My%20project/_workitems/edit/3\n"
	const table = "## demo\n\n| found | resource |\n|---|---|\n| missing | <code>a&#124;b</code> |\n\nPut `it` back.\n"
	for _, step := range []struct{ text, says, asks string }{
		{"", "✔ there is no issue drift, and nothing to say\n", ""},
		{table, "✔ opened " + page, "POST $Task"},
		{table, "✔ " + strings.TrimSpace(page) + " says so already\n", ""},
		{"demo drifts more\n", "✔ updated " + page, "PATCH 3"},
		{"", "✔ closed " + page, "PATCH 3"},
		{"", "✔ there is no issue drift, and nothing to say\n", ""},
	} {
		b.asked = nil
		says, err := run(t, env, step.text, "drift")
		if asked := strings.Join(b.asked, " "); err != nil || says != step.says || asked != step.asks {
			t.Errorf("with %q it says %q, asked %q, error %v; want %q and %q", step.text, says, asked, err, step.says, step.asks)
		}
		if step.text == table {
			assert.Check(t, is.Contains(b.items[3]["System.Description"], "<td><code>a|b</code></td>"))
		}
	}
	item := b.items[3]
	assert.Check(t, item["System.Title"] == "Drift" && item["System.Tags"] == "tombolo-drift" && item["System.State"] == "Won't do", "%v", item)
	want := "SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project AND [System.WorkItemType] = 'Task'" +
		" AND [System.State] NOT IN ('Won''t do', 'Closed', 'Removed') AND [System.Tags] CONTAINS 'tombolo-drift' ORDER BY [System.Id]"
	assert.Equal(t, b.query, want)
	assert.Equal(t, b.items[1]["System.Description"]+b.items[2]["System.Description"]+b.items[4]["System.Description"], "hersanotherof old")
}

func TestWorkItemRefusals(t *testing.T) {
	b := &boards{items: map[int]map[string]string{}, refuses: true}
	server := clitest.Serve(t, b)
	env := map[string]string{"SYSTEM_ACCESSTOKEN": "j0b", "SYSTEM_COLLECTIONURI": server.URL + "/acme/", "SYSTEM_TEAMPROJECT": "My project"}
	_, err := run(t, env, "text", "drift")
	assert.Check(t, is.ErrorContains(err, `opening the issue drift: POST /acme/My project/_apis/wit/workitems/$Task: the host answers 403 Forbidden: TF237111: `))
	assert.Check(t, is.ErrorContains(err, `; allow "View work items in this node" and "Edit work items in this node" to the pipeline's build service`))

	_, err = run(t, env, "text", "drift", "--work-item-type", "Chore")
	assert.Check(t, is.ErrorContains(err, "the host answers 404 Not Found"))
	assert.Check(t, is.ErrorContains(err, "; give a type that the project has by --work-item-type"))
	_, err = run(t, env, "text", "drift", "--work-item-type", "Idea")
	assert.Check(t, is.ErrorContains(err, "work items of the type Idea have no state of the category Completed: give another type by --work-item-type"))

	for id := range mostItems {
		b.items[id+1] = map[string]string{"by": "mallory", "System.Tags": "tombolo-drift", "System.State": "New"}
	}
	_, err = run(t, env, "text", "drift")
	assert.Check(t, is.ErrorContains(err, "it is not among the oldest 200 open work items with the tag tombolo-drift: close some"))

	env["SYSTEM_ACCESSTOKEN"] = "old"
	_, err = run(t, env, "text", "drift")
	assert.Check(t, is.ErrorContains(err, "the host answers 401 Unauthorized: who are you; give the step the job's own token"))
}
