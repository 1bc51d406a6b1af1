// Package sts is Security Token Service in the stand-in: it identifies the
// signer of a request, and starts sessions of roles.
package sts

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/standin"
)

// Handler serves the Security Token Service on STSHosts: AssumeRole,
// AssumeRoleWithWebIdentity and GetCallerIdentity of its query API, signed in a
// header or in the URL. It decides by trust policies, by the caller's own
// policies, and by the tokens of the clusters of a role's account.
func Handler(accounts ...*standin.Cloud) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestSTS))
		if err != nil {
			answerSTS(w, nil, invalid("The request cannot be read: %v", err))
			return
		}
		result, err := callSTS(accounts, r, body)
		answerSTS(w, result, err)
	})
}

// stsResult is the answer to an operation.
type stsResult struct {
	operation string
	content   any
}

func callSTS(a Accounts, r *http.Request, body []byte) (*stsResult, error) {
	region, known := Region(r.Host)
	if !known || r.URL.Path != "/" {
		return nil, &Error{404, "InvalidAddress", "No STS is at " + r.Host + r.URL.Path}
	}
	form := r.URL.Query()
	if r.Method == http.MethodPost {
		sent, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, &Error{400, "MalformedQueryString", "The query string contains a syntax error"}
		}
		for key, values := range sent {
			form[key] = append(form[key], values...)
		}
	}
	action := form.Get("Action")
	result := &stsResult{operation: action}
	if form.Get("Version") != Version || !slices.Contains([]string{"AssumeRoleWithWebIdentity", "AssumeRole", "GetCallerIdentity"}, action) {
		return nil, &Error{400, "InvalidAction", fmt.Sprintf("Could not find operation %s for version %s", action, form.Get("Version"))}
	}
	if action == "AssumeRoleWithWebIdentity" {
		var err error
		result.content, err = assumeRoleWithWebIdentity(a.Of(form.Get("RoleArn")), region, form)
		return result, err
	}
	who, err := Identify(a.signer(r), r, body)
	if err != nil {
		return nil, err
	}
	if action == "AssumeRole" {
		result.content, err = assumeRole(a.Of(form.Get("RoleArn")), who, form)
		return result, err
	}
	result.content = callerIdentity{Arn: who.arn, UserID: who.userID, Account: who.home.Account}
	return result, nil
}

// answerSTS writes a result, or an error.
func answerSTS(w http.ResponseWriter, result *stsResult, err error) {
	status, id := http.StatusOK, account.RequestID()
	var data []byte
	if err == nil {
		data = encodeResult(result, id)
	} else {
		var refused *Error
		if !errors.As(err, &refused) {
			refused = &Error{500, "InternalFailure", err.Error()}
		}
		status, data = refused.status, encodeRefusal(refused, id)
	}
	w.Header().Set("Content-Type", "text/xml")
	w.Header().Set("X-Amzn-Requestid", id)
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client went away
}

// encodeResult names the elements after the operation:
// <AssumeRoleResponse><AssumeRoleResult>…
func encodeResult(result *stsResult, id string) []byte {
	var out bytes.Buffer
	encoder := xml.NewEncoder(&out)
	response := xml.StartElement{Name: xml.Name{Space: stsNamespace, Local: result.operation + "Response"}}
	err := errors.Join(
		encoder.EncodeToken(response),
		encoder.EncodeElement(result.content, xml.StartElement{Name: xml.Name{Local: result.operation + "Result"}}),
		encoder.EncodeElement(responseMetadata{id}, xml.StartElement{Name: xml.Name{Local: "ResponseMetadata"}}),
		encoder.EncodeToken(response.End()),
		encoder.Close(),
	)
	if err != nil {
		panic(err) // structs of strings always marshal
	}
	return out.Bytes()
}

func encodeRefusal(refused *Error, id string) []byte {
	type failure struct{ Type, Code, Message string }
	side := map[bool]string{true: "Receiver", false: "Sender"}[refused.status >= http.StatusInternalServerError]
	data, err := xml.Marshal(struct {
		XMLName   xml.Name
		Error     failure
		RequestID string `xml:"RequestId"`
	}{xml.Name{Space: stsNamespace, Local: "ErrorResponse"}, failure{side, refused.code, refused.message}, id})
	if err != nil {
		panic(err) // structs of strings always marshal
	}
	return data
}

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
func Host(region string) string { return account.Host("sts", region) }

// Hosts are the host names that STS answers to.
func Hosts() []string { return append([]string{globalSTS}, account.Hosts("sts")...) }

// Region is the region of one of STSHosts.
func Region(host string) (region string, known bool) {
	if name, _, _ := strings.Cut(host, ":"); name == globalSTS {
		return globalSTSRegion, true
	}
	return account.RegionOf("sts", host)
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
