package plan

import (
	"fmt"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/value"
)

const (
	hostSource = "db.host of stack data/prod"
	portSource = "db.port of stack data/prod"
	wholeDB    = "db of stack data/prod"
	zoneSource = "parameter /shop/zone"
)

// bootstrap is a stack whose preview has told that it has read these values, and these
// differences.
func bootstrap(was, has object, diffs ...Diff) Stack {
	var r Reader
	r.Read(events.EngineEvent{EngineEvent: apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: apitype.StepEventMetadata{
		Type: stackType, Old: &apitype.StepEventStateMetadata{Outputs: object{"values": was}}, New: &apitype.StepEventStateMetadata{Outputs: object{"values": has}},
	}}}})
	s := r.Stack(clusters{}, "demo-bootstrap", "bootstrap")
	s.Resources = []Resource{{Op: Update, Diffs: diffs}}
	return s
}

// shop is what GitOps reads in these tests.
func shop(outputs, read map[string]any) (Contents, error) {
	return Contents{Data: map[string]map[string]string{
		"flux-system/infra-config": {"db_host": fmt.Sprint(read[hostSource]), "version": fmt.Sprint(outputs["clusterVersion"]), "zone": fmt.Sprint(read[zoneSource])},
		"shop/shop-values": {"values.yaml": fmt.Sprintf("db: %v\nhost: %v\nport: %v\nrole: %v\nzone: %v\n",
			read[wholeDB], read[hostSource], read[portSource], outputs["role"], read[zoneSource])},
	}}, nil
}

func inShop(key string, before, after any) Diff {
	return Diff{Path: `data["values.yaml"] → ` + key, Before: before, After: after, Published: &Published{Object: "shop/shop-values", Key: key}}
}

func TestValuesAreFollowed(t *testing.T) {
	was := object{hostSource: "a", portSource: 5432.0, zoneSource: "z", wholeDB: object{"name": "shop", "size": 1.0}}
	has := object{hostSource: "b", portSource: 5433.0, zoneSource: "z", wholeDB: object{"name": "shop", "size": 2.0}}
	same := object{"clusterVersion": "1.35"}
	s := bootstrap(was, has, data("db_host", "a", "b"), data("version", "x", "1.35"), inShop("host", "a", "b"), inShop("port", 5432.0, 5433.0), inShop("db.size", 1.0, 2.0), inShop("zone", "y", "z"))
	c := Cluster{Name: "demo", Stacks: []Stack{core(same, same), s}}
	assert.NilError(t, c.Trace(shop))
	follows := map[string]string{}
	for _, d := range c.Stacks[1].Resources[0].Diffs {
		follows[d.Path] = fmt.Sprint(d.From, d.Read)
	}
	assert.DeepEqual(t, follows, map[string]string{
		"data.db_host": "[] [" + hostSource + "]", "data.version": "[] []",
		`data["values.yaml"] → host`: "[] [" + hostSource + "]", `data["values.yaml"] → port`: "[] [" + portSource + "]",
		`data["values.yaml"] → db.size`: "[] [" + wholeDB + "]", `data["values.yaml"] → zone`: "[] []",
	})
	flows := Set{Clusters: []Cluster{c}}.Flows()
	assert.DeepEqual(t, flows, []Flow{
		{Output: wholeDB, Read: true, Before: was[wholeDB], After: has[wholeDB], Keys: []string{"shop/shop-values: db.size"}, Clusters: []string{"demo"}},
		{Output: hostSource, Read: true, Before: "a", After: "b", Keys: []string{"flux-system/infra-config: db_host", "shop/shop-values: host"}, Clusters: []string{"demo"}},
		{Output: portSource, Read: true, Before: 5432.0, After: 5433.0, Keys: []string{"shop/shop-values: port"}, Clusters: []string{"demo"}},
		{Keys: []string{"flux-system/infra-config: version", "shop/shop-values: zone"}, Clusters: []string{"demo"}},
	})
}

// Of a text that core's preview does not know as a whole, the values that were read are
// known.
func TestValuesInATextThatIsNotKnown(t *testing.T) {
	stack := core(object{"role": "arn:old"}, object{"role": plugin.UnknownStringValue})
	s := bootstrap(object{hostSource: "a", portSource: 5432.0, zoneSource: "z", wholeDB: nil}, object{hostSource: "a", portSource: 5433.0, zoneSource: "z", wholeDB: nil},
		Diff{
			Path: `data["values.yaml"]`, Before: "host: a\nport: 5432\nrole: arn:old\nzone: z\ndb: <nil>\n", After: value.Unknown{},
			Published: &Published{Object: "shop/shop-values", Key: "values.yaml"},
		})
	c := Cluster{Stacks: []Stack{stack, s}}
	assert.NilError(t, c.Trace(shop))
	got := map[string][]any{}
	for _, d := range c.Stacks[1].Resources[0].Diffs {
		got[d.Path] = []any{d.Before, d.After, fmt.Sprint(d.From, d.Read)}
	}
	assert.DeepEqual(t, got, map[string][]any{
		`data["values.yaml"] → port`: {5432.0, 5433.0, "[] [" + portSource + "]"},
		`data["values.yaml"] → role`: {"arn:old", value.Unknown{}, "[role] []"},
	})
}

// TestComponentsThatTell: what stands beside a secret is told by the component, where it changes; all
// else of components is not.
func TestComponentsThatTell(t *testing.T) {
	update := func(of string, was, has object) []Resource {
		var r Reader
		r.Read(events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: apitype.StepEventMetadata{
			Op: apitype.OpUpdate, Type: of, URN: "urn:pulumi:s::p::" + of + "::demo",
			Old: &apitype.StepEventStateMetadata{Inputs: was}, New: &apitype.StepEventStateMetadata{Inputs: has},
		}}}})
		return r.Stack(clusters{}, "demo-bootstrap", "bootstrap").Resources
	}
	told := update("tombolo:flux:Engine", object{"url": "a", "username": "lab"}, object{"url": "a", "username": "robot"})
	assert.Assert(t, is.Len(told, 1))
	assert.DeepEqual(t, told[0].Diffs, []Diff{{Path: "username", Before: "lab", After: "robot"}})
	assert.Check(t, is.Len(update("tombolo:flux:Engine", object{"url": "a"}, object{"url": "a"}), 0))
	assert.Check(t, is.Len(update("tombolo:eks:Cluster", object{"version": "1"}, object{"version": "2"}), 0))
}
