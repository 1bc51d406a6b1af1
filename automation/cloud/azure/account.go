package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/internal/wording"
)

// The names of the checks of the cloud.
const (
	identityCheck  = "account"
	regionCheck    = "region"
	providersCheck = "resource providers"
	versionCheck   = "Kubernetes version"
	zonesCheck     = "zones"
	rightsCheck    = "rights"
	quotaCheck     = "quota"
	keyCheck       = "key of Secrets"
)

// Programs that are started for a cluster on Azure.
func (Cloud) Programs() []preflight.Program {
	return []preflight.Program{
		// Versions before have other names for ways to sign in:
		// https://azure.github.io/kubelogin/CHANGELOG.html
		{
			Name: "kubelogin", Oldest: "0.1.0", Asks: "--version",
			Remedy: "install Azure's kubelogin 0.1.0 or newer: it gets the tokens for the Kubernetes API",
		},
	}
}

// Plugins that a cluster on Azure is made with. The version is that of the root module: the
// packages of services have versions of their own.
func (Cloud) Plugins() []preflight.Plugin {
	return []preflight.Plugin{{Name: "azure-native", Module: "github.com/pulumi/pulumi-azure-native-sdk/v2"}}
}

// What a cluster needs from a subscription's quotas, by the name that Azure gives to its use,
// in lower case. Nodes are counted by their VM size: Azure tells of which family that is.
const (
	networks  preflight.Kind = "virtualnetworks"
	addresses preflight.Kind = "publicipaddresses"
	allCPUs   preflight.Kind = "cores"
	spotCPUs  preflight.Kind = "lowprioritycores"
)

// versionKey is the key of the version.
const versionKey = "kubernetes.version"

// The beginnings of kinds of nodes, before their VM size.
const (
	nodesOf     = "nodes of "
	spotNodesOf = "spot nodes of "
)

// Demand is what the cluster will take of its subscription's quotas: what its core does not
// have yet. Nodes count as long as there is no managed cluster: the state does not tell which
// pools are new.
func (Cloud) Demand(c *config.Cluster, core preflight.Core) preflight.Demand {
	have, out := core.Resources, preflight.Demand{}
	if c.IsExisting() {
		return out
	}
	if have[clusterType] == 0 {
		for _, g := range c.Kubernetes.NodeGroups {
			kind := preflight.Kind(nodesOf + g.VMSize)
			if g.Capacity == config.Spot {
				kind = preflight.Kind(spotNodesOf + g.VMSize)
			}
			out[kind] += atStart(g.Size)
		}
	}
	if !c.OwnsNetwork() {
		return out
	}
	out[networks] = max(0, 1-have[vnetType])
	out[addresses] = max(0, 1-have[addressType])
	return out
}

// atStart is how many nodes a pool has when it is made.
func atStart(s config.Size) int {
	for _, n := range []*int{s.Desired, s.Min} {
		if n != nil {
			return *n
		}
	}
	return 1
}

// Named are the values of a cluster file that the subscription is asked about.
func (Cloud) Named(c *config.Cluster) []string {
	s := c.Kubernetes.SecretsEncryption
	out := []string{string(c.Network.Outbound), c.Kubernetes.Endpoint.PrivateDNSZone, s.KeyID, s.Vault}
	if e := c.Network.Existing; e != nil {
		out = append(out, e.NodeSubnet, fmt.Sprint(e.GrantAccess))
	}
	return out
}

// AsksAgain says that of a cluster that lives the key of Secrets alone is asked about: what else a
// subscription may not have any more, it keeps where it has it.
func (Cloud) AsksAgain(key string) bool { return strings.HasPrefix(key, keyPath) }

// factsTimeout bounds the look at a subscription: some ten requests, and the start of a provider.
const factsTimeout = 3 * time.Minute

// Facts asks the subscription and the region of the cluster. What cannot be told is told in
// the facts.
func (a Cloud) Facts(ctx context.Context, c *config.Cluster) preflight.Facts {
	ctx, cancel := context.WithTimeout(ctx, factsTimeout)
	defer cancel()
	f := preflight.Facts{Region: c.Cloud.Region, Quotas: map[preflight.Kind]preflight.Quota{}}
	client, who, err := a.connect(ctx, "ask the account of", c)
	if err != nil {
		f.Err = reason(err)
		return f
	}
	readFacts(ctx, client, who, c, &f)
	return f
}

// asking is what the engine writes before the error of a function.
var asking = regexp.MustCompile(`^(?:rpc error: code = \w+ desc = )?invocation of \S+ returned an error: `)

// reason is the first reason of an error.
func reason(err error) string {
	said := pulumicli.FirstLine(err.Error())
	if command := new(pulumicli.Error); errors.As(err, &command) && len(command.Reasons) > 0 {
		said = command.Reasons[0]
	}
	return asking.ReplaceAllString(said, "")
}

// Judge compares what the subscription has said with what is wanted.
func (Cloud) Judge(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	fail := func(remedy, format string, args ...any) []preflight.Finding {
		return []preflight.Finding{preflight.Bad(identityCheck, preflight.Fail, remedy, format, args...)}
	}
	switch {
	case strings.Contains(f.Err, arm.Tired):
		return fail(laterRemedy, "Azure says nothing of subscription %s: %s", w.Account, f.Err)
	case f.Err != "":
		return fail(signInRemedy(f.Err, w), "Azure does not accept the credentials for subscription %s of tenant %s: %s", w.Account, w.Tenant, f.Err)
	case f.Tenant != w.Tenant:
		return fail("use credentials of tenant "+w.Tenant+", or correct cloud.tenant",
			"the credentials are of tenant %s (%s), and the cluster is for %s", f.Tenant, f.Identity, w.Tenant)
	case f.Account != w.Account:
		return fail("use credentials of subscription "+w.Account+", or correct cloud.account",
			"the credentials are of subscription %s (%s), and the cluster is for %s", f.Account, f.Identity, w.Account)
	case f.AccountErr != "":
		return fail("give the identity a role on the subscription, use credentials that have one, or correct cloud.account",
			"%s of tenant %s cannot use subscription %s: %s", f.Identity, f.Tenant, w.Account, f.AccountErr)
	}
	out := []preflight.Finding{preflight.Good(identityCheck, "%s of tenant %s, in subscription %s", f.Identity, f.Tenant, f.Account)}
	switch {
	case f.RegionErr != "":
		out = append(out, preflight.Bad(regionCheck, preflight.Warn, orLater(f.RegionErr, "allow Microsoft.Resources/subscriptions/locations/read to the credentials in use"),
			"whether %s is open to the subscription cannot be told: %s", w.Region, f.RegionErr))
	case !f.Enabled:
		return append(out, preflight.Bad(regionCheck, preflight.Fail, "choose another in cloud.region, or ask Azure's support to open it",
			"%s is not open to subscription %s", w.Region, w.Account))
	default:
		out = append(out, preflight.Good(regionCheck, "%s is open to the subscription", w.Region))
	}
	out = append(out, judgeProviders(f, w)...)
	out = append(out, judgeKey(f)...)
	if !w.New {
		return out
	}
	out = append(out, judgeVersion(f, w)...)
	out = append(out, judgeRights(f)...)
	out = append(out, judgeZones(f, w)...)
	return append(out, judgeQuotas(f, w)...)
}

// refusedSignIns are what people do about refusals by Entra. Sources:
// https://learn.microsoft.com/entra/identity-platform/reference-error-codes and
// https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors
func refusedSignIns(w preflight.Wanted) map[string]string {
	const login = "run `az login --tenant "
	return map[string]string{
		"AADSTS700024":               "have the token of workload identity in a file that is renewed, by ARM_OIDC_TOKEN_FILE_PATH, or get a new one: it ends within minutes",
		"AADSTS7000222":              "make another secret for the application, and set ARM_CLIENT_SECRET to it",
		"AADSTS7000215":              "correct ARM_CLIENT_SECRET: it is the secret's value, not its id",
		"AADSTS700082":               login + w.Tenant + "`: the last sign-on has ended",
		"AADSTS70043":                login + w.Tenant + "`: the last sign-on has ended",
		"AADSTS50173":                login + w.Tenant + "`: the last sign-on has ended",
		"AADSTS90002":                "correct cloud.tenant, and ARM_TENANT_ID where it is set",
		"AADSTS700016":               "correct ARM_CLIENT_ID, or use an application of tenant " + w.Tenant,
		"AADSTS70021":                "give the application a federated credential for the issuer and the subject that the message names",
		"AADSTS700213":               "give the application a federated credential for the subject that the message names",
		"ExpiredAuthenticationToken": "sign in again with `az login --tenant " + w.Tenant + "`, or renew the token that ARM_ variables name",
	}
}

// entraCode is an error code of Entra's, or the one by which the Resource Manager calls a token
// too old.
var entraCode = regexp.MustCompile(`AADSTS\d+|ExpiredAuthenticationToken`)

// signInRemedy is what to do about credentials that were refused.
func signInRemedy(refusal string, w preflight.Wanted) string {
	if remedy := refusedSignIns(w)[entraCode.FindString(refusal)]; remedy != "" {
		return remedy
	}
	return "sign in with `az login --tenant " + w.Tenant + "`, or set ARM_ variables that work without a question"
}

// judgeProviders judges the resource providers, which a subscription registers once each, also the
// subscription of a DNS zone of others.
func judgeProviders(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	if f.ProvidersErr != "" {
		return []preflight.Finding{preflight.Bad(providersCheck, preflight.Warn, orLater(f.ProvidersErr, "allow Microsoft.Resources/subscriptions/providers/read to the credentials in use"),
			"whether they are registered cannot be told: %s", f.ProvidersErr)}
	}
	var out []preflight.Finding
	if f.ElsewhereErr != "" {
		out = append(out, preflight.Bad(providersCheck, preflight.Warn, "ask the zone's owner whether its subscription has registered Microsoft.ContainerService, which AKS wants",
			"whether the subscription of the private DNS zone has registered AKS cannot be told: %s", f.ElsewhereErr))
	}
	elsewhere := maps.Clone(f.Elsewhere)
	if elsewhere == nil {
		elsewhere = map[string][]string{}
	}
	elsewhere[w.Account] = f.Unregistered
	for _, subscription := range slices.Sorted(maps.Keys(elsewhere)) {
		if missing := elsewhere[subscription]; len(missing) > 0 {
			out = append(out, unregisteredIn(subscription, missing))
		}
	}
	if len(out) > 0 {
		return out
	}
	return []preflight.Finding{preflight.Good(providersCheck, "all that core needs are registered")}
}

func unregisteredIn(subscription string, missing []string) preflight.Finding {
	commands := make([]string, len(missing))
	for i, name := range missing {
		commands[i] = "`az provider register --namespace " + name + " --subscription " + subscription + "`"
	}
	return preflight.Bad(providersCheck, preflight.Fail, "run "+wording.And(commands)+", and wait some minutes",
		"subscription %s has not registered %s", subscription, wording.And(missing))
}

// judgeVersion judges a version of Kubernetes, of which each region has others.
func judgeVersion(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	switch {
	case w.Version == "":
		return nil
	case f.VersionsErr != "":
		return []preflight.Finding{preflight.Bad(versionCheck, preflight.Warn, orLater(f.VersionsErr, "allow Microsoft.ContainerService/locations/kubernetesVersions/read to the credentials in use"),
			"whether AKS has %s in %s cannot be told: %s", w.Version, w.Region, f.VersionsErr)}
	case w.Extended && !slices.Contains(f.ExtendedVersions, w.Version):
		return []preflight.Finding{preflight.BadKey(versionCheck, versionKey, preflight.Fail, "choose one of "+wording.Or(f.ExtendedVersions)+"",
			"AKS does not offer %s in %s with extended support", w.Version, w.Region)}
	case !w.Extended && slices.Contains(f.ExtendedVersions, w.Version) && !slices.Contains(f.Versions, w.Version):
		return []preflight.Finding{preflight.BadKey(versionCheck, versionKey, preflight.Fail, "choose one of "+wording.Or(f.Versions)+", or set kubernetes.support: extended and kubernetes.tier: premium",
			"AKS offers %s in %s with extended support alone", w.Version, w.Region)}
	case !w.Extended && !slices.Contains(f.Versions, w.Version):
		return []preflight.Finding{preflight.BadKey(versionCheck, versionKey, preflight.Fail, "choose one of "+wording.Or(f.Versions)+"",
			"AKS does not offer %s in %s", w.Version, w.Region)}
	}
	return []preflight.Finding{preflight.Good(versionCheck, "AKS offers %s in %s", w.Version, w.Region)}
}

// judgeRights judges what the caller may do in the subscription, and on what others own.
// Rights on a resource group alone are not seen from the subscription.
func judgeRights(f preflight.Facts) []preflight.Finding {
	const remedy = "give the identity Contributor and Role Based Access Control Administrator on the subscription, or a role of your own with these actions"
	var out []preflight.Finding
	switch {
	case f.RightsErr != "":
		out = append(out, preflight.Bad(rightsCheck, preflight.Warn, orLater(f.RightsErr, "look at the role assignments of the identity"),
			"what the identity may do in the subscription cannot be told: %s", f.RightsErr))
	case len(f.MissingRights) > 0:
		out = append(out, preflight.Bad(rightsCheck, preflight.Warn, remedy,
			"no role on the subscription allows %s", wording.And(f.MissingRights)))
	default:
		out = append(out, preflight.Good(rightsCheck, "what core makes is allowed to the identity"))
	}
	for _, on := range f.OnOthers {
		if on.Err != "" {
			out = append(out, preflight.Bad(rightsCheck, preflight.Warn, orLater(on.Err, "look at the role assignments of the identity there, and at whether it exists"),
				"what the identity may do on %s cannot be told: %s", on.ID, on.Err))
			continue
		}
		out = append(out, preflight.Bad(rightsCheck, preflight.Fail, "have its owner give the identity a role there with these actions",
			"no role on %s allows %s", on.ID, wording.And(on.Missing)))
	}
	return out
}

// judgeZones judges the zones of new pools: each VM size is in some of a region's, and a
// subscription may be kept out of some of those. AKS refuses others, with
// AvailabilityZoneNotSupported. Source:
// https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/availability-zones-error
func judgeZones(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	var out []preflight.Finding
	for i, g := range w.Cluster.Kubernetes.NodeGroups {
		size, known := f.Sizes[strings.ToLower(g.VMSize)]
		if !known || size.Closed {
			continue // the quotas say so
		}
		for j, zone := range g.Zones {
			if slices.Contains(size.Zones, zone) {
				continue
			}
			remedy := "choose another vmSize"
			if len(size.Zones) > 0 {
				remedy = "use zones among " + wording.And(size.Zones) + ", or " + remedy
			}
			out = append(out, preflight.BadKey(zonesCheck, fmt.Sprintf("kubernetes.nodeGroups[%d].zones[%d]", i, j), preflight.Fail, remedy,
				"the VM size %s is not open to the subscription in zone %s of %s", g.VMSize, zone, w.Region))
		}
	}
	return out
}

// demanded are quotas that a cluster, and all together, count against.
type demanded struct {
	one, all int
	// what is counted, in words.
	what string
}

// judgeQuotas judges the quotas. Nodes take vCPUs: those of the family of their VM size and
// those of the region, or for spot nodes the region's of low priority.
func judgeQuotas(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	var out []preflight.Finding
	wanted := map[preflight.Kind]demanded{}
	add := func(kind preflight.Kind, what string, one, all int) {
		d := wanted[kind]
		wanted[kind] = demanded{d.one + one, d.all + all, what}
	}
	for kind, all := range w.All {
		one, text := w.Demand[kind], string(kind)
		size, spot := strings.CutPrefix(text, spotNodesOf)
		if !spot {
			var nodes bool
			if size, nodes = strings.CutPrefix(text, nodesOf); !nodes {
				add(kind, quotaNames[kind], one, all)
				continue
			}
		}
		known, ok := f.Sizes[strings.ToLower(size)]
		switch {
		case one == 0 && (!ok || known.Closed):
			continue // other clusters' sizes are theirs to judge; their vCPUs count
		case f.SizesErr != "":
			out = append(out, preflight.Bad(quotaCheck, preflight.Warn, orLater(f.SizesErr, "allow Microsoft.Compute/skus/read to the credentials in use"),
				"the vCPUs of %s cannot be told: %s", size, f.SizesErr))
			continue
		case !ok || known.Closed:
			out = append(out, preflight.BadKey(quotaCheck, sizeKey(w.Cluster, size), preflight.Fail, "choose another vmSize, or ask Azure's support to open it",
				"the VM size %s is not open to the subscription in %s", size, w.Region))
			continue
		case spot:
			add(spotCPUs, quotaNames[spotCPUs], one*known.CPUs, all*known.CPUs)
			continue
		}
		add(allCPUs, quotaNames[allCPUs], one*known.CPUs, all*known.CPUs)
		add(preflight.Kind(strings.ToLower(known.Family)), "vCPUs of "+known.Family, one*known.CPUs, all*known.CPUs)
	}
	for kind, d := range wanted {
		if d.one > 0 {
			out = append(out, judgeQuota(d, f.Quotas[kind], f.QuotasErr, w))
		}
	}
	slices.SortFunc(out, func(a, b preflight.Finding) int { return cmp.Compare(a.Message, b.Message) })
	return out
}

// sizeKey is the key of the first pool of a VM size.
func sizeKey(c *config.Cluster, size string) string {
	i := slices.IndexFunc(c.Kubernetes.NodeGroups, func(g config.NodeGroup) bool { return g.VMSize == size })
	return fmt.Sprintf("kubernetes.nodeGroups[%d].vmSize", max(i, 0))
}

// quotaNames are the names of quotas for people.
var quotaNames = map[preflight.Kind]string{
	networks: "virtual networks", addresses: "public IP addresses", allCPUs: "vCPUs", spotCPUs: "spot vCPUs",
}

func judgeQuota(d demanded, q preflight.Quota, unknown string, w preflight.Wanted) preflight.Finding {
	if unknown == "" && q.Limit == 0 && q.Used == 0 {
		unknown = "Azure lists none"
	}
	if unknown != "" {
		return preflight.Bad(quotaCheck, preflight.Warn, orLater(unknown, "allow Microsoft.Compute/locations/usages/read and Microsoft.Network/locations/usages/read to the credentials in use"),
			"the quota of %s in %s cannot be told: %s", d.what, w.Region, unknown)
	}
	text := fmt.Sprintf("%d more %s in %s", d.one, d.what, w.Region)
	if d.all > d.one {
		text += fmt.Sprintf(", %d with the other clusters", d.all)
	}
	text += fmt.Sprintf(": %d of %d are used", q.Used, q.Limit)
	if q.Limit-q.Used < d.all {
		return preflight.Bad(quotaCheck, preflight.Fail, "delete what is not needed, or ask for more on the portal's page Quotas", "%s", text)
	}
	return preflight.Good(quotaCheck, "%s", text)
}
