// Package ssm is the Parameter Store of Systems Manager in the stand-in.
package ssm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

// Functions look up the public parameters that name machine images.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:ssm/getParameter:getParameter": {SDK: ssm.LookupParameter, Run: getParameter},
	}
}

var (
	imageParameter = regexp.MustCompile(`^/aws/service/eks/optimized-ami/(\d\.\d+)/(amazon-linux-2023/(x86_64|arm64)/standard/|amazon-linux-2(-arm64|-gpu)?/)recommended(/image_id|/release_version)?$`)
	otherImages    = []string{"/aws/service/bottlerocket/aws-k8s-", "/aws/service/ami-amazon-linux-latest/"}
)

// getParameter knows the public parameters that name machine images.
func getParameter(q *standin.Query) (standin.Props, error) {
	name := q.Args.Str("name")
	m := imageParameter.FindStringSubmatch(name)
	known := m != nil && slices.Contains(eks.KubernetesVersions, m[1])
	for _, prefix := range otherImages {
		known = known || strings.HasPrefix(name, prefix)
	}
	if !known {
		return nil, fmt.Errorf("reading SSM Parameter (%s): couldn't find resource (ParameterNotFound)", name)
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
