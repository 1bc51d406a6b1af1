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

	"tombolo/lab/aws/account"
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
