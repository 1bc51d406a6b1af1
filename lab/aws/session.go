package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	awssdk "github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/types/known/structpb"
)

var errCancelled = errors.New("the operation was cancelled")

// session is one configured provider. Engines share the process; each of their
// providers has a connection of its own, and that tells them apart.
type session struct {
	region      string
	defaultTags map[string]string
	// cancelled is done when the engine gave up.
	cancelled context.Context
	cancel    context.CancelCauseFunc
}

func connection(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return ""
}

func (p *provider) session(ctx context.Context) (*session, error) {
	s, ok := p.cloud.sessions.Load(connection(ctx))
	if !ok {
		return nil, errors.New("the AWS stand-in has no configuration for this connection: the lab was restarted in the middle; run again")
	}
	return s.(*session), nil
}

// scope is a context that also ends when the session is cancelled.
func (s *session) scope(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.cancelled, func() { cancel(context.Cause(s.cancelled)) })
	return ctx, func() { stop(); cancel(nil) }
}

// Configure gives this connection a configuration.
func (p *provider) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	config, err := configProps(req.Args)
	if err != nil {
		return nil, err
	}
	if problems := p.cloud.checkConfig(config); len(problems) > 0 {
		return nil, fmt.Errorf("%s", problems[0].reason)
	}
	s := &session{region: p.cloud.options.Region, defaultTags: config.sub("defaultTags").strs("tags")}
	if region := config.str("region"); region != "" {
		s.region = region
	}
	// The session outlives the request: it is as long as its connection.
	s.cancelled, s.cancel = context.WithCancelCause(context.Background())
	p.cloud.sessions.Store(connection(ctx), s)
	return &pulumirpc.ConfigureResponse{SupportsPreview: true}, nil
}

// CheckConfig validates a provider's configuration.
func (p *provider) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	config, err := configProps(req.News)
	if err != nil {
		return nil, err
	}
	var out []*pulumirpc.CheckFailure
	for _, problem := range p.cloud.checkConfig(config) {
		out = append(out, &pulumirpc.CheckFailure{Property: problem.path, Reason: problem.reason})
	}
	return &pulumirpc.CheckResponse{Inputs: req.News, Failures: out}, nil
}

// DiffConfig compares configurations: nothing of one region is in another.
func (p *provider) DiffConfig(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	olds, err := configProps(req.OldInputs)
	if err != nil {
		return nil, err
	}
	news, err := configProps(req.News)
	if err != nil {
		return nil, err
	}
	config := &resourceType{forceNew: []string{"region"}, schema: &schema{}}
	return config.diff(nil, olds, news, req.IgnoreChanges), nil
}

// configProps reads a configuration. Nested values arrive as JSON in a string.
func configProps(s *structpb.Struct) (props, error) {
	config, err := unmarshal(s, "the provider's configuration")
	if err != nil {
		return nil, err
	}
	fields := shapeOf(awssdk.ProviderArgs{}.ElementType())
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

// checkConfig refuses what the AWS provider refuses: unknown settings, regions
// that do not exist, other accounts.
func (c *Cloud) checkConfig(config props) []problem {
	fields := shapeOf(awssdk.ProviderArgs{}.ElementType())
	problems := fields.check("", config)
	if region := config.str("region"); region != "" && regions[region] == nil {
		problems = append(problems, problem{"region", "invalid AWS Region: " + region})
	}
	if reason := c.accountGuard(config); reason != "" {
		problems = append(problems, problem{"allowedAccountIds", reason})
	}
	return problems
}

func (c *Cloud) accountGuard(config props) string {
	account := c.options.Account
	allowed, forbidden := config.list("allowedAccountIds"), config.list("forbiddenAccountIds")
	if len(allowed) > 0 && !hasUnknown(config["allowedAccountIds"]) && !slices.Contains(allowed, account) {
		return fmt.Sprintf("AWS account ID not allowed: %s (allowedAccountIds: %s)", account, strings.Join(allowed, ", "))
	}
	if slices.Contains(forbidden, account) {
		return fmt.Sprintf("AWS account ID not allowed: %s (it is among forbiddenAccountIds)", account)
	}
	return ""
}
