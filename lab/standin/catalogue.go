package standin

import (
	"fmt"
	"reflect"
	"slices"
)

// Catalogue is what a stand-in knows of the cloud that it stands for.
type Catalogue struct {
	// Cloud is the cloud's name in messages, such as AWS.
	Cloud string
	// Version of the Pulumi provider that is simulated.
	Version string
	// Types and Functions by their tokens, such as aws:ec2/vpc:Vpc.
	Types     map[string]*Type
	Functions map[string]*Function
	// Questions to the cloud's API past the provider that faults can happen to; none where no
	// such API is served.
	Questions []string
	// Configuration is what a provider can be configured with.
	Configuration Configuration
	// Answers are the cloud's errors.
	Answers Answers
	// LimitExceeded is the refusal for a quota, of types that have none of
	// their own.
	LimitExceeded Refusal
	// Reference is an output that resources are referred to by, besides their
	// id, such as arn.
	Reference string
	// Names are the outputs that can be a resource's own name, the best first.
	Names []string
	// AllTags is the output that repeats all tags of a resource. Types that
	// have it, and an input named tags, have tags. Empty where a provider has no tags
	// of its own: then tags are an input as any other.
	AllTags string
	// Native is in what the provider differs from one that is bridged from Terraform.
	Native Native
	// CheckTags finds tags that the cloud does not accept.
	CheckTags func(in Props) []Problem
	// Resumed are the types that stand for something that runs outside of the
	// account, in the order in which they are started again.
	Resumed []Resumption
}

// Resumption says how resources of a type are started again.
type Resumption struct {
	// Type is the token of the type.
	Type string
	// Within is the input that names the resource of a type before, which has to
	// run first; empty where there is none.
	Within string
	// Holder is the id of that resource, where no input is. Optional.
	Holder func(r *Record) string
}

// holder is the id of the resource that has to run before one.
func (r Resumption) holder(of *Record) string {
	if r.Holder != nil {
		return r.Holder(of)
	}
	return of.Inputs.Str(r.Within)
}

// Configuration is what a provider of the cloud can be configured with.
type Configuration struct {
	// Settings is the struct of the SDK that has them.
	Settings reflect.Type
	// Replaces are the settings whose change replaces every resource.
	Replaces []string
	// Check finds wrong values of known settings.
	Check func(c *Cloud, config Props) []Problem
	// Session reads the region and the tags that all resources get; either can
	// be empty.
	Session func(config Props) (region string, tags map[string]string)
	// Caller is who the provider acts as, where its settings say so; "" for Options.Caller.
	// The error says why it cannot. Optional.
	Caller func(c *Cloud, config Props) (string, error)
	// Account is the account that the settings lead to; "" for the one of the credentials.
	Account func(config Props) string
}

// Answers make the errors of a cloud, in the words of its provider.
type Answers interface {
	// Refused is the error of a request that the cloud refuses.
	Refused(r Request, why Refusal) error
	// Exhausted is the error of a request that was throttled, or that met an
	// error of the cloud's own, in all of the provider's attempts.
	Exhausted(r Request, kind FaultKind, attempts int) error
	// Unanswered is the error of a request that no answer came to.
	Unanswered(r Request) error
	// Invocation is the request that is behind a function.
	Invocation(token, region string) Request
}

// check finds what is wrong with the inputs of a type that are complete.
func (k *Catalogue) check(typ *Type, in Props) []Problem {
	problems := slices.Concat(typ.schema.check(in), typ.unplayed(in), k.CheckTags(in))
	if len(problems) == 0 && typ.Validate != nil {
		problems = typ.Validate(in)
	}
	return problems
}

// prepare derives the schemas of all types and functions.
func (k *Catalogue) prepare() error {
	for token, typ := range k.Types {
		var err error
		if typ.schema, err = resourceSchema(typ.Constructor); err != nil {
			return fmt.Errorf("derive the schema of %s: %w", token, err)
		}
		typ.token = token
		typ.allTags, typ.native = k.AllTags, k.Native
	}
	for _, f := range k.Functions {
		f.schema = functionSchema(f.SDK)
	}
	return nil
}
