package aws

import (
	"strings"

	"tombolo/config"
	"tombolo/config/awsfacts"
)

// arn is an Amazon resource name and its fields.
type arn struct {
	scope
	text, service, resource string
}

func parseARN(text string) (arn, bool) {
	f := strings.SplitN(text, ":", 6)
	if len(f) != 6 || f[0] != "arn" {
		return arn{}, false
	}
	return arn{text: text, scope: scope{partition: f[1], region: f[3], account: f[4]}, service: f[2], resource: f[5]}, true
}

// scope is where a cluster's resources are, for ids that are ARNs or URLs.
type scope struct {
	partition, region, account string
}

func scopeOf(c *config.Cluster) scope {
	return scope{partition: awsfacts.Partition(c.Cloud.Region), region: c.Cloud.Region, account: c.Cloud.Account}
}

func queueURL(s scope, name string) string {
	suffix := "amazonaws.com"
	if s.partition == "aws-cn" {
		suffix = "amazonaws.com.cn"
	}
	return "https://sqs." + s.region + "." + suffix + "/" + s.account + "/" + name
}

func (s scope) iam(kind, name string) string {
	if name == "" {
		return ""
	}
	return "arn:" + s.partition + ":iam::" + s.account + ":" + kind + name
}
