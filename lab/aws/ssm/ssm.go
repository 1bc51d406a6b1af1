// Package ssm is the Parameter Store of Systems Manager in the stand-in.
package ssm

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/jsonapi"
	"tombolo/lab/aws/sts"
	"tombolo/lab/standin"
)

// Functions look up parameters: the account's, and the public ones that name machine
// images.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:ssm/getParameter:getParameter": {SDK: ssm.LookupParameter, Run: getParameter},
	}
}

var (
	imageParameter = regexp.MustCompile(`^/aws/service/eks/optimized-ami/(\d\.\d+)/(amazon-linux-2023/(x86_64|arm64)/standard/|amazon-linux-2(-arm64|-gpu)?/)recommended(/image_id|/release_version)?$`)
	otherImages    = []string{"/aws/service/bottlerocket/aws-k8s-", "/aws/service/ami-amazon-linux-latest/"}
)

// getParameter answers with the account's own parameter, or with a public one. Without
// decryption, a SecureString is its ciphertext:
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
func getParameter(q *standin.Query) (standin.Props, error) {
	name := q.Args.Str("name")
	if strings.HasPrefix(name, "/aws/service/") {
		return publicParameter(q, name)
	}
	found := q.Find(ParameterType, name)
	if found == nil {
		return nil, notFound(name)
	}
	out := standin.WithID(found)
	out["value"] = found.Outputs.Str("value")
	decrypted, asked := q.Args["withDecryption"].(bool)
	if found.Outputs.Str("type") != secureString {
		out["insecureValue"] = out["value"]
	} else if asked && !decrypted {
		out["value"] = ciphertext(q.Cloud, found)
	}
	return out, nil
}

// notFound is the provider's error: it has no code of AWS's in it (data source
// aws_ssm_parameter, whose finder makes a NotFoundError of ParameterNotFound).
func notFound(name string) error {
	return fmt.Errorf("reading SSM Parameter (%s): couldn't find resource (ParameterNotFound)", name)
}

// ciphertext stands for what KMS makes of the value: base64 that tells nothing of it.
func ciphertext(c *standin.Cloud, r *standin.Record) string {
	return base64.StdEncoding.EncodeToString(c.Sign("ssm "+r.ID, []byte(r.Outputs.Str("value"))))
}

// publicParameter knows the public parameters that name machine images.
func publicParameter(q *standin.Query, name string) (standin.Props, error) {
	m := imageParameter.FindStringSubmatch(name)
	known := m != nil && slices.Contains(eks.KubernetesVersions, m[1])
	for _, prefix := range otherImages {
		known = known || strings.HasPrefix(name, prefix)
	}
	if !known {
		return nil, notFound(name)
	}
	image := eks.ParameterImage(q.Region, name)
	value := image
	switch {
	case strings.HasSuffix(name, "/release_version"):
		value = m[1] + ".0-20260101"
	case strings.HasSuffix(name, "/recommended"):
		value = fmt.Sprintf(`{"image_id":%q,"schema_version":"2"}`, image)
	}
	return standin.Props{
		"id": name, "name": name, "arn": fmt.Sprintf("arn:%s:ssm:%s::parameter%s", account.Partition(q.Region), q.Region, name),
		"type": "String", "value": value, "insecureValue": value, "version": 1,
	}, nil
}

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
