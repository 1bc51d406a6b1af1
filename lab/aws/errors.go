package aws

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
)

// apiError is a refusal by AWS, in the words of the AWS provider.
type apiError struct {
	doing     string // creating EC2 VPC
	service   string
	operation string
	status    int
	code      string
	message   string
	// attempts that were made in vain; 0 when the provider makes only one.
	attempts int
}

// unmodelled are codes that the models of services do not know.
var unmodelled = []string{
	"InvalidParameterValue", "ValidationError", "ValidationException", "Throttling", "ThrottlingException", "InternalFailure",
}

// Error is what a user of the AWS provider sees: AWS's SDK prints errors that
// the service's model knows by their name, and others as "api error". EC2's
// model knows none, S3's few.
func (e *apiError) Error() string {
	prefix := ""
	if e.service == "EC2" || e.service == "S3" && !strings.HasPrefix(e.code, "BucketAlready") || slices.Contains(unmodelled, e.code) {
		prefix = "api error "
	}
	tries := ""
	if e.attempts > 0 {
		tries = fmt.Sprintf("exceeded maximum number of attempts, %d, ", e.attempts)
	}
	return fmt.Sprintf("%s: operation error %s: %s, %shttps response error StatusCode: %d, RequestID: %s, %s%s: %s",
		e.doing, e.service, e.operation, tries, e.status, requestID(), prefix, e.code, e.message)
}

func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// refuse makes the error of a call that AWS refuses.
func (c *call) refuse(r refusal, args ...any) error {
	message := r.message
	if len(args) > 0 {
		message = fmt.Sprintf(message, args...)
	}
	status := r.status
	if status == 0 {
		status = 400
	}
	operation := map[string]string{
		"creating": c.typ.api.create, "updating": c.typ.api.update, "deleting": c.typ.api.remove,
	}[c.action]
	doing := c.action + " " + c.typ.noun
	if name := c.name(); name != "" {
		doing += " (" + name + ")"
	}
	return &apiError{
		doing: doing, service: c.typ.api.service, operation: operation,
		status: status, code: r.code, message: message,
	}
}

// refusef is refuse with a message of its own.
func (c *call) refusef(code, format string, args ...any) error {
	return c.refuse(refusal{code: code, message: fmt.Sprintf(format, args...)})
}
