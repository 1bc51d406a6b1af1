package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/gitops"
	"tombolo/config/strict"
	"tombolo/internal/file"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// Hub is the name of the cluster whose Argo CD manages this one, which may be
// itself; "" with another engine.
func (c *Cluster) Hub() string {
	if c.GitOps.Engine != gitops.ArgoCD {
		return ""
	}
	if c.HasExternalHub() {
		return c.GitOps.ExternalHub.Name
	}
	return cmp.Or(c.GitOps.Hub, c.Name)
}

// IsHub says whether the cluster has its own Argo CD.
func (c *Cluster) IsHub() bool { return c.GitOps.Engine == gitops.ArgoCD && !c.IsSpoke() }

// IsSpoke says whether another cluster's Argo CD manages this one: that of a cluster
// beside it, or one that others run.
func (c *Cluster) IsSpoke() bool {
	return c.GitOps.Engine == gitops.ArgoCD && (c.HasExternalHub() || c.Hub() != c.Name)
}

// HasExternalHub says whether an Argo CD that others run manages the cluster. There is
// no file of such a hub, and no stack.
func (c *Cluster) HasExternalHub() bool { return c.GitOps.HasExternalHub() }

// ArgoCDHost is the host of Argo CD's page on this hub; "" when nobody signs in there.
func (c *Cluster) ArgoCDHost() string { return c.GitOps.Host() }

// ChannelType is the type of the platform's channel, "" without one.
func (c *Cluster) ChannelType() string {
	if c.GitOps.Channel == nil {
		return ""
	}
	return string(c.GitOps.Channel.Type)
}

// HasHubFile says whether a cluster with a file beside this one is the hub.
func (c *Cluster) HasHubFile() bool { return c.IsSpoke() && !c.HasExternalHub() }

// EngineNamespace is the namespace that bootstrap always makes: the engine's, or
// another one on a spoke. The infra ConfigMap is in it.
func (c *Cluster) EngineNamespace() string {
	switch {
	case c.IsHub():
		return names.ArgoCDNamespace
	case c.IsSpoke():
		return names.SpokeNamespace
	}
	return names.FluxNamespace
}

// GitReader is the service account of the engine's pods that read Git.
func (c *Cluster) GitReader() string {
	if c.GitOps.Engine == gitops.ArgoCD {
		return names.RepoServer
	}
	return names.SourceController
}

// gitReader is that account with its namespace, where it has an identity of the cluster's.
func (c *Cluster) gitReader() string {
	if !c.GitOps.ByIdentity() {
		return ""
	}
	return c.EngineNamespace() + "/" + c.GitReader()
}

// LoadHub reads the file of the cluster's hub, in the same directory, and checks
// that the two fit together. A cluster that is not a spoke is its own hub, and so is,
// for what a hub's file says, one whose hub others run. The error is strict.Problems when a file is wrong.
func LoadHub(c *Cluster) (*Cluster, error) {
	if !c.HasHubFile() {
		return c, nil
	}
	var l Loader
	_, doc, err := l.load(c.File)
	if err != nil {
		return nil, err
	}
	return l.hubOf(c, doc)
}

// InOrder sorts clusters as a fleet operation reaches them: by wave, in a wave
// hubs before spokes, and then by name. It fails when a spoke comes before its
// hub.
func InOrder(clusters []*Cluster) ([]*Cluster, error) {
	waves := map[string]int{}
	for _, c := range clusters {
		waves[c.Name] = c.Wave
	}
	rank := func(c *Cluster) int {
		if c.HasHubFile() {
			return 1
		}
		return 0
	}
	var problems []error
	for _, c := range clusters {
		if wave, ok := waves[c.Hub()]; ok && c.HasHubFile() && c.Wave < wave {
			problems = append(problems, fmt.Errorf("cluster %s is in wave %d, before its hub %s in wave %d; give it wave %d or a later one",
				c.Name, c.Wave, c.Hub(), wave, wave))
		}
	}
	sorted := slices.SortedStableFunc(slices.Values(clusters), func(a, b *Cluster) int {
		return cmp.Or(cmp.Compare(a.Wave, b.Wave), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	return sorted, errors.Join(problems...)
}

// hubOf loads the hub of a spoke; doc is the spoke's.
func (l *Loader) hubOf(c *Cluster, doc *strict.Document) (*Cluster, error) {
	file := hubFile(c)
	hub, known := l.hubs[file]
	if !known {
		hub.cluster, hub.doc, hub.err = l.load(file)
		if l.hubs == nil {
			l.hubs = map[string]hubRead{}
		}
		l.hubs[file] = hub
	}
	switch {
	case errors.Is(hub.err, fs.ErrNotExist):
		addMissingHub(doc, c, file)
	case hub.err != nil:
		return nil, hub.err
	case len(hub.doc.Problems()) > 0:
		return nil, hub.doc.Problems()
	default:
		checkHub(doc, c, hub.cluster)
	}
	return hub.cluster, doc.Problems().Err()
}

func hubFile(c *Cluster) string { return filepath.Join(filepath.Dir(c.File), c.Hub()+".yaml") }

// checkHubs checks every spoke against its hub, if both could be read.
func checkHubs(files []loadedFile) {
	there, sound := map[string]bool{}, map[string]*Cluster{}
	for _, f := range files {
		there[f.stem()] = true
		if f.cluster != nil && len(f.doc.Problems()) == 0 {
			sound[f.stem()] = f.cluster
		}
	}
	for _, f := range files {
		if f.cluster == nil || !f.cluster.HasHubFile() || !f.doc.Sound("gitops") || !f.doc.Sound("gitops.hub") {
			continue
		}
		hub := f.cluster.Hub()
		switch {
		case !there[hub]:
			addMissingHub(f.doc, f.cluster, hubFile(f.cluster))
		case sound[hub] != nil:
			checkHub(f.doc, f.cluster, sound[hub])
		}
	}
}

func addMissingHub(doc *strict.Document, c *Cluster, file string) {
	remedy := "add the hub's file, or name a cluster of this directory"
	if near := wording.Nearest(c.Hub(), neighbours(c.File)); near != "" && near != c.Name {
		remedy = fmt.Sprintf("did you mean %s?", near)
	}
	doc.Report(gitops.HubPath, fmt.Sprintf("there is no %s", file), remedy)
}

// neighbours are the names of the clusters that have files beside a file.
func neighbours(path string) []string {
	files, err := file.Matching(filepath.Join(filepath.Dir(path), "*.yaml"))
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range files {
		if isClusterFile(filepath.Base(f)) {
			names = append(names, strings.TrimSuffix(filepath.Base(f), ".yaml"))
		}
	}
	return names
}

// checkHub reports why a cluster cannot be the hub of a spoke. A spoke without a
// wave gets its hub's.
func checkHub(doc *strict.Document, c, hub *Cluster) {
	if !doc.Has("wave") {
		c.Wave = hub.Wave
	}
	file := filepath.Base(hub.File)
	switch {
	case hub.Name != c.Hub():
		doc.Report(gitops.HubPath, fmt.Sprintf("%s is the file of the cluster %s", file, wording.Quote(hub.Name)), "call files after their clusters")
	case hub.GitOps.Engine != gitops.ArgoCD:
		doc.Report(gitops.HubPath, fmt.Sprintf("%s has the engine %s", wording.Quote(hub.Name), hub.GitOps.Engine), "name a cluster with the engine argocd")
	case hub.Hub() == c.Name:
		doc.Report(gitops.HubPath, fmt.Sprintf("%s has this cluster as its hub, so neither would have an Argo CD", wording.Quote(hub.Name)),
			"remove gitops.hub from one of the two files")
	case hub.IsSpoke():
		doc.Report(gitops.HubPath, fmt.Sprintf("%s is not a hub but a spoke of %s", wording.Quote(hub.Name), wording.Quote(hub.Hub())),
			fmt.Sprintf("name %s, or remove gitops.hub from %s", wording.Quote(hub.Hub()), file))
	case c.Wave < hub.Wave:
		doc.Report("wave", fmt.Sprintf("%d is before the hub's wave, %d", c.Wave, hub.Wave),
			fmt.Sprintf("use %d or a later one, or remove it", hub.Wave))
	default:
		checkReach(doc, c, hub)
		checkAcross(doc, c, hub)
		warnOfNoWay(doc, c, hub)
		c.Warnings = doc.Warnings()
	}
}

// checkReach reports a spoke whose role the hub may not assume.
func checkReach(doc *strict.Document, c, hub *Cluster) {
	if c.GitOps.ArgoCD.Credentials != gitops.CredentialsAWS {
		return
	}
	own, other := awsfacts.Partition(c.Cloud.Region), awsfacts.Partition(hub.Cloud.Region)
	switch {
	case hub.onAzure():
		doc.Report(gitops.HubPath, fmt.Sprintf("%s is in Azure, where its Argo CD has no IAM role that could assume this cluster's", wording.Quote(hub.Name)),
			"add gitops.argocd.credentials: service-account, or name a hub in AWS")
	case own != other:
		doc.Report(gitops.HubPath, fmt.Sprintf("%s is in the AWS partition %s, and this cluster in %s; a role cannot be assumed across partitions", wording.Quote(hub.Name), other, own),
			"name a hub of the same partition, or use the credentials service-account")
	case !slices.Contains(hub.SpokeAccounts(), c.Cloud.Account):
		doc.Report(gitops.HubPath, fmt.Sprintf("%s may not assume roles in the account %s", wording.Quote(hub.Name), c.Cloud.Account),
			fmt.Sprintf("add it to gitops.argocd.accounts of %s", filepath.Base(hub.File)))
	}
}

// SpokeAccounts are the AWS accounts that spokes of a hub may be in: its own
// and those that its file adds.
func (c *Cluster) SpokeAccounts() []string {
	accounts := append([]string{c.Cloud.Account}, c.GitOps.ArgoCD.Accounts...)
	slices.Sort(accounts)
	return slices.Compact(accounts)
}
