package issue

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"

	"tombolo/cmd/tombolo/cli/host"
)

// azure is a project at Azure DevOps, where an issue is a work item. Its text is HTML, of
// which Azure DevOps keeps what it allows, so that no marker lasts in it: a tag is the
// marker.
type azure struct {
	host.Client
	// project in the API's paths.
	project string
	// kind is the type of the work item, such as Task.
	kind string
	// tag tells the work item from others.
	tag string
	// closed is the state of a closed work item. Find reads it.
	closed string
}

func newAzure(client host.Client, project, kind, key string) *azure {
	return &azure{Client: client, project: "/" + url.PathEscape(project), kind: kind, tag: "tombolo-" + key}
}

// mostItems is how many open work items with the tag are looked through: what one call
// gives the fields of. Source: REST API 7.1, "Work Items - Get Work Items Batch".
const mostItems = 200

// item is a work item with the fields that are asked for.
type item struct {
	ID     int `json:"id"`
	Fields struct {
		Description string `json:"System.Description"`
		Tags        string `json:"System.Tags"`
		By          struct {
			ID string `json:"id"`
		} `json:"System.CreatedBy"`
	} `json:"fields"`
}

func (h *azure) Find(ctx context.Context, _ string) (*Issue, error) {
	user, err := h.Account(ctx, host.OnAzure)
	if err != nil {
		return nil, h.refused(err)
	}
	ids, err := h.tagged(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	send := map[string]any{"ids": ids, "fields": []string{"System.Description", "System.Tags", "System.CreatedBy"}}
	var items struct {
		Value []item `json:"value"`
	}
	if _, err := h.Call(ctx, http.MethodPost, h.project+"/_apis/wit/workitemsbatch", send, &items); err != nil {
		return nil, h.refused(err)
	}
	for _, i := range items.Value {
		if i.Fields.By.ID == user && h.has(i.Fields.Tags) {
			return &Issue{Number: i.ID, URL: h.page(i.ID), Body: i.Fields.Description}, nil
		}
	}
	if len(ids) == mostItems {
		return nil, fmt.Errorf("it is not among the oldest %d open work items with the tag %s: close some", mostItems, h.tag)
	}
	return nil, nil // there is none
}

// has says whether tags, which are separated by semicolons, have the marker's.
func (h *azure) has(tags string) bool {
	for tag := range strings.SplitSeq(tags, ";") {
		if strings.EqualFold(strings.TrimSpace(tag), h.tag) {
			return true
		}
	}
	return false
}

// tagged are the numbers of the open work items with the tag, the oldest first.
func (h *azure) tagged(ctx context.Context) ([]int, error) {
	ended, err := h.ended(ctx)
	if err != nil {
		return nil, err
	}
	// Tags have no =: CONTAINS is true of one tag as a whole, and has looks again.
	query := fmt.Sprintf("SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project AND [System.WorkItemType] = %s"+
		" AND [System.State] NOT IN (%s) AND [System.Tags] CONTAINS %s ORDER BY [System.Id]", quoted(h.kind), quoted(ended...), quoted(h.tag))
	var found struct {
		Items []struct {
			ID int `json:"id"`
		} `json:"workItems"`
	}
	path := fmt.Sprintf("%s/_apis/wit/wiql?$top=%d", h.project, mostItems)
	if _, err := h.Call(ctx, http.MethodPost, path, map[string]string{"query": query}, &found); err != nil {
		return nil, h.refused(err)
	}
	ids := make([]int, len(found.Items))
	for i, one := range found.Items {
		ids[i] = one.ID
	}
	return ids, nil
}

// quoted writes texts for a query.
func quoted(texts ...string) string {
	for i, text := range texts {
		texts[i] = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return strings.Join(texts, ", ")
}

// ended are the states of the type that are not open ones. What they are called is the
// process's decision; their categories are Azure DevOps's. Source:
// learn.microsoft.com/azure/devops/boards/work-items/workflow-and-state-categories.
func (h *azure) ended(ctx context.Context) ([]string, error) {
	var states struct {
		Value []struct {
			Name     string `json:"name"`
			Category string `json:"category"`
		} `json:"value"`
	}
	_, err := h.Call(ctx, http.MethodGet, h.project+"/_apis/wit/workitemtypes/"+url.PathEscape(h.kind)+"/states", nil, &states)
	if host.Missing(err) {
		return nil, fmt.Errorf("%w; give a type that the project has by --work-item-type", err)
	}
	if err != nil {
		return nil, h.refused(err)
	}
	var ended []string
	for _, s := range states.Value {
		if s.Category != "Completed" && s.Category != "Removed" {
			continue
		}
		ended = append(ended, s.Name)
		if s.Category == "Completed" {
			h.closed = cmp.Or(h.closed, s.Name)
		}
	}
	if h.closed == "" {
		return nil, fmt.Errorf("work items of the type %s have no state of the category Completed: give another type by --work-item-type", h.kind)
	}
	return ended, nil
}

// change is a change of a field of a work item.
type change struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value"`
}

func set(field, value string) change {
	return change{Op: "add", Path: "/fields/" + field, Value: value}
}

// write changes a work item, or makes one, by a JSON Patch.
func (h *azure) write(ctx context.Context, method, address string, changes ...change) (item, error) {
	var written item
	_, err := h.WithType("application/json-patch+json").Call(ctx, method, h.project+"/_apis/wit/workitems/"+address, changes, &written)
	return written, h.refused(err)
}

func (h *azure) Open(ctx context.Context, title, body string) (Issue, error) {
	description, err := shown(body)
	if err != nil {
		return Issue{}, err
	}
	made, err := h.write(ctx, http.MethodPost, "$"+url.PathEscape(h.kind),
		set("System.Title", title), set("System.Description", description), set("System.Tags", h.tag))
	return Issue{Number: made.ID, URL: h.page(made.ID), Body: description}, err
}

func (h *azure) Update(ctx context.Context, i Issue, body string) error {
	description, err := shown(body)
	if err != nil {
		return err
	}
	_, err = h.write(ctx, http.MethodPatch, fmt.Sprint(i.Number), set("System.Description", description))
	return err
}

func (h *azure) Close(ctx context.Context, i Issue) error {
	_, err := h.write(ctx, http.MethodPatch, fmt.Sprint(i.Number), set("System.State", h.closed))
	return err
}

// Says compares what can be read: Azure DevOps writes the HTML in its own way.
func (h *azure) Says(i Issue, body string) bool {
	description, err := shown(body)
	return err == nil && letters(i.Body) == letters(description)
}

// page is where people find a work item.
func (h *azure) page(number int) string {
	return fmt.Sprintf("%s%s/_workitems/edit/%d", h.Base, h.project, number)
}

// refused says what to do where the token may not do something.
func (h *azure) refused(err error) error {
	if remedy := host.AzureRemedy(err); remedy != "" {
		return fmt.Errorf("%w; %s", err, remedy)
	}
	if host.Refused(err) {
		return fmt.Errorf("%w; allow \"View work items in this node\" and \"Edit work items in this node\" to the pipeline's build service "+
			"in the security of the project's area, and \"Create tag definition\" in that of the project", err)
	}
	return err
}

// shown is Markdown as HTML, with the HTML in it.
func shown(text string) (string, error) {
	var page bytes.Buffer
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := markdown.Convert([]byte(text), &page); err != nil {
		return "", fmt.Errorf("write the text as HTML: %w", err)
	}
	return page.String(), nil
}

// letters are the texts of HTML without spaces.
func letters(text string) string {
	root, err := xhtml.Parse(strings.NewReader(text))
	if err != nil {
		return text
	}
	var all strings.Builder
	for n := range root.Descendants() {
		if n.Type == xhtml.TextNode {
			all.WriteString(strings.Join(strings.Fields(n.Data), ""))
		}
	}
	return all.String()
}
