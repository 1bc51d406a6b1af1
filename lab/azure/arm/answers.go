package arm

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"tombolo/lab/standin"
)

// Answers are Azure's errors, as azure-native 2.90 words them: with azcore, which is its
// backend by default. Source:
// https://github.com/pulumi/pulumi-azure-native/blob/006a62afe453b416e5d5c98d2d91c4c7281f52f9/provider/pkg/azure/client_azcore.go
type Answers struct{}

// Error is a refusal by Azure.
type Error struct {
	Status        int
	Code, Message string
}

// Error is what a user of azure-native sees.
func (e *Error) Error() string {
	return fmt.Sprintf("Status=%d Code=%q Message=\"%s\"", e.Status, e.Code, e.Message)
}

// Refused is the error of a request that Azure refuses.
func (Answers) Refused(_ standin.Request, why standin.Refusal) error {
	return &Error{Status: cmp.Or(why.Status, 400), Code: why.Code, Message: why.Message}
}

// Reason is the code of a refusal by Azure and its message; any other error's text.
func Reason(err error) string {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Code + ": " + refused.Message
	}
	return err.Error()
}

// Exhausted is the last answer of a request that azure-native repeats no more. Throttling
// is Resource Manager's; its answer says when to try again. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/request-limits-and-throttling
func (Answers) Exhausted(r standin.Request, kind standin.FaultKind, _ int) error {
	if kind == standin.FaultThrottled {
		return &Error{Status: 429, Code: "SubscriptionRequestsThrottled", Message: fmt.Sprintf(
			"Number of '%s' requests for subscription '%s' actor '%s' exceeded. Please try again after '17' seconds after additional tokens are available. "+
				"Refer to https://aka.ms/arm-throttling for additional information.", verb(r.Operation), Subscription, ClientObject)}
	}
	return &Error{Status: 500, Code: "InternalServerError", Message: "Encountered internal server error while processing " + r.Noun + "."}
}

// verb is what Resource Manager counts an operation as.
func verb(operation string) string {
	switch operation {
	case standin.OpCreate, standin.OpUpdate:
		return "write"
	case standin.OpDelete:
		return "delete"
	}
	return "read"
}

// Unanswered is how azure-native reports that no answer came: as Go's HTTP client does.
func (Answers) Unanswered(r standin.Request) error {
	method := map[string]string{
		standin.OpCreate: "Put", standin.OpUpdate: "Put", standin.OpDelete: "Delete", standin.OpRead: "Get", standin.OpInvoke: "Get",
	}[r.Operation]
	path := "/providers/" + r.Noun + "/" + r.Name
	if strings.HasPrefix(r.Name, "/") {
		path = r.Name
	}
	return fmt.Errorf("%s \"https://management.azure.com%s\": net/http: timeout awaiting response headers", method, path)
}

// Invocation is the request of a function.
func (Answers) Invocation(token, region string) standin.Request {
	return standin.Request{Operation: standin.OpInvoke, Token: token, Noun: token[strings.LastIndexByte(token, ':')+1:], Region: region}
}
