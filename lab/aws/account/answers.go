package account

import (
	"cmp"
	"fmt"
	"strings"

	"tombolo/lab/standin"
)

// Answers are AWS's errors, as its provider words them.
type Answers struct{}

// Refused is the error of a request that AWS refuses.
func (Answers) Refused(r standin.Request, why standin.Refusal) error {
	return newError(r, cmp.Or(why.Status, 400), why.Code, why.Message)
}

// Invocation is the request of a function. Nothing here knows which calls of
// AWS's are behind one: errors name the function.
func (Answers) Invocation(token, region string) standin.Request {
	service, function, _ := strings.Cut(strings.TrimPrefix(token, "aws:"), "/")
	function = function[strings.LastIndexByte(function, ':')+1:]
	switch service {
	case "index":
		service = "EC2"
	case "ec2", "eks", "iam", "kms":
		service = strings.ToUpper(service)
	case "resourcegroupstaggingapi":
		service = "Resource Groups Tagging API"
	}
	return standin.Request{Operation: standin.OpInvoke, Token: token, Noun: function, API: standin.API{Service: service}, Region: region}
}

// newError is the error of a request that AWS answers with a code.
func newError(r standin.Request, status int, code, message string) *Error {
	doing := map[string]string{
		standin.OpCreate: "creating ", standin.OpRead: "reading ", standin.OpUpdate: "updating ", standin.OpDelete: "deleting ", standin.OpInvoke: "reading ",
	}[r.Operation] + r.Noun
	if r.Name != "" {
		doing += " (" + r.Name + ")"
	}
	return &Error{
		doing: doing, service: r.API.Service, operation: operationOf(r), status: status, Code: code, Message: message,
	}
}

// operationOf is the name of AWS's operation.
func operationOf(r standin.Request) string {
	switch r.Operation {
	case standin.OpCreate:
		return r.API.Create
	case standin.OpUpdate:
		return r.API.Update
	case standin.OpDelete:
		return r.API.Remove
	case standin.OpInvoke:
		return strings.ToUpper(r.Noun[:1]) + r.Noun[1:]
	}
	kind := strings.TrimPrefix(r.API.Create, "Create")
	switch r.API.Service {
	case "EC2":
		return "Describe" + kind + "s"
	case "EKS", "EFS":
		return "Describe" + kind
	}
	return "Get" + kind
}

// Exhausted is what the provider says once it does not repeat a request any
// more. The codes are those of
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html,
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html and
// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html.
func (Answers) Exhausted(r standin.Request, kind standin.FaultKind, attempts int) error {
	e := serverError(r)
	if kind == standin.FaultThrottled {
		e = throttled(r)
	}
	e.attempts = attempts
	return e
}

func throttled(r standin.Request) *Error {
	switch r.API.Service {
	case "EC2":
		return newError(r, 503, "RequestLimitExceeded", "Request limit exceeded.")
	case "S3":
		return newError(r, 503, "SlowDown", "Please reduce your request rate.")
	case "IAM", "Route 53":
		return newError(r, 400, "Throttling", "Rate exceeded")
	}
	return newError(r, 400, "ThrottlingException", "Rate exceeded")
}

func serverError(r standin.Request) *Error {
	switch r.API.Service {
	case "EC2":
		return newError(r, 500, "InternalError", "An internal error has occurred")
	case "S3":
		return newError(r, 500, "InternalError", "We encountered an internal error. Please try again.")
	case "EKS":
		return newError(r, 500, "ServerException", "Internal server error")
	}
	return newError(r, 500, "InternalFailure", "The request processing has failed because of an unknown error, exception or failure.")
}

// Unanswered is how the provider reports that no answer came.
func (Answers) Unanswered(r standin.Request) error {
	e := newError(r, 0, "", "")
	return fmt.Errorf("%s: operation error %s: %s, https response error StatusCode: 0, RequestID: , request send failed, "+
		`Post "https://%s.%s.%s/": net/http: timeout awaiting response headers`,
		e.doing, e.service, e.operation, host(r), r.Region, DNSSuffix(r.Region))
}

// host is the first part of a service's host name.
func host(r standin.Request) string {
	known := map[string]string{
		"CloudWatch Logs": "logs", "EventBridge": "events", "EFS": "elasticfilesystem", "Resource Groups Tagging API": "tagging",
	}
	if host := known[r.API.Service]; host != "" {
		return host
	}
	return strings.ToLower(strings.ReplaceAll(r.API.Service, " ", ""))
}
