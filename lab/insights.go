package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/aws/sts"
	"tombolo/lab/standin"
)

// InsightFilter holds what insights must be: categories such as UPGRADE_READINESS,
// versions of Kubernetes such as 1.35, statuses such as ERROR. An empty list is no
// condition.
type InsightFilter = eks.InsightFilter

// InsightRequest asks for the insights of a cluster.
type InsightRequest struct {
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

// insightAnswer has what EKS answers, or its refusal.
type insightAnswer struct {
	Body          json.RawMessage `json:"body,omitempty"`
	Code, Message string
}

// AWSError is a refusal of AWS's, in the words of its CLI.
type AWSError struct{ Operation, Code, Message string }

// Error says it as the CLI does.
func (e *AWSError) Error() string {
	return fmt.Sprintf("An error occurred (%s) when calling the %s operation: %s", e.Code, e.Operation, e.Message)
}

// EKSInsights returns what the stand-in's EKS answers to ListInsights or to
// DescribeInsight, in JSON. It asks with the credentials in this process's
// environment, and fails with an AWSError where EKS refuses.
func (l *Lab) EKSInsights(ctx context.Context, r InsightRequest) (json.RawMessage, error) {
	r.By = environmentCredentials()
	var a insightAnswer
	if err := l.ask(ctx, http.MethodPost, "/insights", r, &a); err != nil {
		return nil, fmt.Errorf("ask for the insights of cluster %s: %w", r.Cluster, err)
	}
	if a.Code != "" {
		return nil, &AWSError{r.operation(), a.Code, a.Message}
	}
	return a.Body, nil
}

// serveInsights answers EKSInsights.
func (d *daemon) serveInsights(mux *http.ServeMux) {
	handle(mux, "POST /insights", func(_ context.Context, r InsightRequest) (insightAnswer, error) {
		body, err := d.insights(r)
		var refused *eks.InsightError
		if errors.As(err, &refused) {
			return insightAnswer{Code: refused.Code, Message: refused.Message}, nil
		}
		return insightAnswer{Body: body}, err
	})
}

func (d *daemon) insights(r InsightRequest) (json.RawMessage, error) {
	cloud := d.accounts.with(r.Cluster)
	if err := knows(cloud, r.By, r.Cluster); err != nil {
		return nil, err
	}
	region := r.Region
	if cluster := eks.ClusterNamed(cloud, r.Cluster); region == "" && cluster != nil {
		region = cluster.Region
	}
	if r.Refresh != "" {
		status, err := eks.RefreshInsights(cloud, region, r.Cluster, r.Refresh)
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"status": status, "message": ""})
	}
	if r.ID != "" {
		insight, err := eks.DescribeInsight(cloud, region, r.Cluster, r.ID)
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"insight": insight})
	}
	list, err := eks.ListInsights(cloud, region, r.Cluster, r.Filter)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"insights": list})
}

// knows fails for credentials that are not the account's. It has STS tell, by the
// request that a token holds. What a role's policies allow is not asked.
func knows(cloud *standin.Cloud, by sigv4.Credentials, cluster string) error {
	if by.AccessKeyID == "" {
		return nil
	}
	token, _, err := authenticator.GetToken(cloud, by, cluster)
	if err != nil {
		return err
	}
	request, err := authenticator.TokenRequest(cluster, token)
	if err != nil {
		return err
	}
	if _, err := sts.Identify(cloud, request, nil); err != nil {
		return &eks.InsightError{Code: "UnrecognizedClientException", Message: "The security token included in the request is invalid."}
	}
	return nil
}
