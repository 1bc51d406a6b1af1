// Package handoff is the contract between the core and the bootstrap stack: the
// outputs that core exports and bootstrap imports, and which only they read by
// name.
package handoff

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/stacks/state"
)

// SchemaVersion is the version of the contract. It goes up when a field is
// added, removed or changes its meaning.
const SchemaVersion = 6

// The stack outputs that hold the contract's version, and the name of the cloud
// that the cluster is on.
const (
	versionKey = "schemaVersion"
	cloudKey   = "cloud"
)

// Handoff is what core tells bootstrap: what every cluster has, and a part for the
// cloud that it is on. The tag of a field names the stack output; a field's type is
// one of StringOutput, StringArrayOutput and StringMapOutput.
type Handoff struct {
	// Cloud is the provider of the cloud, which tells whose part there is.
	Cloud string
	// ClusterName is the name of the cluster.
	ClusterName pulumi.StringOutput `output:"clusterName"`
	// ClusterID is the unique id of the cluster: on AWS its ARN, on Azure its id in Azure's
	// Resource Manager.
	ClusterID pulumi.StringOutput `output:"clusterId"`
	// Owner is the identity of the cluster, which no other of the same name has.
	Owner pulumi.StringOutput `output:"owner"`
	// ClusterVersion is the version of Kubernetes, such as 1.35.
	ClusterVersion pulumi.StringOutput `output:"clusterVersion"`
	// ClusterEndpoint is the URL of the Kubernetes API.
	ClusterEndpoint pulumi.StringOutput `output:"clusterEndpoint"`
	// ClusterCA is the certificate authority of the Kubernetes API, base64 of PEM.
	ClusterCA pulumi.StringOutput `output:"clusterCa"`
	// Region is the region of the cluster.
	Region pulumi.StringOutput `output:"region"`
	// OIDCIssuer is the issuer of service account tokens.
	OIDCIssuer pulumi.StringOutput `output:"oidcIssuer"`
	// AddonOutputs are what was made for the addons, by <addon>/<output>, such
	// as karpenter/queue_name.
	AddonOutputs pulumi.StringMapOutput `output:"addonOutputs"`

	// AWS is the part of a cluster on AWS.
	AWS AWS `cloud:"aws"`
	// Azure is the part of a cluster on Azure.
	Azure Azure `cloud:"azure"`

	// entries are those of maps, by output, where each is known or not on its
	// own: as an output, a map with one unknown entry is unknown.
	entries map[string]pulumi.StringMap
}

// AWS is what core tells bootstrap of a cluster on AWS.
type AWS struct {
	// ClusterARN is the ARN of the cluster.
	ClusterARN pulumi.StringOutput `output:"clusterArn"`
	// AccountID is the account of the cluster.
	AccountID pulumi.StringOutput `output:"accountId"`
	// Partition is the AWS partition, the second part of an ARN.
	Partition pulumi.StringOutput `output:"partition"`
	// OIDCProviderARN is the IAM provider for the issuer.
	OIDCProviderARN pulumi.StringOutput `output:"oidcProviderArn"`
	// VPCID is the id of the network.
	VPCID pulumi.StringOutput `output:"vpcId"`
	// VPCCIDR is the block of addresses of the network.
	VPCCIDR pulumi.StringOutput `output:"vpcCidr"`
	// PrivateSubnetIDs are the private subnets, in the order of zones.
	PrivateSubnetIDs pulumi.StringArrayOutput `output:"privateSubnetIds"`
	// PublicSubnetIDs are the public subnets, in the order of zones.
	PublicSubnetIDs pulumi.StringArrayOutput `output:"publicSubnetIds"`
	// ClusterSecurityGroupID is the group of control plane and nodes.
	ClusterSecurityGroupID pulumi.StringOutput `output:"clusterSecurityGroupId"`
	// NodeRoleARN is the role of the nodes.
	NodeRoleARN pulumi.StringOutput `output:"nodeRoleArn"`
	// ServiceRoleARNs are the roles of services with an identity, by service.
	ServiceRoleARNs pulumi.StringMapOutput `output:"serviceRoleArns"`
	// ArgoCDRoleARN is the role of a hub's Argo CD; "" where there is none.
	ArgoCDRoleARN pulumi.StringOutput `output:"argocdRoleArn"`
	// RegistrationRoleARN is the role by which the hub reaches a spoke; "" where
	// there is none.
	RegistrationRoleARN pulumi.StringOutput `output:"registrationRoleArn"`
}

// Azure is what core tells bootstrap of a cluster on Azure.
type Azure struct {
	// SubscriptionID is the subscription of the cluster.
	SubscriptionID pulumi.StringOutput `output:"subscriptionId"`
	// TenantID is the tenant of Entra of the subscription.
	TenantID pulumi.StringOutput `output:"tenantId"`
	// ResourceGroup is the name of the group of what core makes.
	ResourceGroup pulumi.StringOutput `output:"resourceGroup"`
	// NodeResourceGroup is the name of the group of what AKS makes itself.
	NodeResourceGroup pulumi.StringOutput `output:"nodeResourceGroup"`
	// VNetID is the id of the network; "" for one that AKS has made.
	VNetID pulumi.StringOutput `output:"vnetId"`
	// VNetCIDR is the network's blocks of addresses, separated by commas.
	VNetCIDR pulumi.StringOutput `output:"vnetCidr"`
	// NodeSubnetID is the id of the subnet of the nodes; "" for one that AKS has made.
	NodeSubnetID pulumi.StringOutput `output:"nodeSubnetId"`
	// KubeletClientID is the client id of the identity by which nodes pull images.
	KubeletClientID pulumi.StringOutput `output:"kubeletClientId"`
	// GitClientID is the client id of the identity by which the engine reads the repository; ""
	// where there is none.
	GitClientID pulumi.StringOutput `output:"gitClientId"`
	// ServiceClientIDs are the client ids of the identities of services, by service.
	ServiceClientIDs pulumi.StringMapOutput `output:"serviceClientIds"`
}

// WithMaps returns the hand-off with the identities of services, as its cloud has them, and
// what was made for addons.
func (h Handoff) WithMaps(services, addonOutputs pulumi.StringMap) Handoff {
	key, identities := h.services()
	*identities, h.AddonOutputs = services.ToStringMapOutput(), addonOutputs.ToStringMapOutput()
	h.entries = map[string]pulumi.StringMap{key: services, "addonOutputs": addonOutputs}
	return h
}

// services is the output with the identities of services: on AWS their roles, on Azure client
// ids.
func (h *Handoff) services() (key string, identities *pulumi.StringMapOutput) {
	if h.Cloud == string(config.Azure) {
		return "serviceClientIds", &h.Azure.ServiceClientIDs
	}
	return "serviceRoleArns", &h.AWS.ServiceRoleARNs
}

// ServiceIdentity is the identity of a service that has one: on AWS its role by its ARN, on
// Azure its client id.
func (h Handoff) ServiceIdentity(service string) pulumi.StringOutput {
	key, identities := h.services()
	if known, ok := h.entries[key]; ok {
		if id, ok := known[service]; ok {
			return id.ToStringOutput()
		}
		return pulumi.String("").ToStringOutput()
	}
	return identities.MapIndex(pulumi.String(service))
}

// AddonEntries are what was made for one addon, by the names of its outputs, each known
// or not on its own; false where the names are not known before the program runs, as
// when they come from a stack: AddonOutputs has them then.
func (h Handoff) AddonEntries(addon string) (pulumi.StringMap, bool) {
	known, ok := h.entries["addonOutputs"]
	if !ok {
		return nil, false
	}
	of := pulumi.StringMap{}
	for key, value := range known {
		if output, is := strings.CutPrefix(key, addon+"/"); is {
			of[output] = value
		}
	}
	return of, true
}

// Export makes the hand-off the outputs of the stack. It fails when a field has
// no value.
func Export(ctx *pulumi.Context, h Handoff) error {
	outputs, err := exports(h)
	if err != nil {
		return err
	}
	for key, output := range outputs {
		ctx.Export(key, output)
	}
	return nil
}

func exports(h Handoff) (pulumi.Map, error) {
	var missing []string
	outputs := pulumi.Map{versionKey: pulumi.Int(SchemaVersion), cloudKey: pulumi.String(h.Cloud)}
	each(&h, func(key string, field reflect.Value) {
		if field.IsZero() {
			missing = append(missing, key)
			return
		}
		outputs[key] = field.Interface().(pulumi.Input)
		if entries, ok := h.entries[key]; ok {
			outputs[key] = entries
		}
	})
	if len(missing) > 0 {
		return nil, fmt.Errorf("export hand-off: no value for %s", strings.Join(missing, ", "))
	}
	return outputs, nil
}

// Import reads the hand-off of coreStack, a stack of the same project and
// organization, such as demo-core, of a cluster on the cloud. With placeholders it
// reads nothing and every field is an unknown of its type, which only a preview may
// have: any other run is refused.
func Import(ctx *pulumi.Context, coreStack, cloud string, placeholders bool) (Handoff, error) {
	if placeholders {
		return placeholder(ctx, cloud)
	}
	ref, err := state.Of(ctx, strings.Join([]string{ctx.Organization(), ctx.Project(), coreStack}, "/"))
	if err != nil {
		return Handoff{}, fmt.Errorf("read outputs of stack %s: %w", coreStack, err)
	}
	version, err := ref.Details(versionKey)
	if err != nil {
		err = fmt.Errorf("read outputs of stack %s: %w; deploy core first: pulumi up -s %s", coreStack, err, coreStack)
		// The SDK shows the engine's bare "unknown stack" in place of what the
		// program returns, so say it here too.
		return Handoff{}, errors.Join(err, ctx.Log.Error(err.Error(), nil))
	}
	if err := checkVersion(coreStack, version.Value); err != nil {
		return Handoff{}, err
	}
	on, err := ref.Details(cloudKey)
	if err != nil {
		return Handoff{}, fmt.Errorf("read outputs of stack %s: %w", coreStack, err)
	}
	if on.Value != cloud {
		return Handoff{}, fmt.Errorf("stack %s is of a cluster on %v, and the cluster file says %s: correct cloud.provider", coreStack, on.Value, cloud)
	}
	h := Handoff{Cloud: cloud}
	each(&h, func(key string, field reflect.Value) {
		field.Set(reflect.ValueOf(convert(ref.Output(key), field.Type(), func(v any) (any, error) {
			return decode(coreStack, key, v, field.Type())
		})))
	})
	return h, nil
}

// placeholder is a hand-off of typed unknowns.
func placeholder(ctx *pulumi.Context, cloud string) (Handoff, error) {
	if !ctx.DryRun() {
		return Handoff{}, errors.New("import hand-off: placeholders stand for outputs that core does not have yet, " +
			"and cannot be applied: deploy core first, then run without placeholders")
	}
	h := Handoff{Cloud: cloud}
	each(&h, func(_ string, field reflect.Value) {
		unknown := pulumi.UnsafeUnknownOutput(nil)
		field.Set(reflect.ValueOf(convert(unknown, field.Type(), func(any) (any, error) {
			return reflect.Zero(plain(field.Type())).Interface(), nil
		})))
	})
	return h, nil
}

// checkVersion compares core's contract with ours; v is a JSON number.
func checkVersion(coreStack string, v any) error {
	if v == nil {
		return fmt.Errorf("stack %s has no hand-off: it was never deployed, or it is destroyed; "+
			"deploy core first: pulumi up -s %s", coreStack, coreStack)
	}
	version, ok := v.(float64)
	if !ok {
		return fmt.Errorf("stack %s has the hand-off version %v, which is no number: run up for core again", coreStack, v)
	}
	switch {
	case int(version) < SchemaVersion:
		return &olderError{coreStack, int(version)}
	case int(version) > SchemaVersion:
		return fmt.Errorf("stack %s has hand-off version %d, this tombolo knows %d: use the newer tombolo that deployed core", coreStack, int(version), SchemaVersion)
	}
	return nil
}

// olderError says that core has the hand-off of an earlier version.
type olderError struct {
	stack   string
	version int
}

func (e *olderError) Error() string {
	return fmt.Sprintf("stack %s has hand-off version %d, this tombolo needs %d: run up for core with this tombolo first", e.stack, e.version, SchemaVersion)
}

// each visits the fields of h with their output keys: those that every cluster has,
// and those of its cloud.
func each(h *Handoff, visit func(key string, field reflect.Value)) {
	eachOf(reflect.ValueOf(h).Elem(), h.Cloud, visit)
}

func eachOf(v reflect.Value, cloud string, visit func(key string, field reflect.Value)) {
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if key := tag.Get("output"); key != "" {
			visit(key, v.Field(i))
		}
		if part, ok := tag.Lookup("cloud"); ok && part == cloud {
			eachOf(v.Field(i), cloud, visit)
		}
	}
}

// plain is the Go type of an output's value.
func plain(output reflect.Type) reflect.Type {
	switch output {
	case reflect.TypeFor[pulumi.StringArrayOutput]():
		return reflect.TypeFor[[]string]()
	case reflect.TypeFor[pulumi.StringMapOutput]():
		return reflect.TypeFor[map[string]string]()
	default:
		return reflect.TypeFor[string]()
	}
}

// convert is an output of type t with f applied. Whether a value is unknown or
// secret survives.
func convert(o pulumi.Output, t reflect.Type, f func(any) (any, error)) pulumi.Output {
	switch t {
	case reflect.TypeFor[pulumi.StringArrayOutput]():
		return o.ApplyT(func(v any) ([]string, error) { return as[[]string](f(v)) })
	case reflect.TypeFor[pulumi.StringMapOutput]():
		return o.ApplyT(func(v any) (map[string]string, error) { return as[map[string]string](f(v)) })
	default:
		return o.ApplyT(func(v any) (string, error) { return as[string](f(v)) })
	}
}

func as[T any](v any, err error) (T, error) {
	t, _ := v.(T)
	return t, err
}

// decode turns a stack output, as JSON has it, into the type of a field.
func decode(stack, key string, v any, output reflect.Type) (any, error) {
	want := plain(output)
	wrong := fmt.Errorf("output %s of stack %s is %T, expected %s: run up for core again", key, stack, v, want)
	switch want.Kind() {
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			return nil, wrong
		}
		out := make([]string, len(list))
		for i, e := range list {
			if out[i], ok = e.(string); !ok {
				return nil, wrong
			}
		}
		return out, nil
	case reflect.Map:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, wrong
		}
		out := make(map[string]string, len(m))
		for k, e := range m {
			if out[k], ok = e.(string); !ok {
				return nil, wrong
			}
		}
		return out, nil
	default:
		s, ok := v.(string)
		if !ok {
			return nil, wrong
		}
		return s, nil
	}
}
