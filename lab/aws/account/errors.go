package account

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"tombolo/lab/aws/apimodel"
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
func RequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
