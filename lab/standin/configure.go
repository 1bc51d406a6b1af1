package standin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
)

// Configure gives this connection a configuration.
func (p *provider) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	config, err := p.config(req.Args)
	if err != nil {
		return nil, err
	}
	if problems := p.cloud.checkConfig(config); len(problems) > 0 {
		return nil, fmt.Errorf("%s", problems[0].Reason)
	}
	s := &session{Settings: config}
	s.Region, s.defaultTags = p.cloud.catalogue.Configuration.Session(config)
	s.Region = cmp.Or(s.Region, p.cloud.Region)
	if s.Caller, err = p.cloud.caller(config); err != nil {
		return nil, err
	}
	// The session outlives the request: it is as long as its connection.
	s.cancelled, s.cancel = context.WithCancelCause(context.Background())
	p.cloud.sessions.Store(connection(ctx), s)
	return &pulumirpc.ConfigureResponse{SupportsPreview: true}, nil
}

// CheckConfig validates a provider's configuration.
func (p *provider) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	config, err := p.config(req.News)
	if err != nil {
		return nil, err
	}
	var out []*pulumirpc.CheckFailure
	for _, problem := range p.cloud.checkConfig(config) {
		out = append(out, &pulumirpc.CheckFailure{Property: problem.Path, Reason: problem.Reason})
	}
	return &pulumirpc.CheckResponse{Inputs: req.News, Failures: out}, nil
}

// DiffConfig compares configurations.
func (p *provider) DiffConfig(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	olds, err := p.config(req.OldInputs)
	if err != nil {
		return nil, err
	}
	news, err := p.config(req.News)
	if err != nil {
		return nil, err
	}
	config := &Type{ForceNew: p.cloud.catalogue.Configuration.Replaces, schema: &schema{}}
	return config.diff(nil, olds, news, req.IgnoreChanges), nil
}

// config reads a configuration. Nested values arrive as JSON in a string.
func (p *provider) config(s *structpb.Struct) (Props, error) {
	config, err := Unmarshal(s, "the provider's configuration")
	if err != nil {
		return nil, err
	}
	fields := shapeOf(p.cloud.catalogue.Configuration.Settings)
	for key, value := range config {
		text, ok := value.(string)
		if t := fields.fields[key]; ok && t != nil && !isString(t) {
			var decoded any
			if json.Unmarshal([]byte(text), &decoded) == nil {
				config[key] = decoded
			}
		}
	}
	delete(config, "version")
	delete(config, "pluginDownloadURL")
	return config, nil
}

func isString(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.String
}

// caller is who a provider with a configuration acts as; "" for Options.Caller.
func (c *Cloud) caller(config Props) (string, error) {
	if c.catalogue.Configuration.Caller == nil {
		return "", nil
	}
	return c.catalogue.Configuration.Caller(c, config)
}

// checkConfig refuses settings that do not exist or have wrong values.
func (c *Cloud) checkConfig(config Props) []Problem {
	known := c.catalogue.Configuration
	problems := append(shapeOf(known.Settings).check("", config), known.Check(c, config)...)
	if _, err := c.caller(config); err != nil {
		problems = append(problems, Problem{Reason: err.Error()})
	}
	return problems
}
