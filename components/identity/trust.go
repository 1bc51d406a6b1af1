package identity

import (
	"fmt"
	"strings"

	"tombolo/components/policy"
)

const (
	stsAudience    = "sts.amazonaws.com"
	podIdentity    = "pods.eks.amazonaws.com"
	assumeRole     = "sts:AssumeRole"
	assumeWithOIDC = "sts:AssumeRoleWithWebIdentity"
	tagSession     = "sts:TagSession"
)

// WebIdentityTrust trusts the tokens of service accounts of one namespace, made
// for STS. Both conditions matter: without sub any pod of the cluster could assume the role,
// without aud a token made for another audience could.
func WebIdentityTrust(providerARN, issuer, namespace string, serviceAccounts []string) (string, error) {
	host := strings.TrimPrefix(issuer, "https://")
	if host == "" {
		return "", fmt.Errorf("OIDC issuer %q has no host", issuer)
	}
	var subjects []string
	for _, account := range serviceAccounts {
		subjects = append(subjects, "system:serviceaccount:"+namespace+":"+account)
	}
	return policy.Render(policy.Statement{
		Effect:    policy.Allow,
		Principal: map[string]string{"Federated": providerARN},
		Action:    []string{assumeWithOIDC},
		Condition: policy.Conditions{"StringEquals": {
			host + ":aud": {stsAudience},
			host + ":sub": subjects,
		}},
	})
}

// podIdentityTrust trusts EKS Pod Identity on behalf of one cluster. The
// service tags its sessions, hence TagSession; which service account gets the
// role is said by the association.
func podIdentityTrust(account, clusterARN string) (string, error) {
	return policy.Render(policy.Statement{
		Effect:    policy.Allow,
		Principal: policy.Service(podIdentity),
		Action:    []string{assumeRole, tagSession},
		Condition: policy.Conditions{
			"ArnEquals":    {"aws:SourceArn": {clusterARN}},
			"StringEquals": {"aws:SourceAccount": {account}},
		},
	})
}

// ServiceTrust trusts AWS services, such as eks.amazonaws.com, which may tag their sessions
// where it is told.
func ServiceTrust(services []string, tags bool) (string, error) {
	actions := []string{assumeRole}
	if tags {
		actions = append(actions, tagSession)
	}
	statements := make([]policy.Statement, len(services))
	for i, service := range services {
		statements[i] = policy.Statement{Effect: policy.Allow, Principal: policy.Service(service), Action: actions}
	}
	return policy.Render(statements...)
}
