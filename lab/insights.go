package lab

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/aws/sts"
	"tombolo/lab/control"
	"tombolo/lab/standin"
)

// serveInsights answers the requests for insights.
func (d *daemon) serveInsights(mux *http.ServeMux) {
	handle(mux, "POST /insights", func(_ context.Context, r control.InsightRequest) (control.ServiceAnswer, error) {
		body, err := d.insights(r)
		var refused *eks.InsightError
		if errors.As(err, &refused) {
			return control.ServiceAnswer{Code: refused.Code, Message: refused.Message}, nil
		}
		return control.ServiceAnswer{Body: body}, err
	})
}

func (d *daemon) insights(r control.InsightRequest) (json.RawMessage, error) {
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
	list, err := eks.ListInsights(cloud, region, r.Cluster, eks.InsightFilter(r.Filter))
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
