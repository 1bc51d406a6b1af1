package preflight

import "fmt"

// The names of the checks of the cloud.
const (
	identityCheck = "account"
	regionCheck   = "region"
	quotaCheck    = "quota"
)

// Facts are what an account says of itself and of one region.
type Facts struct {
	// Account and ARN of the caller.
	Account, ARN string
	// Region that was asked, and whether it is enabled for the account.
	Region  string
	Enabled bool
	// Quotas of the region, by Kinds.
	Quotas map[Kind]Quota
	// Err says why the caller could not be told; empty when it could.
	Err string
	// RegionErr says why the regions could not be told.
	RegionErr string
}

// Kind of things with a quota.
type Kind string

// The kinds that a cluster needs from an account's quotas.
const (
	VPCs      Kind = "VPCs"
	Addresses Kind = "Elastic IP addresses"
	Clusters  Kind = "EKS clusters"
)

// Kinds lists them.
func Kinds() []Kind { return []Kind{VPCs, Addresses, Clusters} }

// Quota of a region.
type Quota struct {
	// Limit and how much of it is used.
	Limit, Used int
	// Err says why they could not be told; empty when they could.
	Err string
}

// Demand is how many of each kind are to be made.
type Demand map[Kind]int

// Plus adds another demand.
func (d Demand) Plus(other Demand) Demand {
	out := Demand{}
	for _, k := range Kinds() {
		out[k] = d[k] + other[k]
	}
	return out
}

// Wanted is what a cluster file says of the cloud.
type Wanted struct {
	// Account and Region that the cluster is to be in.
	Account, Region string
	// Demand of the cluster alone, and All of the clusters that are checked
	// together in this account and region.
	Demand, All Demand
}

// Cloud judges the facts.
func Cloud(f Facts, w Wanted) []Finding {
	if f.Err != "" {
		return []Finding{Bad(identityCheck, Fail, "set credentials that work without a question, for instance by AWS_PROFILE",
			"AWS does not know who asks: %s", f.Err)}
	}
	if f.Account != w.Account {
		return []Finding{Bad(identityCheck, Fail, "use credentials of account "+w.Account+", or correct cloud.account",
			"the credentials are of account %s (%s), and the cluster is for %s", f.Account, f.ARN, w.Account)}
	}
	out := []Finding{Good(identityCheck, "%s", f.ARN)}
	switch {
	case f.RegionErr != "":
		out = append(out, Bad(regionCheck, Warn, "allow ec2:DescribeRegions to the credentials in use",
			"whether %s is enabled cannot be told: %s", w.Region, f.RegionErr))
	case !f.Enabled:
		return append(out, Bad(regionCheck, Fail, "enable it in the account's settings, or choose another in cloud.region",
			"%s is not enabled for account %s", w.Region, w.Account))
	default:
		out = append(out, Good(regionCheck, "%s is enabled", w.Region))
	}
	for _, k := range Kinds() {
		if w.Demand[k] > 0 {
			out = append(out, judgeQuota(k, f.Quotas[k], w))
		}
	}
	return out
}

func judgeQuota(k Kind, q Quota, w Wanted) Finding {
	if q.Err != "" {
		return Bad(quotaCheck, Warn, "allow servicequotas:GetServiceQuota and the listing of "+string(k)+" to the credentials in use",
			"the quota of %s in %s cannot be told: %s", k, w.Region, q.Err)
	}
	text := fmt.Sprintf("%d more %s in %s", w.Demand[k], k, w.Region)
	if w.All[k] > w.Demand[k] {
		text += fmt.Sprintf(", %d with the other clusters", w.All[k])
	}
	text += fmt.Sprintf(": %d of %d are used", q.Used, q.Limit)
	if q.Limit-q.Used < w.All[k] {
		return Bad(quotaCheck, Fail, "delete what is not needed, or ask for more in the console of Service Quotas", "%s", text)
	}
	return Good(quotaCheck, "%s", text)
}
