package aws

import (
	"fmt"
	"strings"
)

// request is a call of AWS's API that a fault can happen to.
type request struct {
	operation string
	// token of the resource's type, or of the function.
	token string
	noun  string
	api   api
	// name or id of the resource; it may be empty.
	name, region string
}

// request is one about a resource.
func (t *resourceType) request(operation, name, region string) request {
	return request{operation: operation, token: t.token, noun: t.noun, api: t.api, name: name, region: region}
}

// invocation is the request of a function. Nothing here knows which calls of
// AWS's are behind one: errors name the function.
func invocation(token, region string) request {
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
	return request{operation: opInvoke, token: token, noun: function, api: api{service: service}, region: region}
}

// refused is the error of a request that AWS answers with a code.
func (r request) refused(status int, code, message string) *apiError {
	doing := map[string]string{
		opCreate: "creating ", opRead: "reading ", opUpdate: "updating ", opDelete: "deleting ", opInvoke: "reading ",
	}[r.operation] + r.noun
	if r.name != "" {
		doing += " (" + r.name + ")"
	}
	return &apiError{
		doing: doing, service: r.api.service, operation: r.call(), status: status, code: code, message: message,
	}
}

// call is the name of AWS's operation.
func (r request) call() string {
	switch r.operation {
	case opCreate:
		return r.api.create
	case opUpdate:
		return r.api.update
	case opDelete:
		return r.api.remove
	case opInvoke:
		return strings.ToUpper(r.noun[:1]) + r.noun[1:]
	}
	kind := strings.TrimPrefix(r.api.create, "Create")
	switch r.api.service {
	case "EC2":
		return "Describe" + kind + "s"
	case "EKS", "EFS":
		return "Describe" + kind
	}
	return "Get" + kind
}

// exhausted is what the provider says once it does not repeat a request any
// more. The codes are those of
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html,
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html and
// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html.
func (r request) exhausted(kind FaultKind) error {
	e := r.serverError()
	if kind == FaultThrottled {
		e = r.throttled()
	}
	e.attempts = attempts
	return e
}

func (r request) throttled() *apiError {
	switch r.api.service {
	case "EC2":
		return r.refused(503, "RequestLimitExceeded", "Request limit exceeded.")
	case "S3":
		return r.refused(503, "SlowDown", "Please reduce your request rate.")
	case "IAM", "Route 53":
		return r.refused(400, "Throttling", "Rate exceeded")
	}
	return r.refused(400, "ThrottlingException", "Rate exceeded")
}

func (r request) serverError() *apiError {
	switch r.api.service {
	case "EC2":
		return r.refused(500, "InternalError", "An internal error has occurred")
	case "S3":
		return r.refused(500, "InternalError", "We encountered an internal error. Please try again.")
	case "EKS":
		return r.refused(500, "ServerException", "Internal server error")
	}
	return r.refused(500, "InternalFailure", "The request processing has failed because of an unknown error, exception or failure.")
}

// quotas are how AWS refuses what would be too many.
func quotas() map[string]refusal {
	return map[string]refusal{
		vpcType:           {code: "VpcLimitExceeded", message: "The maximum number of VPCs has been reached."},
		gatewayType:       {code: "InternetGatewayLimitExceeded", message: "The maximum number of internet gateways has been reached."},
		eipType:           {code: "AddressLimitExceeded", message: "The maximum number of addresses has been reached."},
		natType:           {code: "NatGatewayLimitExceeded", message: "The maximum number of NAT Gateways has been reached."},
		securityGroupType: {code: "SecurityGroupLimitExceeded", message: "The maximum number of security groups has been reached."},
		clusterType:       {code: "ResourceLimitExceededException", message: "Cluster limit exceeded for account."},
		nodeGroupType:     {code: "ResourceLimitExceededException", message: "NodeGroup limit exceeded for cluster."},
		roleType:          {code: "LimitExceeded", message: "Cannot exceed quota for RolesPerAccount: 1000", status: 409},
	}
}

func (r request) overQuota() error {
	if known, ok := quotas()[r.token]; ok {
		return r.refused(max(known.status, 400), known.code, known.message)
	}
	return r.refused(400, "LimitExceededException", "The quota of the account has been reached.")
}

// unanswered is how the provider reports that no answer came.
func (r request) unanswered() error {
	e := r.refused(0, "", "")
	return fmt.Errorf("%s: operation error %s: %s, https response error StatusCode: 0, RequestID: , request send failed, "+
		`Post "https://%s.%s.%s/": net/http: timeout awaiting response headers`,
		e.doing, e.service, e.operation, r.host(), r.region, dnsSuffix(r.region))
}

// host is the first part of a service's host name.
func (r request) host() string {
	known := map[string]string{
		"CloudWatch Logs": "logs", "EventBridge": "events", "EFS": "elasticfilesystem", "Resource Groups Tagging API": "tagging",
	}
	if host := known[r.api.service]; host != "" {
		return host
	}
	return strings.ToLower(strings.ReplaceAll(r.api.service, " ", ""))
}
