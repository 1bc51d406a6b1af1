package account

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tombolo/lab/aws/apimodel"
	"tombolo/lab/standin"
)

// Error is a refusal by AWS, in the words of the AWS provider.
type Error struct {
	doing     string // creating EC2 VPC
	service   string
	operation string
	status    int
	Code      string
	Message   string
	// attempts that were made in vain; 0 when the provider makes only one.
	attempts int
}

// unmodelled are codes that the models of services do not know.
var unmodelled = []string{
	"InvalidParameterValue", "ValidationError", "ValidationException", "Throttling", "ThrottlingException", "InternalFailure",
}

// modelled reports whether the model of the call knows the error. Of calls that
// read, of which there is no model here, the common codes and EC2's and S3's are
// not known.
func (e *Error) modelled() bool {
	if codes, known := apimodel.Errors(e.service, e.operation); known {
		return slices.Contains(codes, e.Code)
	}
	return e.service != "EC2" && e.service != "S3" && !slices.Contains(unmodelled, e.Code)
}

// Error is what a user of the AWS provider sees: AWS's SDK prints errors that
// the model of the call knows by their name, and others as "api error".
func (e *Error) Error() string {
	prefix := "api error "
	if e.modelled() {
		prefix = ""
	}
	tries := ""
	if e.attempts > 0 {
		tries = fmt.Sprintf("exceeded maximum number of attempts, %d, ", e.attempts)
	}
	return fmt.Sprintf("%s: operation error %s: %s, %shttps response error StatusCode: %d, RequestID: %s, %s%s: %s",
		e.doing, e.service, e.operation, tries, e.status, RequestID(), prefix, e.Code, e.Message)
}

// Reason is the code and message of a refusal by AWS, for a service that asked
// another.
func Reason(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code + ": " + e.Message
	}
	return err.Error()
}

// RequestID makes the id of a request.
func RequestID() string { return UUID() }

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
