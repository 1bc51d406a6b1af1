package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"tombolo/lab/aws/sigv4"
)

// The requests of the lab's aws: JSON over HTTP on a unix socket that only the owner may open.
type (
	// TokenRequest asks for a token of a cluster.
	TokenRequest struct {
		Cluster string `json:"cluster"`
		// By are the credentials to sign with; the account's one user without any.
		By sigv4.Credentials `json:"by"`
	}
	// TokenAnswer is a bearer token, and when it expires.
	TokenAnswer struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires"`
	}
	// Role is what a session is asked for.
	Role struct {
		// ARN of the role, Session its session's name, ExternalID what its trust policy may ask
		// for.
		ARN        string `json:"arn"`
		Session    string `json:"session"`
		ExternalID string `json:"externalId"`
	}
	// AssumeRequest asks for a session of a role, for a holder of credentials.
	AssumeRequest struct {
		By   sigv4.Credentials `json:"by"`
		Role Role              `json:"role"`
	}
	// InsightFilter holds what insights must be: categories such as UPGRADE_READINESS,
	// versions of Kubernetes such as 1.35, statuses such as ERROR. An empty list is no
	// condition.
	InsightFilter struct {
		Categories         []string `json:"categories"`
		KubernetesVersions []string `json:"kubernetesVersions"`
		Statuses           []string `json:"statuses"`
	}
	// InsightRequest asks for the insights of a cluster.
	InsightRequest struct {
		// Cluster is the name of the cluster.
		Cluster string `json:"cluster"`
		// Region of the cluster. Default: the one that the cluster is in.
		Region string `json:"region"`
		// ID of the insight to describe. Without one, insights are listed.
		ID     string        `json:"id"`
		Filter InsightFilter `json:"filter"`
		// Refresh is StartInsightsRefresh or DescribeInsightsRefresh, to have all insights
		// looked at anew; "" for the insights themselves.
		Refresh string `json:"refresh,omitempty"`
		// By are the credentials of the request; the account's one user without any.
		By sigv4.Credentials `json:"by"`
	}
	// SecretsRequest is a request to Secrets Manager.
	SecretsRequest struct {
		// Operation of the API, such as GetSecretValue.
		Operation string `json:"operation"`
		// Region that it is for. Default: the lab's.
		Region string `json:"region"`
		// Input in the API's JSON.
		Input json.RawMessage `json:"input"`
		// By are the credentials of the request; the account's one user without any.
		By sigv4.Credentials `json:"by"`
	}
	// ServiceAnswer has what a service of AWS's answers, or its refusal.
	ServiceAnswer struct {
		Body          json.RawMessage `json:"body,omitempty"`
		Code, Message string
	}
)

// AWSError is a refusal of AWS's, in the words of its CLI.
type AWSError struct{ Operation, Code, Message string }

// Error says it as the CLI does.
func (e *AWSError) Error() string {
	return fmt.Sprintf("An error occurred (%s) when calling the %s operation: %s", e.Code, e.Operation, e.Message)
}

// EKSToken returns a bearer token for a cluster of the stand-in, as
// `aws eks get-token` would, and when it expires. It is signed with the credentials
// in this process's environment.
func (c Client) EKSToken(ctx context.Context, cluster string) (token string, expires time.Time, _ error) {
	var a TokenAnswer
	if err := c.Ask(ctx, http.MethodPost, "/token", TokenRequest{cluster, environmentCredentials()}, &a); err != nil {
		return "", time.Time{}, fmt.Errorf("get a token for cluster %s: %w", cluster, err)
	}
	return a.Token, a.Expires, nil
}

// AssumeRole returns the credentials of a session of a role, as `aws sts assume-role`
// would. It is asked for with the credentials in this process's environment.
func (c Client) AssumeRole(ctx context.Context, role Role) (sigv4.Credentials, error) {
	var out sigv4.Credentials
	if err := c.Ask(ctx, http.MethodPost, "/assume", AssumeRequest{environmentCredentials(), role}, &out); err != nil {
		return out, fmt.Errorf("assume role %s: %w", role.ARN, err)
	}
	return out, nil
}

// EKSInsights returns what the stand-in's EKS answers to ListInsights or to
// DescribeInsight, in JSON. It asks with the credentials in this process's
// environment, and fails with an AWSError where EKS refuses.
func (c Client) EKSInsights(ctx context.Context, r InsightRequest) (json.RawMessage, error) {
	r.By = environmentCredentials()
	var a ServiceAnswer
	if err := c.Ask(ctx, http.MethodPost, "/insights", r, &a); err != nil {
		return nil, fmt.Errorf("ask for the insights of cluster %s: %w", r.Cluster, err)
	}
	return a.of(r.operation())
}

// SecretsManager returns what the stand-in's Secrets Manager answers, in JSON. It asks with
// the credentials in this process's environment, and fails with an AWSError where the
// service refuses.
func (c Client) SecretsManager(ctx context.Context, r SecretsRequest) (json.RawMessage, error) {
	r.By = environmentCredentials()
	var a ServiceAnswer
	if err := c.Ask(ctx, http.MethodPost, "/secretsmanager", r, &a); err != nil {
		return nil, fmt.Errorf("ask Secrets Manager: %w", err)
	}
	return a.of(r.Operation)
}

// of is the answer of an operation, or its refusal.
func (a ServiceAnswer) of(operation string) (json.RawMessage, error) {
	if a.Code != "" {
		return nil, &AWSError{operation, a.Code, a.Message}
	}
	return a.Body, nil
}

// operation of EKS that answers the request.
func (r InsightRequest) operation() string {
	if r.Refresh != "" {
		return r.Refresh
	}
	if r.ID != "" {
		return "DescribeInsight"
	}
	return "ListInsights"
}

// environmentCredentials are those in this process's environment, where AWS's tools
// look for them; empty without any.
func environmentCredentials() sigv4.Credentials {
	return sigv4.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
}
