package ssm

import (
	"strings"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/jsonapi"
	"tombolo/lab/aws/sts"
)

// Service is Parameter Store's API, as far as External Secrets fetches by name:
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
func Service() jsonapi.Service {
	return jsonapi.Service{Name: "ssm", Target: "AmazonSSM", Call: call}
}

func call(who sts.Caller, region, operation string, body []byte) (any, error) {
	if operation != "GetParameter" {
		return nil, jsonapi.Unknown(operation)
	}
	var in struct {
		Name           string
		WithDecryption bool
	}
	if err := jsonapi.Decode(body, &in); err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(in.Name, ":") // a version or a label may follow
	c := who.Cloud()
	arn := name
	if !strings.HasPrefix(in.Name, "arn:") {
		arn = account.ARNIn(c, region, "ssm", "parameter/"+strings.TrimPrefix(name, "/"))
	}
	if !who.May("ssm:"+operation, arn, nil) {
		return nil, jsonapi.Denied(who, "ssm:"+operation, arn)
	}
	defer c.Lock()()
	found := c.Find(ParameterType, region, name)
	if found == nil || name != in.Name {
		return nil, jsonapi.Refusef("ParameterNotFound", "")
	}
	value := found.Outputs.Str("value")
	if found.Outputs.Str("type") == secureString && !in.WithDecryption {
		value = ciphertext(c, found)
	}
	return map[string]any{"Parameter": map[string]any{
		"ARN": arn, "Name": found.ID, "Type": found.Outputs.Str("type"), "Value": value, "Version": found.Outputs.Integer("version"),
		"DataType": found.Outputs.Str("dataType"),
	}}, nil
}
