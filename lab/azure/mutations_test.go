package azure

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/azure/apimodel"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/compute"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/dns"
	"tombolo/lab/azure/keyvault"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/azure/storage"
	"tombolo/lab/standin"
)

// valid has inputs of each type that Azure takes.
func (w *world) valid() map[string]props {
	front := map[string]any{"name": "front", "subnet": map[string]any{"id": w.subnet.ID}}
	return map[string]props{
		arm.GroupType: {"resourceGroupName": "more", "location": arm.Location},
		network.NetworkType: w.inGroup(props{
			"virtualNetworkName": "more", "addressSpace": map[string]any{"addressPrefixes": list("10.2.0.0/16")},
		}),
		network.SubnetType:  {"resourceGroupName": demo, "virtualNetworkName": demo, "subnetName": "more", "addressPrefix": "10.1.16.0/24"},
		network.AddressType: w.inGroup(props{"publicIpAddressName": "more", "sku": map[string]any{"name": "Standard"}, "publicIPAllocationMethod": "Static"}),
		network.NatGatewayType: w.inGroup(props{
			"natGatewayName": "more", "sku": map[string]any{"name": "Standard"},
		}),
		network.RouteTableType: w.inGroup(props{"routeTableName": "more", "routes": list(map[string]any{"name": "out", "addressPrefix": "0.0.0.0/0", "nextHopType": "Internet"})}),
		network.BalancerType:   w.inGroup(props{"loadBalancerName": "more", "sku": map[string]any{"name": "Standard"}, "frontendIPConfigurations": list(front)}),
		dns.ZoneType:           {"resourceGroupName": demo, "zoneName": "more.example.com", "location": "global", "zoneType": "Public"},
		dns.PrivateZoneType:    {"resourceGroupName": demo, "privateZoneName": "more.example.com", "location": "global"},
		managedidentity.IdentityType: w.inGroup(props{
			"resourceName": "more",
		}),
		managedidentity.CredentialType: {
			"resourceGroupName": demo, "resourceName": "demo-kubelet", "federatedIdentityCredentialResourceName": "more", "issuer": "https://issuer.example/1/",
			"subject": "system:serviceaccount:shop:web", "audiences": list("api://AzureADTokenExchange"),
		},
		rbac.AssignmentType:       w.assignment(w.control.Out.Str("principalId"), rbac.Reader, w.group.ID, nil),
		compute.DiskType:          w.diskArgs(nil),
		keyvault.VaultType:        w.vault("kv-more", nil),
		storage.AccountType:       w.account("more", nil),
		storage.ContainerType:     inAccount("demologs", props{"containerName": "more"}),
		storage.PolicyType:        inAccount("demologs", lifecycle(rule(nil))),
		containerservice.PoolType: w.poolArgs(props{"agentPoolName": "more"}),
		containerservice.ClusterType: w.clusterArgs(props{
			"resourceName": "more", "nodeResourceGroup": "more-nodes", "dnsPrefix": "more", "sku": map[string]any{"name": "Base", "tier": "Standard"},
		}),
	}
}

// words of a resource provider that are in all such refusals of its.
var words = map[string]string{
	"containerservice": `The value of parameter `, "network": `Cannot parse the request. Error converting value "Bogus" to one of `,
	"keyvault": `Bad JSON content found in the request. Error converting value "Bogus" to one of `, "storage": `Values for request parameters are invalid: `,
	"compute": `Error converting value "Bogus" to one of `, "authorization": ` property 'Bogus' is not valid. It must be `,
}

// codes are how each resource provider refuses a value that it does not have.
var codes = map[string]string{
	"containerservice": "InvalidParameter", "network": "InvalidRequestFormat", "keyvault": "BadRequest", "storage": "InvalidValuesForRequestParameters",
	"compute": "BadRequest", "authorization": "BadRequest",
}

// TestMutations: of inputs that Azure takes, each value that its API limits is changed to one
// beyond, and is refused before anything is made.
func TestMutations(t *testing.T) {
	w := newWorld(t)
	w.Add(storage.AccountType, "logs", w.account("demologs", nil))
	rows := map[string]int{}
	for token, valid := range w.valid() {
		m := mutationOf(token)
		for _, m.limit = range m.limits {
			in, want := m.apply(valid)
			if len(want) == 0 {
				continue
			}
			rows[m.limit.Kind]++
			_, err := w.Try(token, "x", in)
			for _, words := range want {
				assert.Check(t, is.ErrorContains(err, words), "%s, %s of %s", token, m.limit.Kind, m.limit.Path)
			}
		}
	}
	total := 0
	for _, n := range rows {
		total += n
	}
	t.Logf("%d mutations are refused: %v", total, rows)
	assert.Check(t, total > 250 && rows["enum"] > 100, "%d rows: %v", total, rows)
	for token, valid := range w.valid() {
		w.Make(token, "x", valid)
	}
}

// TestValuesThatTheAPIHas: each value of an enumeration is taken, and each bound.
func TestValuesThatTheAPIHas(t *testing.T) {
	w := newWorld(t)
	rows := 0
	for token, valid := range w.valid() {
		m := mutationOf(token)
		for _, m.limit = range m.limits {
			for _, m.value = range within(m.limit) {
				in, given := m.apply(valid)
				if given == nil {
					continue
				}
				rows++
				in = standin.Normal(map[string]any(in)).(map[string]any)
				assert.Check(t, is.Len(apimodel.Check(token, in), 0), "%s: %v as %s", token, m.value, m.limit.Path)
				assert.Check(t, is.Len(apimodel.Faults(token, in), 0), "%s: %v as %s", token, m.value, m.limit.Path)
			}
		}
	}
	t.Logf("%d values are taken", rows)
	assert.Check(t, rows > 400, "%d rows", rows)
}

// within are values that a limit of an enumeration or a number lets through.
func within(limit apimodel.Limit) []any {
	switch limit.Kind {
	case "enum":
		values := []any{}
		for _, value := range limit.Allowed {
			values = append(values, value)
		}
		return values
	case "min", "max":
		return []any{limit.Bound}
	}
	return nil
}

// mutation changes one value of valid inputs to one beyond a limit, or to the given one.
type mutation struct {
	token  string
	inputs reflect.Type
	limits []apimodel.Limit
	limit  apimodel.Limit
	value  any
}

func mutationOf(token string) mutation {
	args := reflect.TypeOf(allTypes()[token].Constructor).In(2).Elem()
	return mutation{token: token, inputs: reflect.New(args).Elem().Interface().(pulumi.Input).ElementType(), limits: apimodel.Limits(token)}
}

// apply is the changed inputs, and how they are refused; no words where azure-native's types do
// not let the value be given.
func (m mutation) apply(valid props) (props, []string) {
	in := standin.Props(cloned(map[string]any(valid)).(map[string]any))
	t, at, leaf := m.inputs, map[string]any(in), m.limit.Path
	path, shown := "", ""
	for {
		before, after, nested := strings.Cut(leaf, ".")
		name := strings.NewReplacer("[]", "", "{}", "").Replace(before)
		field, known := fieldOf(t, name)
		if !known {
			return nil, nil
		}
		path, shown = joined(path, before), joined(shown, strings.NewReplacer("[]", "[0]", "{}", ".key").Replace(before))
		if !nested {
			return in, m.change(at, before, field, shown)
		}
		t = field
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		at = m.enter(at, before, name, path, t)
		leaf = after
	}
}

func joined(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// enter finds or makes the object that a part of a path leads to.
func (m mutation) enter(at map[string]any, part, name, path string, t reflect.Type) map[string]any {
	made := func() map[string]any { return m.minimal(t, path) }
	switch {
	case strings.HasSuffix(part, "[]"):
		if given, is := at[name].([]any); is && len(given) > 0 {
			return given[0].(map[string]any)
		}
		object := made()
		at[name] = []any{object}
		return object
	case strings.HasSuffix(part, "{}"):
		object := made()
		at[name] = map[string]any{"key": object}
		return object
	}
	if given, is := at[name].(map[string]any); is {
		return given
	}
	object := made()
	at[name] = object
	return object
}

// minimal is an object with what is required in it.
func (m mutation) minimal(t reflect.Type, path string) map[string]any {
	object := map[string]any{}
	for _, limit := range m.limits {
		parent, name := "", limit.Path
		if i := strings.LastIndexByte(limit.Path, '.'); i >= 0 {
			parent, name = limit.Path[:i], limit.Path[i+1:]
		}
		if field, known := fieldOf(t, name); known && limit.Kind == "required" && parent == path {
			object[name] = m.some(field, limit.Path)
		}
	}
	return object
}

// some is a value that the limits of a path let through.
func (m mutation) some(t reflect.Type, path string) any {
	for _, limit := range m.limits {
		switch {
		case limit.Path == path && limit.Kind == "enum":
			return limit.Allowed[0]
		case limit.Path == path && limit.Kind == "pattern":
			return arm.Tenant // the patterns of what is required are those of GUIDs
		case limit.Path == path && (limit.Kind == "min" || limit.Kind == "max"):
			return limit.Bound
		case limit.Path == path+"[]" && limit.Kind == "enum":
			return list(limit.Allowed[0])
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.some(t.Elem(), path)
	case reflect.Slice:
		return []any{m.some(t.Elem(), path+"[]")}
	case reflect.Map:
		return map[string]any{}
	case reflect.Struct:
		return m.minimal(t, path)
	case reflect.Bool:
		return true
	case reflect.Int, reflect.Float64:
		return 1.0
	}
	return "some"
}

// change sets the value, or takes it away, and says how that is refused.
func (m mutation) change(at map[string]any, part string, t reflect.Type, shown string) []string {
	name := strings.NewReplacer("[]", "", "{}", "").Replace(part)
	set := func(v any) {
		switch {
		case strings.HasSuffix(part, "[]"):
			v = []any{v}
		case strings.HasSuffix(part, "{}"):
			v = map[string]any{"key": v}
		}
		at[name] = v
	}
	if m.value != nil {
		set(m.value)
		return []string{shown}
	}
	bound := int(m.limit.Bound)
	switch m.limit.Kind {
	case "enum":
		set("Bogus")
		return m.refusal(shown)
	case "pattern":
		set("!")
		return []string{fmt.Sprintf("'%s' does not match expression '%s'", shown, m.limit.Allowed[0])}
	case "minLength":
		if bound == 1 {
			return nil // what is empty is not given
		}
		set(strings.Repeat("a", bound-1))
		return []string{fmt.Sprintf("'%s' is too short (%d)", shown, bound-1)}
	case "maxLength":
		set(strings.Repeat("a", bound+1))
		return []string{fmt.Sprintf("'%s' is too long (%d)", shown, bound+1)}
	case "min":
		set(m.limit.Bound - 1)
		return []string{fmt.Sprintf("'%s' is too low", shown)}
	case "max":
		set(m.limit.Bound + 1)
		return []string{fmt.Sprintf("'%s' is too high", shown)}
	case "minItems", "maxItems":
		v := make([]any, map[string]int{"minItems": bound - 1, "maxItems": bound + 1}[m.limit.Kind])
		for i := range v {
			v[i] = m.some(t.Elem(), m.limit.Path+"[]")
		}
		at[name] = v
		return append(m.refusal(shown)[:1], fmt.Sprintf("items, %d.", len(v)), name)
	case "required":
		if name == "location" {
			return nil // azure-native fills it in
		}
		delete(at, name)
		return []string{"required", name} // by azure-native, or its Go types before it
	}
	return nil
}

// refusal is the code of the resource provider, or of the property, and its name.
func (m mutation) refusal(shown string) []string {
	provider, _, _ := strings.Cut(strings.TrimPrefix(m.token, "azure-native:"), "/")
	provider, _, _ = strings.Cut(provider, ":")
	return []string{fmt.Sprintf("Code=%q", cmp.Or(m.limit.Code, codes[provider])), words[provider], shown[strings.LastIndexByte(shown, '.')+1:]}
}

func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	name = strings.NewReplacer("[]", "", "{}", "").Replace(name)
	if t.Kind() != reflect.Struct {
		return nil, false // azure-native has a list where the API has objects by names
	}
	for field := range t.Fields() {
		if tag, _, _ := strings.Cut(field.Tag.Get("pulumi"), ","); tag == name {
			return field.Type, true
		}
	}
	return nil, false
}

func cloned(v any) any {
	switch v := v.(type) {
	case props:
		return cloned(map[string]any(v))
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			out[key] = cloned(e)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			out = append(out, cloned(e))
		}
		return out
	}
	return v
}
