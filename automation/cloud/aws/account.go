package aws

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/config"
)

// The names of the checks of the cloud.
const (
	identityCheck = "account"
	regionCheck   = "region"
	quotaCheck    = "quota"
)

// Programs that are started for a cluster on AWS.
func (Cloud) Programs() []preflight.Program {
	return []preflight.Program{
		{Name: "aws", Remedy: "install the AWS CLI, version 2: it gets the tokens for the Kubernetes API"},
		{Name: "node", Remedy: "install Node.js 20 or newer: the EKS component runs in it"},
		// The component throws without it, in previews too: assertCompatibleKubectlVersionExists,
		// https://github.com/pulumi/pulumi-eks/blob/v2.8.1/nodejs/eks/dependencies.ts
		{Name: "kubectl", Oldest: "1.24.0", Remedy: "install kubectl 1.24 or newer, or build it with `make setup-aws`: the EKS component starts it, in previews too"},
	}
}

// Plugins that a cluster on AWS is made with.
func (Cloud) Plugins() []preflight.Plugin {
	return []preflight.Plugin{
		{Name: "aws", Module: "github.com/pulumi/pulumi-aws/sdk/v6"},
		{Name: "eks", Module: "github.com/pulumi/pulumi-eks/sdk/v2"},
	}
}

// Demand is what the cluster will take of its account's quotas: what its core
// does not have yet.
func (Cloud) Demand(c *config.Cluster, core preflight.Core) preflight.Demand {
	have := core.Resources
	if c.IsExisting() {
		return preflight.Demand{}
	}
	out := preflight.Demand{clusters: max(0, 1-have[clusterType])}
	if !c.OwnsNetwork() {
		return out
	}
	gateways := map[config.NAT]int{config.NATSingle: 1, config.NATPerZone: len(c.Network.Zones)}[c.Network.NAT]
	out[vpcs] = max(0, 1-have[vpcType])
	out[addresses] = max(0, gateways-have["aws:ec2/eip:Eip"])
	return out
}

// factsTimeout bounds the look at an account. AWS answers within seconds; what
// takes longer waits for credentials that do not come.
const factsTimeout = 2 * time.Minute

// Facts asks the account and the region of the cluster. What cannot be told is
// told in the facts.
func (a Cloud) Facts(ctx context.Context, c *config.Cluster) preflight.Facts {
	ctx, cancel := context.WithTimeout(ctx, factsTimeout)
	defer cancel()
	f := preflight.Facts{Region: c.Cloud.Region, Quotas: map[preflight.Kind]preflight.Quota{}}
	err := a.ask(ctx, "ask the account of", c, func(p *pulumi.Context) error { return readFacts(p, c, &f) })
	if err != nil && f.Err == "" {
		f.Err = err.Error()
		if command := new(pulumicli.Error); errors.As(err, &command) {
			f.Err = command.Reasons[0]
		}
	}
	return f
}

// Judge compares what the account has said with what is wanted.
func (Cloud) Judge(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	if f.Err != "" {
		return []preflight.Finding{preflight.Bad(identityCheck, preflight.Fail, "set credentials that work without a question, for instance by AWS_PROFILE",
			"AWS does not accept the credentials: %s", f.Err)}
	}
	if f.Account != w.Account {
		return []preflight.Finding{preflight.Bad(identityCheck, preflight.Fail, "use credentials of account "+w.Account+", or correct cloud.account",
			"the credentials are of account %s (%s), and the cluster is for %s", f.Account, f.Identity, w.Account)}
	}
	out := []preflight.Finding{preflight.Good(identityCheck, "%s", f.Identity)}
	switch {
	case f.RegionErr != "":
		out = append(out, preflight.Bad(regionCheck, preflight.Warn, "allow ec2:DescribeRegions to the credentials in use",
			"whether %s is enabled cannot be told: %s", w.Region, f.RegionErr))
	case !f.Enabled:
		return append(out, preflight.Bad(regionCheck, preflight.Fail, "enable it in the account's settings, or choose another in cloud.region",
			"%s is not enabled for account %s", w.Region, w.Account))
	default:
		out = append(out, preflight.Good(regionCheck, "%s is enabled", w.Region))
	}
	for _, k := range quotaKinds() {
		if w.Demand[k] > 0 {
			out = append(out, judgeQuota(k, f.Quotas[k], w))
		}
	}
	return append(out, judgeNamed(f, w)...)
}

func judgeQuota(k preflight.Kind, q preflight.Quota, w preflight.Wanted) preflight.Finding {
	if q.Err != "" {
		return preflight.Bad(quotaCheck, preflight.Warn, "allow servicequotas:GetServiceQuota and the listing of "+string(k)+" to the credentials in use",
			"the quota of %s in %s cannot be told: %s", k, w.Region, q.Err)
	}
	text := fmt.Sprintf("%d more %s in %s", w.Demand[k], k, w.Region)
	if w.All[k] > w.Demand[k] {
		text += fmt.Sprintf(", %d with the other clusters", w.All[k])
	}
	text += fmt.Sprintf(": %d of %d are used", q.Used, q.Limit)
	if q.Limit-q.Used < w.All[k] {
		return preflight.Bad(quotaCheck, preflight.Fail, "delete what is not needed, or ask for more in the console of Service Quotas", "%s", text)
	}
	return preflight.Good(quotaCheck, "%s", text)
}
