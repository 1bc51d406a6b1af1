package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// resourceType is all the stand-in knows of a type. Properties are not in here:
// they come from the SDK by the constructor.
type resourceType struct {
	// constructor of the Go SDK, such as ec2.NewVpc.
	constructor any
	// noun is what the AWS provider calls the resource in errors: "EC2 VPC".
	noun string
	// api names the service and the operations behind the type.
	api api
	// global types belong to no region.
	global bool
	// tagsHome is the region whose tagging API knows a global type. Where it is
	// empty, none does.
	tagsHome string
	// adopted resources are not made or deleted, only managed.
	adopted bool
	// forceNew are the properties that AWS cannot change: a change replaces
	// the resource. Paths such as vpcConfig.subnetIds. The source is the
	// ForceNew (RequiresReplace) of the attribute in the Terraform AWS
	// provider's resource, which the Pulumi provider bridges.
	forceNew []string
	// addable are those of forceNew that AWS takes later all the same, and only
	// does not change or take back.
	addable []string
	// ordered are the lists whose order means something; others are sets.
	ordered []string
	// documents are JSON documents that are equal when they mean the same.
	documents []string
	// renewed are outputs that an update changes, unless only inputs among
	// renewedNotBy change.
	renewed, renewedNotBy []string
	// decided are what AWS decides within objects among the inputs, as paths such
	// as vpcConfig.vpcId.
	decided []string
	// autoname makes a name when none is given.
	autoname autoname
	// defaults for inputs that are not given.
	defaults props
	// references to other resources.
	references []reference
	// inUse is how AWS refuses to delete a resource that others refer to.
	inUse refusal
	// validate finds bad values, before anything is made. It must cope with
	// unknown values.
	validate func(in props) []problem
	// create completes r.Outputs, which start as the inputs, and returns the
	// id. It runs under the cloud's lock.
	create func(c *call) (id string, err error)
	// update completes r.Outputs, which start as the old outputs with the new
	// inputs over them. Optional.
	update func(c *call) error
	// remove checks that AWS would delete the resource, and deletes what goes
	// with it. Optional.
	remove func(c *call) error
	// clear is what the provider does, by what the state says of the resource,
	// before it has AWS delete it. It runs under the cloud's lock. Optional.
	clear func(c *Cloud, region, id string, known props) error
	// settle brings the world outside the account in line with a record that
	// was created or updated, and may change its outputs. It takes as long as
	// it takes. Optional.
	settle func(ctx context.Context, c *Cloud, r *record) error
	// teardown is settle's counterpart before a record is removed.
	teardown func(ctx context.Context, c *Cloud, r *record) error
	// identifies tells whether an id in the provider's import form means r.
	// The id itself always does.
	identifies func(r *record, id string) bool
	// arn of resources that are taggable but have no output "arn".
	arn func(c *Cloud, r *record) string
	// takes are AWS's typical durations.
	takes timing

	token  string
	schema *schema
}

// api names AWS's operations for a type.
type api struct {
	service string // as the AWS SDK prints it: "EC2"
	create  string
	update  string
	remove  string
}

// autoname is how the bridged provider names a resource without a name.
type autoname struct {
	property string
	prefix   string
	max      int
	// finish changes the name that was made up. Optional.
	finish func(in props, made string) string
}

// reference says that a property refers to a resource of another type by id or
// ARN.
type reference struct {
	path []string
	to   string
	// missing is how AWS answers when there is no such resource; the message
	// is a format for the value.
	missing refusal
	// weak references do not keep the target from being deleted.
	weak bool
	// cascade: the holder goes when the target does.
	cascade bool
	// conflict replaces the target type's inUse message.
	conflict string
}

// refusal is an error code of AWS and a message.
type refusal struct {
	code    string
	message string
	status  int // HTTP status; default 400
}

// timing of a type's operations.
type timing struct{ create, update, remove time.Duration }

// The states of a record that has states.
const (
	statusCreating        = "CREATING"
	statusActive          = "ACTIVE"
	statusUpdating        = "UPDATING"
	statusDeleting        = "DELETING"
	statusPendingDeletion = "PendingDeletion"
)

// renews reports whether an update from one set of inputs to another changes
// the renewed outputs.
func (t *resourceType) renews(olds, news props) bool {
	for _, key := range unionKeys(olds, news) {
		if !slices.Contains(t.renewedNotBy, key) && !t.same(key, olds[key], news[key]) {
			return true
		}
	}
	return false
}

// call is one operation on one resource.
type call struct {
	cloud *Cloud
	*session
	typ *resourceType
	// action is creating, updating, deleting or reading.
	action string
	// r is the resource as it becomes; old is how it was, nil on creation.
	r, old *record
}

// in returns the inputs of the resource.
func (c *call) in() props { return c.r.Inputs }

// out returns the outputs of the resource.
func (c *call) out() props { return c.r.Outputs }

// name is the resource's own name or its id, for error texts.
func (c *call) name() string {
	if p := c.typ.autoname.property; p != "" && c.r.Inputs.str(p) != "" {
		return c.r.Inputs.str(p)
	}
	return c.r.ID
}

// arn makes an ARN in the resource's region.
func (c *call) arn(service, resource string) string {
	return c.cloud.arn(c.region, service, resource)
}

func (c *Cloud) arn(region, service, resource string) string {
	if service == "iam" {
		region = ""
	}
	return fmt.Sprintf("arn:%s:%s:%s:%s:%s", partition(region), service, region, c.options.Account, resource)
}

// find returns the resource of a type that an id or ARN means, or nil.
func (c *call) find(typ, value string) *record { return c.cloud.find(typ, c.region, value) }

func (c *Cloud) find(typ, region, value string) *record {
	if r := c.store.get(typ, region, value); r != nil {
		if r.gone() {
			return nil
		}
		return r
	}
	for r := range c.each(typ, region) {
		if r.means(value) {
			return r
		}
	}
	return nil
}

// means reports whether a value refers to the record.
func (r *record) means(value string) bool {
	return value != "" && (value == r.ID || value == r.Outputs.str("arn"))
}

// each yields a type's resources in a region, in the order of creation.
func (c *Cloud) each(typ, region string) func(func(*record) bool) {
	return func(yield func(*record) bool) {
		for _, r := range c.store.all() {
			if r.Type == typ && (r.Region == region || r.Region == global) && !r.gone() && !yield(r) {
				return
			}
		}
	}
}

// others yields the other resources of the call's type and region.
func (c *call) others() func(func(*record) bool) {
	return func(yield func(*record) bool) {
		for r := range c.cloud.each(c.typ.token, c.region) {
			if r.key() != c.r.key() && !yield(r) {
				return
			}
		}
	}
}

// checkReferences refuses references to what does not exist.
func (c *call) checkReferences() error {
	for _, ref := range c.typ.references {
		for _, value := range c.in().at(ref.path...) {
			if c.find(ref.to, value) == nil && ref.missing.code != "" {
				return c.refuse(ref.missing, value)
			}
		}
	}
	return nil
}

// dependants finds who refers to the call's resource: the ones that go with
// it, or an error for the first one that keeps it from being deleted.
func (c *call) dependants() ([]*record, error) {
	var cascade []*record
	for _, holder := range c.cloud.store.all() {
		if holder.gone() || holder.key() == c.r.key() || holder.Type == "" {
			continue
		}
		for _, ref := range c.cloud.types[holder.Type].references {
			if ref.to != c.typ.token || !slices.ContainsFunc(holder.Inputs.at(ref.path...), c.r.means) {
				continue
			}
			switch {
			case ref.cascade, holder.Implied:
				cascade = append(cascade, holder)
			case !ref.weak:
				refusal := c.typ.inUse
				if ref.conflict != "" {
					refusal.message = ref.conflict
				}
				return nil, c.refuse(refusal, c.r.ID)
			}
		}
	}
	return cascade, nil
}

// imply makes a resource that AWS makes by itself along with another one.
func (c *call) imply(typ, id string, in, out props) error {
	outputs := in.clone()
	maps.Copy(outputs, out)
	return c.cloud.store.put(&record{
		Type: typ, ID: id, Region: c.region, Created: c.cloud.now(), Implied: true,
		Inputs: in.clone(), Outputs: normal(outputs.clone()).(map[string]any),
	})
}
