package standin

import "maps"

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
