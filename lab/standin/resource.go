package standin

import (
	"context"
	"maps"
	"strings"
	"time"
)

// Type is all the stand-in knows of a type. Properties are not in here:
// they come from the SDK by the constructor.
type Type struct {
	// Constructor of the Go SDK, such as ec2.NewVpc.
	Constructor any
	// Noun is what the provider calls the resource in errors: "EC2 VPC".
	Noun string
	// API names the service and the operations behind the type.
	API API
	// Global types belong to no region.
	Global bool
	// Adopted resources are not made or deleted, only managed.
	Adopted bool
	// ForceNew are the properties that the cloud cannot change: a change replaces
	// the resource. Paths such as vpcConfig.subnetIds. For a bridged provider the
	// source is the ForceNew (RequiresReplace) of the attribute in the Terraform
	// provider's resource.
	ForceNew []string
	// Addable are those of ForceNew that the cloud takes later all the same, and only
	// does not change or take back.
	Addable []string
	// Ordered are the lists whose order means something; others are sets.
	Ordered []string
	// Documents are JSON documents that are equal when they mean the same.
	Documents []string
	// Renewed are outputs that an update changes, unless only inputs among
	// renewedNotBy change.
	Renewed, RenewedNotBy []string
	// Decided are what the cloud decides within objects among the inputs, as paths such
	// as vpcConfig.vpcId.
	Decided []string
	// Autoname makes a name when none is given.
	Autoname Autoname
	// Defaults for inputs that are not given.
	Defaults Props
	// Unplayed are inputs that no program sends: who does is told that the stand-in has not
	// what they ask for.
	Unplayed []string
	// References to other resources.
	References []Reference
	// InUse is how the cloud refuses to delete a resource that others refer to.
	InUse Refusal
	// Validate finds bad values, before anything is made. It must cope with
	// unknown values.
	Validate func(in Props) []Problem
	// Put is what creation and update have in common: it refuses what the cloud
	// refuses, and completes r.Outputs. It runs before both. Optional.
	Put func(c *Call) error
	// Create completes r.Outputs, which start as the inputs, and returns the
	// id. It runs under the cloud's lock.
	Create func(c *Call) (id string, err error)
	// Update completes r.Outputs, which start as the old outputs with the new
	// inputs over them. Optional.
	Update func(c *Call) error
	// Remove checks that the cloud would delete the resource, and deletes what goes
	// with it. Optional.
	Remove func(c *Call) error
	// Clear is what the provider does, by what the state says of the resource,
	// before it has the cloud delete it. It runs under the cloud's lock. Optional.
	Clear func(c *Cloud, region, id string, known Props) error
	// Settle brings the world outside the account in line with a record that
	// was created or updated, and may change its outputs. It takes as long as
	// it takes. Optional.
	Settle func(ctx context.Context, c *Cloud, r *Record) error
	// Teardown is settle's counterpart before a record is removed.
	Teardown func(ctx context.Context, c *Cloud, r *Record) error
	// Identifies tells whether an id in the provider's import form means r.
	// The id itself always does.
	Identifies func(r *Record, id string) bool
	// Takes are the cloud's typical durations.
	Takes Timing

	// LimitExceeded is how the cloud refuses one more than the quota has.
	LimitExceeded Refusal

	token  string
	schema *schema
	// allTags and native are the Catalogue's.
	allTags string
	native  Native
}

// API names the cloud's operations for a type.
type API struct {
	Service string // as the cloud's SDK prints it: "EC2"
	Create  string
	Update  string
	Remove  string
}

// Autoname is how the bridged provider names a resource without a name.
type Autoname struct {
	Property string
	Prefix   string
	Max      int
	// Finish changes the name that was made up. Optional.
	Finish func(made string) string
	// Make makes the whole name, of a provider that names in another way. Optional.
	Make func(seed []byte, name string) (string, error)
	// Made tells a name that Make has made. Required with Make.
	Made func(name string) bool
}

// Reference says that a property refers to a resource of another type by id or
// ARN.
type Reference struct {
	Path []string
	To   string
	// Missing is how the cloud answers when there is no such resource; the
	// message can have a %s for the value.
	Missing Refusal
	// Weak references do not keep the target from being deleted.
	Weak bool
	// cascade: the holder goes when the target does.
	Cascade bool
	// Conflict replaces the target type's inUse message.
	Conflict string
}

// Timing of a type's operations.
type Timing struct{ Create, Update, Remove time.Duration }

// HasInput reports whether a property is among a type's inputs.
func (t *Type) HasInput(property string) bool { return t.schema.inputs.fields[property] != nil }

// HasOutput reports whether a property is among a type's outputs.
func (t *Type) HasOutput(property string) bool {
	return t.schema.outputs.fields[property] != nil
}

// Required are the inputs that a type cannot do without, in order.
func (t *Type) Required() []string { return SortedKeys(t.schema.required) }

// Refusal is an error code of a cloud and a message.
type Refusal struct {
	Code    string
	Message string
	Status  int // HTTP status; default 400
	// Call of the cloud's API that refuses an update. Default: the type's own.
	Call string
}

// About puts a value into the message, where the message has a %s for it.
func (r Refusal) About(value string) Refusal {
	r.Message = strings.ReplaceAll(r.Message, "%s", value)
	return r
}

// request is one about a resource.
func (t *Type) request(operation, name, region string) Request {
	return Request{Operation: operation, Token: t.token, Noun: t.Noun, API: t.API, Name: name, Region: region}
}

// Request is a call of the cloud's API, as errors name it.
type Request struct {
	Operation string
	// Token of the resource's type, or of the function.
	Token string
	Noun  string
	API   API
	// Name or id of the resource; it may be empty.
	Name, Region string
}

// Function is a function of the provider: a data source in Terraform's words.
type Function struct {
	// SDK is the function of the Go SDK, such as ec2.LookupVpc.
	SDK any
	// Run answers a call. What it returns is completed with the arguments.
	Run func(q *Query) (Props, error)

	schema *schema
}

// Query is one call of a function.
type Query struct {
	*Call
	Args Props
}

// invoke runs a function under the cloud's lock.
func (c *Cloud) invoke(s *session, f *Function, args Props) (Props, error) {
	defer c.Lock()()
	q := &Query{Args: args, Call: &Call{
		Cloud: c, session: s, operation: OpInvoke,
		Type: &Type{schema: &schema{inputs: &shape{}, outputs: &shape{}}}, Record: &Record{Inputs: args, Region: s.Region},
	}}
	found, err := f.Run(q)
	if err != nil {
		return nil, err
	}
	out := args.Clone()
	for key, value := range found {
		if _, known := f.schema.outputs.fields[key]; known {
			out[key] = cloneValue(value)
		}
	}
	return Normal(map[string]any(out)).(map[string]any), nil
}

// WithID returns a record's outputs and its id.
func WithID(r *Record) Props {
	out := r.Outputs.Clone()
	out["id"] = r.ID
	return out
}

// Merged returns a copy of p with more over it.
func Merged(p, more Props) Props {
	out := p.Clone()
	maps.Copy(out, more)
	return out
}
