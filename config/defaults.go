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
	c.Cloud.setDefaults(c.Name)
	if e := c.Kubernetes.Existing; e != nil {
		e.Name = cmp.Or(e.Name, c.Name)
	} else {
		c.Network.setDefaults()
		c.Kubernetes.setDefaults()
	}
	c.Addons.SetDefaults()
	for i := range c.Services {
		c.Services[i].setDefaults()
	}
	c.GitOps.setDefaults(c.Name)
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
	g.Size.Min = cmp.Or(g.Size.Min, new(defaultMinSize))
	g.Size.Desired = cmp.Or(g.Size.Desired, new(*g.Size.Min))
	g.Size.Max = cmp.Or(g.Size.Max, new(max(*g.Size.Min, *g.Size.Desired, 1)))
}

func (s *Service) setDefaults() {
	if s.Identity == nil {
		return
	}
	s.Identity.ServiceAccount = cmp.Or(s.Identity.ServiceAccount, s.Name)
	s.Identity.Mode = cmp.Or(s.Identity.Mode, IRSA)
}

func (g *GitOps) setDefaults(cluster string) {
	if g.Engine == ArgoCD && g.ExternalHub != nil {
		g.ArgoCD.setCredentialsDefaults()
		return
	}
	if g.Engine == ArgoCD {
		g.Hub = cmp.Or(g.Hub, cluster)
	}
	if g.Engine == ArgoCD && g.Hub != cluster {
		g.ArgoCD.setSpokeDefaults()
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

func (o *ArgoCDOptions) setSpokeDefaults() {
	o.Applications = cmp.Or(o.Applications, LeavingRemove)
	o.setCredentialsDefaults()
}

func (o *ArgoCDOptions) setCredentialsDefaults() {
	o.Credentials = cmp.Or(o.Credentials, CredentialsAWS)
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
