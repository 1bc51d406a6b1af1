package drift

import (
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// Sighting is a cloud resource that carries the cluster's ownership tag.
type Sighting struct {
	ARN  string
	Tags map[string]string
}

// makers are who makes resources in a cluster's name besides its stacks, by a
// tag that each of them sets. Sources: the tagging pages of Amazon EKS, EC2
// Auto Scaling and AWS Backup, and the documentation of the AWS Load Balancer
// Controller, the EBS and EFS CSI drivers, the AWS cloud provider and Karpenter.
var makers = []struct{ tag, maker string }{
	{"karpenter.sh/nodepool", "Karpenter"},
	{"karpenter.sh/nodeclaim", "Karpenter"},
	{"eks:nodegroup-name", "EKS node groups"},
	{"aws:autoscaling:groupName", "EKS node groups"},
	{"aws:eks:cluster-name", "EKS"},
	{"elbv2.k8s.aws/cluster", "the AWS Load Balancer Controller"},
	{"kubernetes.io/service-name", "the AWS cloud provider"},
	{"ebs.csi.aws.com/cluster", "the EBS CSI driver"},
	{"kubernetes.io/created-for/pvc/name", "the EBS CSI driver"},
	{"efs.csi.aws.com/cluster", "the EFS CSI driver"},
	{"aws:backup:source-resource", "AWS Backup"},
}

// Known is what states have of the cloud.
type Known struct{ ids, arns map[string]bool }

// Know gathers the ids and ARNs of states' resources.
func Know(states ...[]apitype.ResourceV3) Known {
	k := Known{ids: map[string]bool{}, arns: map[string]bool{}}
	for _, resources := range states {
		for _, r := range resources {
			k.ids[string(r.ID)] = true
			// A pod identity association is the one that calls it otherwise.
			for _, key := range []string{"arn", "associationArn"} {
				if arn, ok := r.Outputs[key].(string); ok {
					k.arns[arn] = true
				}
			}
			// A tag may be on what somebody else owns: that is not unexpected.
			if id, ok := r.Inputs["resourceId"].(string); ok {
				k.ids[id] = true
			}
		}
	}
	return k
}

// has says whether a state has the resource. Only EC2's ids, and those of the
// other services that choose them at random, tell resources of all types apart:
// what has a name of its own is known by its ARN.
func (k Known) has(arn string) bool {
	if k.arns[arn] || k.ids[arn] {
		return true
	}
	service, id := service(arn), lastPart(arn)
	return slices.Contains([]string{"ec2", "elasticfilesystem", "kms", "route53"}, service) && k.ids[id]
}

// Sort tells what is unexpected among the sightings from what a state has, and
// from what is made by AWS or a controller.
func Sort(seen []Sighting, known Known) (found []Difference, left []LeftOut) {
	counts := map[string]int{}
	for _, s := range seen {
		if known.has(s.ARN) {
			continue
		}
		if maker := makerOf(s.Tags); maker != "" {
			counts[maker]++
			continue
		}
		found = append(found, Difference{
			Class: Unexpected, ARN: s.ARN, Type: typeOf(s.ARN), Name: lastPart(s.ARN),
		})
	}
	for _, maker := range slices.Sorted(maps.Keys(counts)) {
		left = append(left, LeftOut{Maker: maker, Count: counts[maker]})
	}
	return found, left
}

func makerOf(tags map[string]string) string {
	for _, m := range makers {
		if _, ok := tags[m.tag]; ok {
			return m.maker
		}
	}
	return ""
}

// service, typeOf and lastPart read an ARN:
// arn:partition:service:region:account:type/id, or type:id, or only the id.
func service(arn string) string {
	service, _ := split(arn)
	return service
}

func typeOf(arn string) string {
	service, rest := split(arn)
	if i := strings.IndexAny(rest, ":/"); i > 0 {
		return service + ":" + rest[:i]
	}
	return service
}

func lastPart(arn string) string {
	_, rest := split(arn)
	return rest[strings.LastIndexAny(rest, ":/")+1:]
}

func split(arn string) (service, rest string) {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) < 6 {
		return "", arn
	}
	return fields[2], fields[5]
}
