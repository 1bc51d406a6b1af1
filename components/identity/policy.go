package identity

import (
	"encoding/json"
	"fmt"
	"strings"
)

// document is an IAM policy; the fields' order is the order in the JSON.
type document struct {
	Version   string
	Statement []statement
}

type statement struct {
	Effect    string
	Principal map[string]string `json:",omitempty"`
	Action    []string
	Resource  []string                     `json:",omitempty"`
	Condition map[string]map[string]string `json:",omitempty"`
}

const (
	policyVersion  = "2012-10-17"
	stsAudience    = "sts.amazonaws.com"
	podIdentity    = "pods.eks.amazonaws.com"
	assumeRole     = "sts:AssumeRole"
	assumeWithOIDC = "sts:AssumeRoleWithWebIdentity"
	tagSession     = "sts:TagSession"
)

// webIdentityTrust trusts one service account's tokens, made for STS. Both
// conditions matter: without sub any pod of the cluster could assume the role,
// without aud a token made for another audience could.
func webIdentityTrust(providerARN, issuer, namespace, serviceAccount string) (string, error) {
	host := strings.TrimPrefix(issuer, "https://")
	if host == "" {
		return "", fmt.Errorf("OIDC issuer %q has no host", issuer)
	}
	return render(statement{
		Effect:    "Allow",
		Principal: map[string]string{"Federated": providerARN},
		Action:    []string{assumeWithOIDC},
		Condition: map[string]map[string]string{"StringEquals": {
			host + ":aud": stsAudience,
			host + ":sub": "system:serviceaccount:" + namespace + ":" + serviceAccount,
		}},
	})
}

// podIdentityTrust trusts EKS Pod Identity on behalf of one cluster. The
// service tags its sessions, hence TagSession; which service account gets the
// role is said by the association.
func podIdentityTrust(account, clusterARN string) (string, error) {
	return render(statement{
		Effect:    "Allow",
		Principal: map[string]string{"Service": podIdentity},
		Action:    []string{assumeRole, tagSession},
		Condition: map[string]map[string]string{
			"ArnEquals":    {"aws:SourceArn": clusterARN},
			"StringEquals": {"aws:SourceAccount": account},
		},
	})
}

// ServiceTrust is the trust policy of a role that an AWS service assumes, such
// as eks.amazonaws.com.
func ServiceTrust(service string) (string, error) {
	return render(statement{
		Effect:    "Allow",
		Principal: map[string]string{"Service": service},
		Action:    []string{assumeRole},
	})
}

// permissions is the policy that allows the statements.
func permissions(statements []Statement) (string, error) {
	out := make([]statement, len(statements))
	for i, s := range statements {
		out[i] = statement{Effect: "Allow", Action: s.Actions, Resource: s.Resources}
	}
	return render(out...)
}

func render(statements ...statement) (string, error) {
	b, err := json.Marshal(document{Version: policyVersion, Statement: statements})
	if err != nil {
		return "", fmt.Errorf("render IAM policy: %w", err)
	}
	return string(b), nil
}

// policyName is the last part of a policy's ARN.
func policyName(arn string) string { return arn[strings.LastIndexAny(arn, "/:")+1:] }
