package config

import (
	"cmp"
	"fmt"

	"tombolo/config/awsfacts"
)

// The defaults that are the same in every file.
const (
	defaultLogRetentionDays = 90
	defaultDiskGiB          = 50
	defaultMinSize          = 1
	defaultUnavailable      = 33
	defaultBranch           = "main"
	defaultInterval         = "1m"
	defaultUsername         = "git"
	defaultRotation         = 1
)

func defaultEndpoints() []string { return []string{"s3"} }

func defaultLogs() []string { return []string{"api", "audit", "authenticator"} }

func defaultAddons() []ManagedAddon {
	return []ManagedAddon{{Name: "vpc-cni"}, {Name: "kube-proxy"}, {Name: "coredns"}, {Name: awsfacts.PodIdentityAgent}}
}

// defaultAddonObjects are the default addons as a file would write them.
func defaultAddonObjects() []map[string]string {
	var out []map[string]string
	for _, a := range defaultAddons() {
		out = append(out, map[string]string{"name": a.Name})
	}
	return out
}

// setDefaults fills in what the file leaves out. A list that is there and empty
// stays empty.
func (c *Cluster) setDefaults() {
	c.Drift.Remediate = cmp.Or(c.Drift.Remediate, RemediateNever)
	c.Cloud.setDefaults(c.Name)
	existing := c.Kubernetes.Existing
	switch {
	case existing != nil:
		existing.Name = cmp.Or(existing.Name, c.Name)
	case c.onAzure():
		c.Network.setAzureDefaults()
		c.Kubernetes.setAzureDefaults(c.Name, c.Network.CIDR)
	default:
		c.Network.setDefaults()
		c.Kubernetes.setDefaults()
	}
	c.Addons.SetDefaults()
	for i := range c.Services {
		c.Services[i].setDefaults(c.Cloud.Provider)
	}
	c.GitOps.setDefaults(c.Name, c.Cloud.Provider)
}

func (n *Network) setDefaults() {
	if n.Existing != nil {
		return
	}
	n.NAT = cmp.Or(n.NAT, NATSingle)
	if n.Endpoints == nil {
		n.Endpoints = defaultEndpoints()
	}
	if f := n.FlowLogs; f != nil {
		f.Traffic = cmp.Or(f.Traffic, AllTraffic)
		if f.To == FlowLogsToCloudWatch {
			f.RetentionDays = cmp.Or(f.RetentionDays, defaultLogRetentionDays)
		}
	}
}

func (c *Cloud) setDefaults(of string) {
	if c.Provider == Azure {
		c.ResourceGroup = cmp.Or(c.ResourceGroup, of)
		return
	}
	if c.AssumeRole != nil {
		c.AssumeRole.SessionName = cmp.Or(c.AssumeRole.SessionName, sessionName(of))
	}
	c.Roles.Path = cmp.Or(c.Roles.Path, defaultRolePath)
}

func (k *Kubernetes) setDefaults() {
	k.Endpoint.Private = cmp.Or(k.Endpoint.Private, new(true))
	k.SecretsEncryption.Enabled = cmp.Or(k.SecretsEncryption.Enabled, new(true))
	k.LogRetentionDays = cmp.Or(k.LogRetentionDays, defaultLogRetentionDays)
	if k.Logs == nil {
		k.Logs = defaultLogs()
	}
	k.Compute = cmp.Or(k.Compute, NodeGroupCompute)
	if k.Addons == nil && !k.Auto() {
		k.Addons = defaultAddons()
	}
	for i := range k.NodeGroups {
		k.NodeGroups[i].setDefaults()
	}
	if p := k.IdentityProvider; p != nil {
		p.UsernameClaim, p.UsernamePrefix = cmp.Or(p.UsernameClaim, defaultUsernameClaim), cmp.Or(p.UsernamePrefix, defaultClaimPrefix)
		p.GroupsClaim, p.GroupsPrefix = cmp.Or(p.GroupsClaim, defaultGroupsClaim), cmp.Or(p.GroupsPrefix, defaultClaimPrefix)
	}
}

func (g *NodeGroup) setDefaults() {
	g.Capacity = cmp.Or(g.Capacity, OnDemand)
	g.AMI = cmp.Or(g.AMI, AL2023)
	g.DiskGiB = cmp.Or(g.DiskGiB, defaultDiskGiB)
	g.Volume.Type = cmp.Or(g.Volume.Type, GP3)
	if g.Update.MaxUnavailable == 0 {
		g.Update.MaxUnavailablePercent = cmp.Or(g.Update.MaxUnavailablePercent, defaultUnavailable)
	}
	g.Size.setDefaults()
}

func (s *Size) setDefaults() {
	s.Min = cmp.Or(s.Min, new(defaultMinSize))
	s.Desired = cmp.Or(s.Desired, new(*s.Min))
	s.Max = cmp.Or(s.Max, new(max(*s.Min, *s.Desired, 1)))
}

func (s *Service) setDefaults(p Provider) {
	if s.Identity == nil {
		return
	}
	s.Identity.ServiceAccount = cmp.Or(s.Identity.ServiceAccount, s.Name)
	mode := IRSA
	if p == Azure {
		mode = WorkloadIdentity
	}
	s.Identity.Mode = cmp.Or(s.Identity.Mode, mode)
}

func (g *GitOps) setDefaults(cluster string, p Provider) {
	if g.Engine == ArgoCD && g.ExternalHub != nil {
		g.ArgoCD.setCredentialsDefaults(p)
		return
	}
	if g.Engine == ArgoCD {
		g.Hub = cmp.Or(g.Hub, cluster)
	}
	if g.Engine == ArgoCD && g.Hub != cluster {
		g.ArgoCD.setSpokeDefaults(p)
		return
	}
	g.Branch = cmp.Or(g.Branch, defaultBranch)
	g.Interval = cmp.Or(g.Interval, defaultInterval)
	if g.Auth != nil && g.Auth.Type == AuthBasic {
		g.Auth.Username = cmp.Or(g.Auth.Username, defaultUsername)
	}
	if d := &g.Distribution; d.Path == "" && d.Version != "" {
		d.URL = cmp.Or(d.URL, g.release())
	}
}

func (o *ArgoCDOptions) setSpokeDefaults(p Provider) {
	o.Applications = cmp.Or(o.Applications, LeavingRemove)
	o.setCredentialsDefaults(p)
}

func (o *ArgoCDOptions) setCredentialsDefaults(p Provider) {
	credentials := CredentialsAWS
	if p == Azure {
		credentials = CredentialsServiceAccount
	}
	o.Credentials = cmp.Or(o.Credentials, credentials)
	if o.Credentials == CredentialsServiceAccount {
		o.Rotation = cmp.Or(o.Rotation, defaultRotation)
	}
}

// release is the address of the manifest that the engine's makers release.
func (g *GitOps) release() string {
	switch {
	case g.Engine == Flux:
		return fmt.Sprintf("https://github.com/fluxcd/flux2/releases/download/%s/install.yaml", g.Distribution.Version)
	case g.Engine == ArgoCD && g.ArgoCD.HighAvailability:
		return fmt.Sprintf("https://raw.githubusercontent.com/argoproj/argo-cd/%s/manifests/ha/install.yaml", g.Distribution.Version)
	case g.Engine == ArgoCD:
		return fmt.Sprintf("https://raw.githubusercontent.com/argoproj/argo-cd/%s/manifests/install.yaml", g.Distribution.Version)
	}
	return ""
}
