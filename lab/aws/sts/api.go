package sts

import (
	"fmt"
	"net"
	"strings"
	"time"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/standin"
)

const (
	// Version of the API.
	Version      = "2011-06-15"
	stsNamespace = "https://sts.amazonaws.com/doc/" + Version + "/"
	// globalSTS answers for every region, as one of us-east-1.
	globalSTS, globalSTSRegion = "sts.amazonaws.com", "us-east-1"
	// largestSTS is the largest request that is read, in bytes. A web identity
	// token has at most 20000.
	largestSTS = 64 << 10
)

// Error is a refusal of STS: what the XML of an error says, and its status.
// The codes are those of the API reference:
// https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html
type Error struct {
	status        int
	code, message string
}

func (e *Error) Error() string { return e.code + ": " + e.message }

// Code of the refusal, in the query protocol.
func (e *Error) Code() string { return e.code }

// Message of the refusal.
func (e *Error) Message() string { return e.message }

func invalid(format string, args ...any) error {
	return &Error{400, "ValidationError", fmt.Sprintf(format, args...)}
}

// Host is the name of STS in a region.
func Host(region string) string { return "sts." + region + "." + account.DNSSuffix(region) }

// Hosts are the host names that STS answers to.
func Hosts() []string {
	hosts := []string{globalSTS}
	for _, region := range standin.SortedKeys(account.Regions) {
		hosts = append(hosts, Host(region))
	}
	return hosts
}

// Region is the region of one of STSHosts.
func Region(host string) (region string, known bool) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == globalSTS {
		return globalSTSRegion, true
	}
	region, _, _ = strings.Cut(strings.TrimPrefix(host, "sts."), ".")
	return region, account.Regions[region] != nil && Host(region) == host
}

// The results of the operations, as XML.
type (
	callerIdentity struct {
		Arn     string
		UserID  string `xml:"UserId"`
		Account string
	}
	assumedRole struct {
		User        assumedRoleUser `xml:"AssumedRoleUser"`
		Credentials stsCredentials
		// Of a web identity only.
		Subject  string `xml:"SubjectFromWebIdentityToken,omitempty"`
		Audience string `xml:",omitempty"`
		Provider string `xml:",omitempty"`
	}
	assumedRoleUser struct {
		ID  string `xml:"AssumedRoleId"`
		Arn string
	}
	stsCredentials struct {
		AccessKeyID     string `xml:"AccessKeyId"`
		SecretAccessKey string
		SessionToken    string
		Expiration      string
	}
	responseMetadata struct {
		RequestID string `xml:"RequestId"`
	}
)

func newCredentials(made sigv4.Credentials, expires time.Time) stsCredentials {
	return stsCredentials{
		AccessKeyID: made.AccessKeyID, SecretAccessKey: made.SecretAccessKey, SessionToken: made.SessionToken,
		Expiration: expires.UTC().Format(time.RFC3339),
	}
}
