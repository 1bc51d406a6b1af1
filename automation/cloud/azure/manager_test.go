package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/internal/armid"
)

// manager is a Resource Manager with the answers of a file in testdata: by the path of a
// request in lower case, what it answers. Lists of groups and resources are made of what it has.
type manager struct {
	// Answers to other requests, by path.
	Answers map[string]json.RawMessage
	// Resources by their ids, with tags.
	Resources []map[string]any
	// Refused are paths with a status.
	Refused map[string]int

	deleted []string
}

// managerOf reads a file of testdata.
func managerOf(t *testing.T, file string) *manager {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	assert.NilError(t, err)
	m := &manager{}
	assert.NilError(t, json.Unmarshal(text, m))
	return m
}

// client asks the manager.
func (m *manager) client(t *testing.T) arm.Client {
	t.Helper()
	server := httptest.NewTLSServer(m)
	t.Cleanup(server.Close)
	return arm.Client{Endpoint: server.URL, Token: "t", HTTP: server.Client(), Poll: time.Millisecond}
}

func (m *manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.ToLower(r.URL.Path)
	answer, known := m.Answers[path]
	i := m.indexOf(path)
	switch {
	case r.URL.Query().Get("api-version") == "":
		refuse(w, http.StatusBadRequest, "MissingApiVersionParameter")
	case m.Refused[path] != 0:
		refuse(w, m.Refused[path], "AuthorizationFailed")
	case known:
		_, _ = w.Write(answer)
	case r.Method == http.MethodDelete && i >= 0:
		m.deleted = append(m.deleted, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		m.Resources = slices.Delete(m.Resources, i, i+1)
	case i >= 0:
		_ = json.NewEncoder(w).Encode(m.Resources[i])
	case strings.HasSuffix(path, "/resources"), strings.HasSuffix(path, "/resourcegroups"):
		m.list(w, path, r.URL.Query().Get("$filter"))
	default:
		refuse(w, http.StatusNotFound, "ResourceNotFound")
	}
}

func (m *manager) indexOf(path string) int {
	return slices.IndexFunc(m.Resources, func(r map[string]any) bool { return strings.EqualFold(r["id"].(string), path) })
}

var byTag = regexp.MustCompile(`^tagName eq '(.*)' and tagValue eq '(.*)'$`)

// list has the resources or the groups below a path. Those found by a tag come without tags.
func (m *manager) list(w http.ResponseWriter, path, filter string) {
	groups := strings.HasSuffix(path, "/resourcegroups")
	below := strings.TrimSuffix(strings.TrimSuffix(path, "resources"), "resourcegroups")
	found := []map[string]any{}
	for _, r := range m.Resources {
		id, _ := armid.Parse(r["id"].(string))
		if id.Is(armid.Groups) != groups || strings.Count(id.Type, "/") > 1 || id.Is("Microsoft.Authorization/roleAssignments") ||
			!strings.HasPrefix(strings.ToLower(id.Text), below) {
			continue
		}
		one := map[string]any{"id": r["id"], "tags": r["tags"], "managedBy": r["managedBy"]}
		if match := byTag.FindStringSubmatch(filter); match != nil {
			tags, _ := r["tags"].(map[string]any)
			if tags[match[1]] != match[2] {
				continue
			}
			delete(one, "tags")
		}
		found = append(found, one)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"value": found})
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error": {"code": %q, "message": "no"}}`, code)
}
