// Package jsonapi serves services of the AWS stand-in over AWS's JSON protocol, at AWS's own
// host names: https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html.
package jsonapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/sts"
)

// largest request that is read, in bytes. A secret has at most 64 KiB.
const largest = 256 << 10

// Service is one that is served.
type Service struct {
	// Name of the service in host names and in signatures, such as secretsmanager.
	Name string
	// Target is what the header X-Amz-Target has before the operation.
	Target string
	// Call answers an operation for a caller whose signature is right; a refusal is a
	// *Refused.
	Call func(who sts.Caller, region, operation string, body []byte) (any, error)
}

// Refused is a refusal of a service.
type Refused struct{ Code, Message string }

func (r *Refused) Error() string { return r.Code + ": " + r.Message }

// Refusef is a refusal with a message of its own.
func Refusef(code, format string, args ...any) error {
	return &Refused{code, fmt.Sprintf(format, args...)}
}

// Denied is the refusal of an action that no policy of the caller allows. Source:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
func Denied(who sts.Caller, action, resource string) error {
	return Refusef("AccessDeniedException", "User: %s is not authorized to perform: %s on resource: %s because no identity-based policy allows the %s action",
		who.ARN(), action, resource, action)
}

// Decode reads a request.
func Decode(body []byte, in any) error {
	if err := json.Unmarshal(body, in); err != nil {
		return Refusef("SerializationException", "%s", err)
	}
	return nil
}

// Hosts are the names of the service in all regions.
func (s Service) Hosts() []string { return account.Hosts(s.Name) }

// Handler serves the services, each at its hosts.
func Handler(accounts sts.Accounts, services ...Service) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, s := range services {
			if region, known := account.RegionOf(s.Name, r.Host); known {
				body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
				var result any
				if err == nil {
					result, err = s.answer(accounts, r, region, body)
				}
				write(w, result, err)
				return
			}
		}
		write(w, nil, Refusef("UnknownOperationException", "no service is at %s", r.Host))
	})
}

func (s Service) answer(accounts sts.Accounts, r *http.Request, region string, body []byte) (any, error) {
	who, err := accounts.Identify(r, body, s.Name, region)
	if err != nil {
		return nil, Unidentified(err)
	}
	operation, ours := strings.CutPrefix(r.Header.Get("X-Amz-Target"), s.Target+".")
	if !ours {
		return nil, Unknown(r.Header.Get("X-Amz-Target"))
	}
	return s.Call(who, region, operation, body)
}

// Unknown is the refusal of an operation that the service does not have.
func Unknown(operation string) error {
	return Refusef("UnknownOperationException", "the AWS stand-in does not know the operation %q", operation)
}

// codes of the JSON protocol for those of the query protocol that STS has. Source:
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/CommonErrors.html
var codes = map[string]string{
	"InvalidClientTokenId": "UnrecognizedClientException", "SignatureDoesNotMatch": "InvalidSignatureException",
	"MissingAuthenticationToken": "MissingAuthenticationTokenException", "IncompleteSignature": "IncompleteSignatureException",
	"ExpiredToken": "ExpiredTokenException",
}

// Unidentified is the refusal of a request whose signature says nobody.
func Unidentified(err error) error {
	var refused *sts.Error
	if errors.As(err, &refused) && codes[refused.Code()] != "" {
		return &Refused{codes[refused.Code()], refused.Message()}
	}
	return err
}

func write(w http.ResponseWriter, result any, err error) {
	status := http.StatusOK
	if err != nil {
		refused := &Refused{}
		if status = http.StatusBadRequest; !errors.As(err, &refused) {
			status, refused = http.StatusInternalServerError, &Refused{"InternalServiceError", err.Error()}
		}
		result = map[string]string{"__type": refused.Code, "Message": refused.Message}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.Header().Set("X-Amzn-Requestid", account.RequestID())
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(result) // the client went away
}
