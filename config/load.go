package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/cloud"
	"tombolo/config/egress"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/gitops"
	"tombolo/config/identity"
	"tombolo/config/kubernetes"
	"tombolo/config/network"
	"tombolo/config/nodes"
	"tombolo/config/services"
	"tombolo/config/strict"
	"tombolo/config/windows"
	"tombolo/internal/file"
	"tombolo/internal/names"
	"tombolo/internal/scalar"
	"tombolo/internal/wording"
)

// clusterFormat is the format of cluster files with the keys of all clouds. A file is read
// by that of its cloud: see formatOf.
var clusterFormat = strict.Format{
	Rule:    ruleOf,
	Empty:   "start with version: 1 and name, or copy another cluster file",
	Several: "put every cluster into a file of its own",
}

// Load reads the cluster file at path, fills in defaults and validates it; a spoke
// together with its hub's file. The error is strict.Problems when a file could be
// read but is wrong.
func Load(path string) (*Cluster, error) { return new(Loader).Load(path) }

// Loader loads several cluster files. It reads the file of a hub once for all of its spokes, and each
// file of shared settings once for all clusters. The zero value is ready.
type Loader struct {
	// Read returns the content of a file of shared settings; the error is fs.ErrNotExist for one that
	// is not there. Default: as it is on disk.
	Read func(file string) ([]byte, error)
	hubs map[string]hubRead
	read map[string]*sharedRead
}

// hubRead is what was read of a hub's file.
type hubRead struct {
	cluster *Cluster
	doc     *strict.Document
	err     error
}

// Load is the function Load.
func (l *Loader) Load(path string) (*Cluster, error) {
	c, doc, err := l.load(path)
	if err != nil {
		return nil, err
	}
	if err := doc.Problems().Err(); err != nil {
		return nil, err
	}
	if !c.HasHubFile() {
		return c, nil
	}
	if _, err := l.hubOf(c, doc); err != nil {
		return nil, err
	}
	return c, nil
}

// load also returns the document, for problems that involve other files.
func (l *Loader) load(path string) (*Cluster, *strict.Document, error) {
	doc := strict.NewDocument(path)
	if IsShared(path) {
		doc.Report("", "has settings that clusters share, and is no cluster's", "name a cluster")
		return nil, doc, nil
	}
	content, err := readFile(doc, "cluster file", "name the cluster")
	if err != nil {
		return nil, nil, err
	}
	if content == nil {
		return nil, doc, nil
	}
	below, err := l.under(path, content)
	if err != nil {
		return nil, nil, err
	}
	return parse(doc, content, below), doc, nil
}

// readFile returns the content of the document's file, which is of a kind such as
// "cluster file"; nil, with the problem reported, when it is not to be read.
func readFile(doc *strict.Document, kind, otherwise string) ([]byte, error) {
	if err := file.Inside(doc.File); err != nil {
		doc.Report("", "cannot be read: "+err.Error(), "give the path of a file of the project")
		return nil, nil
	}
	info, err := os.Lstat(doc.File) // nor is the file itself a link
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s %s: %w; check the path, or %s", kind, doc.File, fs.ErrNotExist, otherwise)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, doc.File, err)
	}
	if !info.Mode().IsRegular() { // reading it may never end
		doc.Report("", "is not a regular file", "give the path of a file, not of a directory, a link, a pipe or a device")
		return nil, nil
	}
	if info.Size() > file.MostText {
		doc.Report("", fmt.Sprintf("has %d bytes; a %s has at most %d", info.Size(), kind, file.MostText),
			"move long values to the GitOps repository")
		return nil, nil
	}
	content, err := file.Read(doc.File, file.MostText)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, doc.File, err)
	}
	return append([]byte{}, content...), nil
}

// parse reads the content of a cluster file together with what is under it, and reports into doc.
func parse(doc *strict.Document, content []byte, below under) *Cluster {
	doc.Add(below.problems)
	if below.lacking {
		return nil // what is missing cannot be told
	}
	c := &Cluster{File: doc.File}
	provider := providerOf(cmp.Or(providerWord(content), below.provider))
	if !formatOf(provider).Decode(doc, content, c, below.settings...) {
		return nil
	}
	if c.Version != Version && c.Version != 0 {
		doc.Only("version") // nothing else about another version of the format can be judged
		return c
	}
	c.Cloud.Provider = provider // a word that is none is reported already
	c.followLabels(doc)
	c.setDefaults()
	validate(doc, c)
	c.Warnings = doc.Warnings()
	return c
}

// LoadDir reads all cluster files of a directory, sorted by file name: every
// *.yaml except Pulumi.*.yaml and those of shared settings. A file must have the name of its cluster. The error
// is strict.Problems, of all files together, when files are wrong.
func LoadDir(dir string) ([]*Cluster, error) {
	if err := file.Inside(dir); err != nil {
		return nil, fmt.Errorf("read directory of cluster files: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read directory of cluster files %s: %w", dir, err)
	}
	var loader Loader
	var loaded []loadedFile
	for _, e := range entries {
		if e.IsDir() || !isClusterFile(e.Name()) {
			continue
		}
		c, doc, err := loader.load(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, loadedFile{c, doc})
	}
	checkFileNames(loaded)
	checkHubs(loaded)
	var clusters []*Cluster
	var problems strict.Problems
	for _, f := range loaded {
		clusters = append(clusters, f.cluster)
		problems = append(problems, f.doc.Problems()...)
	}
	if len(problems) == 0 {
		if problems, err = loader.Unread(dir); err != nil {
			return nil, err
		}
	}
	if err := problems.InOrder().Err(); err != nil {
		return nil, err
	}
	return clusters, nil
}

type loadedFile struct {
	cluster *Cluster // nil when the file is not YAML
	doc     *strict.Document
}

// stem of a file's name.
func (f loadedFile) stem() string {
	base := filepath.Base(f.doc.File)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// isClusterFile accepts .yml too, so that such a file is reported and not
// overlooked.
func isClusterFile(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(name, "Pulumi.") && !strings.HasPrefix(name, ".") && !IsShared(name)
}

// checkFileNames expects every file to be <name>.yaml, which also makes names unique.
func checkFileNames(files []loadedFile) {
	named := map[string]string{}
	for _, f := range files {
		if f.cluster != nil && f.cluster.Name == f.stem() {
			named[f.cluster.Name] = f.doc.File
		}
	}
	for _, f := range files {
		if filepath.Ext(f.doc.File) == ".yml" {
			f.doc.Report("", "ends in .yml", fmt.Sprintf("call the file %s.yaml", f.stem()))
		}
		if f.cluster == nil || !f.doc.Sound("name") || f.cluster.Name == f.stem() {
			continue
		}
		name := f.cluster.Name
		if other, ok := named[name]; ok {
			f.doc.Report("name", fmt.Sprintf("%s is already the name of the cluster in %s", wording.Quote(name), other),
				fmt.Sprintf("give each cluster its own name; here %s, after the file", wording.Quote(f.stem())))
			continue
		}
		f.doc.Report("name", fmt.Sprintf("is %s, and the file is called %s", wording.Quote(name), filepath.Base(f.doc.File)),
			fmt.Sprintf("call the file %s.yaml, or the cluster %s", name, wording.Quote(f.stem())))
	}
}

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
	problem := func(p strict.Path, message, remedy string) { doc.Report(p, message, remedy) }
	file := filepath.Base(hub.File)
	switch {
	case hub.Name != c.Hub():
		problem(gitops.HubPath, fmt.Sprintf("%s is the file of the cluster %s", file, wording.Quote(hub.Name)), "call files after their clusters")
	case hub.GitOps.Engine != gitops.ArgoCD:
		problem(gitops.HubPath, fmt.Sprintf("%s has the engine %s", wording.Quote(hub.Name), hub.GitOps.Engine), "name a cluster with the engine argocd")
	case hub.Hub() == c.Name:
		problem(gitops.HubPath, fmt.Sprintf("%s has this cluster as its hub, so neither would have an Argo CD", wording.Quote(hub.Name)),
			"remove gitops.hub from one of the two files")
	case hub.IsSpoke():
		problem(gitops.HubPath, fmt.Sprintf("%s is not a hub but a spoke of %s", wording.Quote(hub.Name), wording.Quote(hub.Hub())),
			fmt.Sprintf("name %s, or remove gitops.hub from %s", wording.Quote(hub.Hub()), file))
	case c.Wave < hub.Wave:
		problem("wave", fmt.Sprintf("%d is before the hub's wave, %d", c.Wave, hub.Wave),
			fmt.Sprintf("use %d or a later one, or remove it", hub.Wave))
	default:
		checkReach(problem, c, hub)
		checkAcross(problem, c, hub)
		warnOfNoWay(doc, c, hub)
	}
}

// checkReach reports a spoke whose role the hub may not assume.
func checkReach(problem func(p strict.Path, message, remedy string), c, hub *Cluster) {
	if c.GitOps.ArgoCD.Credentials != gitops.CredentialsAWS {
		return
	}
	own, other := awsfacts.Partition(c.Cloud.Region), awsfacts.Partition(hub.Cloud.Region)
	switch {
	case hub.onAzure():
		problem(gitops.HubPath, fmt.Sprintf("%s is in Azure, where its Argo CD has no IAM role that could assume this cluster's", wording.Quote(hub.Name)),
			"add gitops.argocd.credentials: service-account, or name a hub in AWS")
	case own != other:
		problem(gitops.HubPath, fmt.Sprintf("%s is in the AWS partition %s, and this cluster in %s; a role cannot be assumed across partitions", wording.Quote(hub.Name), other, own),
			"name a hub of the same partition, or use the credentials service-account")
	case !slices.Contains(hub.SpokeAccounts(), c.Cloud.Account):
		problem(gitops.HubPath, fmt.Sprintf("%s may not assume roles in the account %s", wording.Quote(hub.Name), c.Cloud.Account),
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

// formats of cluster files, by the cloud that they are for.
var formats = map[Provider]strict.Format{AWS: formatFor(AWS), Azure: formatFor(Azure)}

// formatOf is the format of the cluster files for a cloud; for one that is not known, it is
// that for AWS.
func formatOf(p Provider) strict.Format {
	if f, ok := formats[p]; ok {
		return f
	}
	return formats[AWS]
}

func formatFor(p Provider) strict.Format {
	f := clusterFormat
	f.Rule = func(name string) strict.Rule { return ruleFor(p, name) }
	f.Omit = func(owner reflect.Type, name string, tag reflect.StructTag) *strict.Omission {
		if owner == reflect.TypeFor[addon.Selection]() {
			return addonOmission(p, name)
		}
		return omission(p, owner.Name()+"."+name, Provider(tag.Get(field.CloudTag)))
	}
	return f
}

// format of the cluster's file.
func (c *Cluster) format() strict.Format { return formatOf(c.Cloud.Provider) }

// onAzure says that the cluster is in Azure.
func (c *Cluster) onAzure() bool { return c.Cloud.Provider == Azure }

// providerIn is the cloud that a file is for, whatever else is wrong with it: what the file
// may say depends on it.
func providerIn(content []byte) Provider { return providerOf(providerWord(content)) }

func providerWord(content []byte) string {
	word, _ := scalar.At(content, "cloud", "provider") // an error is reported when the file is decoded
	return word
}

// providerOf is the cloud that a word means: a misspelt one means the nearest, and none AWS.
func providerOf(word string) Provider {
	word = strings.ToLower(strings.TrimSpace(word))
	if slices.Contains(field.Providers(), Provider(word)) {
		return Provider(word)
	}
	if near := wording.Nearest(word, form.Texts(field.Providers()...)); near != "" {
		return Provider(near)
	}
	return AWS
}

// addonOmission is why the files for a cloud have no addon of a name; nil for one that they
// have.
func addonOmission(p Provider, name string) *strict.Omission {
	a := addon.Find(name)
	if a == nil {
		return nil
	}
	instead, not := a.NotOn[string(p)]
	if !not {
		return nil
	}
	return &strict.Omission{Message: instead.Reason, Remedy: instead.Remedy}
}

// omission is why the files for a cloud have no key for a field, such as Cloud.Tenant, which
// only those of another have; nil for a key that they have.
func omission(p Provider, name string, other Provider) *strict.Omission {
	if other == "" || other == p {
		return nil
	}
	d := described[name]
	o := &strict.Omission{
		Message: "is a key of files for " + other.Title() + ", and this one is for " + p.Title(),
		Remedy:  d.Remedy, Instead: d.Instead,
	}
	switch {
	case o.Remedy != "":
	case o.Instead != "":
		o.Remedy = "use " + o.Instead
	default:
		o.Remedy = "remove it"
	}
	return o
}

// newFile is the file of a cluster, to be checked.
func newFile(doc *strict.Document, c *Cluster) *check.File {
	return &check.File{
		Doc: doc, Format: c.format(), Name: c.Name, Provider: c.Cloud.Provider, Region: c.Cloud.Region, Account: c.Cloud.Account, Day: today(),
		OfAccount: c.Account != nil, Existing: c.IsExisting(), Spoke: c.IsSpoke(),
		Proxied: c.Egress.Proxy.URL != "", Mirrored: len(c.Egress.Images.Mirrors) > 0,
	}
}

// validate checks how values fit together, and what Kubernetes and the cloud require of them. It
// reports every problem into doc. Each subject has its own checks; those of several are here.
func validate(doc *strict.Document, c *Cluster) {
	v := newFile(doc, c)
	checkMetadata(v, c)
	windows.Check(v, c.ChangeWindows, c.Drift)
	if c.onAzure() {
		checkAzure(v, c)
	} else {
		checkAWS(v, c)
		checkRoom(v, c)
	}
	services.CheckNamespaces(v, c.Namespaces)
	checkAddons(v, c)
	services.Check(v, c.Services, services.Around{Namespaces: c.namespaces(), LacksAgent: c.lacksAgent(), Reader: c.gitReader()})
	if c.GitOps.Engine == gitops.ArgoCD && doc.Sound("gitops.engine", gitops.HubPath) {
		checkRegistrationLabels(v, c)
		checkRegistrationAnnotations(v, c)
	}
	checkKeys(v, c)
	gitops.Check(v, c.GitOps, gitops.Around{
		Addons: c.Addons, Namespaces: c.ownNamespaces(), EngineNamespace: c.EngineNamespace(), Version: c.Kubernetes.Version, Neighbours: neighbours,
	})
}

// checkAWS checks what only AWS requires.
func checkAWS(v *check.File, c *Cluster) {
	checkNames(v)
	cloud.Check(v, c.Cloud, c.AddonRoles)
	checkTags(v, c.Tags)
	requireNetwork(v)
	network.Check(v, c.Network)
	tooLong := c.egressTooLong()
	egress.Check(v, c.Egress, tooLong)
	kubernetes.Check(v, c.Kubernetes, nodes.Around{
		Version: c.Kubernetes.Nodes(), Network: c.Network, Egress: c.NodeEgress(), OfNodes: c.Egress.OfNodes(), TooLong: tooLong != nil,
	})
	checkSignIn(v, c)
}

// checkAzure checks what only Azure requires.
func checkAzure(v *check.File, c *Cluster) {
	checkAzureNames(v, c)
	checkAzureTags(v, c)
	requireNetwork(v)
	most := 0
	if nodes.SoundSizes(v, c.Kubernetes.NodeGroups) {
		most = nodes.MostNodes(c.Kubernetes.NodeGroups)
	}
	network.CheckOnAzure(v, c.Network, most)
	egress.CheckOnAzure(v, c.Egress)
	kubernetes.CheckOnAzure(v, c.Kubernetes, c.Network)
	checkSignIn(v, c)
}

// requireNetwork reports a missing network, which only an existing cluster may do without.
func requireNetwork(v *check.File) {
	if !v.Existing {
		v.Require("", reflect.TypeFor[Cluster](), "network")
	}
}

// checkSignIn refuses Headlamp's sign-in where the Kubernetes API would not take its tokens.
func checkSignIn(v *check.File, c *Cluster) {
	const secret = strict.Path("addons.headlamp.oidcSecret")
	headlamp, on := c.Addons["headlamp"].(*addon.HeadlampOptions)
	if !on || headlamp.OIDCSecret == "" || c.Kubernetes.IdentityProvider != nil && !c.IsExisting() && !c.onAzure() {
		return
	}
	at, remedy := strict.Path("kubernetes.identityProvider"), "add kubernetes.identityProvider, or remove it"
	message := "needs kubernetes.identityProvider: Headlamp passes people's tokens on, and the Kubernetes API would refuse them"
	switch {
	case c.onAzure():
		at, remedy = "kubernetes.admins", "remove it: people give Headlamp tokens that kubelogin prints"
		message = "is not for Azure: Headlamp passes people's tokens on, and AKS takes those alone that Entra gives for AKS"
	case c.IsExisting():
		remedy = "remove it: on a cluster that others own, the file cannot say who their provider is"
	}
	if v.Doc.Sound(at, secret) {
		v.Problem(secret, remedy, "%s", message)
	}
}

// namespaces are those that are there when services are made.
func (c *Cluster) namespaces() []string {
	names := append([]string{c.EngineNamespace()}, c.ownNamespaces()...)
	for _, a := range c.Addons.Enabled() {
		names = append(names, a.Namespace)
	}
	return names
}

// ownNamespaces are the namespaces of the file.
func (c *Cluster) ownNamespaces() []string {
	var names []string
	for _, n := range c.Namespaces {
		names = append(names, n.Name)
	}
	return names
}

// lacksAgent says that nothing brings the agent of Pod Identity to the nodes.
func (c *Cluster) lacksAgent() bool {
	agent := func(a kubernetes.ManagedAddon) bool { return a.Name == awsfacts.PodIdentityAgent }
	return !c.IsExisting() && !c.Kubernetes.Auto() && !slices.ContainsFunc(c.Kubernetes.Addons, agent)
}

// checkKeys refuses KMS keys of another region. Of a cluster that others own, core makes what
// addons need alone.
func checkKeys(v *check.File, c *Cluster) {
	if c.IsExisting() {
		checkKeysIn(v, "addons", reflect.ValueOf(c.Addons))
		return
	}
	checkKeysIn(v, "", reflect.ValueOf(*c))
}

// checkKeysIn visits the fields whose descriptors say what to do about such a key.
func checkKeysIn(v *check.File, at strict.Path, value reflect.Value) {
	switch {
	case value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface:
		if !value.IsNil() {
			checkKeysIn(v, at, value.Elem())
		}
	case value.Kind() == reflect.Slice:
		for i := range value.Len() {
			checkKeysIn(v, at.Index(i), value.Index(i))
		}
	case value.Type() == reflect.TypeFor[addon.Selection]():
		for _, name := range value.MapKeys() {
			checkKeysIn(v, at.Field(name.String()), value.MapIndex(name))
		}
	case value.Kind() == reflect.Struct:
		for _, f := range v.Format.Fields(value.Type()) {
			remedy := described[value.Type().Name()+"."+value.Type().Field(f.Index).Name].KeyRemedy
			if remedy == "" {
				checkKeysIn(v, at.Field(f.Name), value.Field(f.Index))
				continue
			}
			v.OwnKey(at.Field(f.Name), value.Field(f.Index).String(), remedy)
		}
	}
}

// The limits of the names of addons' needs.
const (
	// maxQueueName is the limit of a queue's name (SQS CreateQueue).
	maxQueueName = 80
	// maxBucketName is the limit of a bucket's name (S3 naming rules).
	maxBucketName = 63
)

// AddonRoleName is the name of the IAM role of an addon's identity; identity is
// "" for an addon's only one.
func AddonRoleName(cluster, name, identity string) string {
	return cluster + "-" + AddonRole(name, identity)
}

// checkAddons checks the addons that are turned on, and how they fit together.
func checkAddons(v *check.File, c *Cluster) {
	for _, a := range c.Addons.Enabled() {
		at := strict.Path("addons").Field(a.Name)
		for _, other := range a.Required(string(c.Cloud.Provider)) {
			if _, ok := c.Addons[other]; !ok {
				v.Problem(at, fmt.Sprintf("add %s to addons, or turn %s off", other, a.Name), "needs the addon %s", other)
			}
		}
		if !v.Doc.Sound(at) {
			continue
		}
		for _, p := range a.Check(a.Options, c.Addons) {
			checkAddonProblem(v, at, p)
		}
		checkAddonNames(v, c, at, a)
		checkOperator(v, c, at, a)
		checkUnreached(v, c, at, a)
		checkAddonService(v, c, at, a)
		checkAddonTwice(v, c, at, a)
		checkAddonEnded(v, c, at, a)
		if o, ok := a.Options.(*addon.SecretsOptions); ok && o.VaultServer != nil {
			egress.CheckCertificates(v, at.Field("vaultServer").Field("certificateAuthority"), o.VaultServer.CertificateAuthority)
		}
	}
}

func checkAddonProblem(v *check.File, at strict.Path, p addon.Problem) {
	if p.Path != "" {
		at += "." + strict.Path(p.Path)
	}
	if p.Warning {
		v.Warn(at, p.Remedy, "%s", p.Message)
		return
	}
	v.Problem(at, p.Remedy, "%s", p.Message)
}

// checkAddonNames checks the names of the addon's needs.
func checkAddonNames(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	if !v.Doc.Sound("name", "cloud") {
		return
	}
	needs := a.Needs(c.AddonFacts(), a.Options)
	if v.OnAzure() {
		if _, ofSystems := a.Options.(*addon.OperatorOptions); ofSystems {
			return // operator reports each where the system is named
		}
		for _, i := range needs.Identities {
			v.Fits(at, "the addon's identity", AddonIdentityName(v.Name, a.Name, i.Name), azurefacts.MaxIdentityName)
		}
		return
	}
	for _, i := range needs.Identities {
		if c.GivenAddonRole(a.Name, i.Name) == "" {
			v.Fits(at, "the addon's IAM role", AddonRoleName(v.Name, a.Name, i.Name), form.MaxRoleName)
		}
	}
	if needs.NodeRole != nil && c.GivenNodeRole(a.Name) == "" {
		v.Fits(at, "the nodes' IAM role", needs.NodeRole.RoleName, form.MaxRoleName)
	}
	if needs.Queue != nil {
		v.Fits(at, "the addon's queue", needs.Queue.Name, maxQueueName)
	}
	if needs.Bucket != nil {
		v.Fits(at, "the addon's bucket", needs.Bucket.Name, maxBucketName)
	}
}

// checkUnreached finds a vault or a storage account that nothing reaches. Core makes a way to it in a
// network of its own alone: a subnet of others may have no service endpoint for it. A storage
// account lets no public address of its own region in:
// https://learn.microsoft.com/azure/storage/common/storage-network-security
func checkUnreached(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	if !v.OnAzure() || c.OwnsNetwork() {
		return
	}
	needs := a.Needs(c.AddonFacts(), a.Options)
	if needs.Container.IsMade() {
		v.Problem(at, "name a container of yours in container, in a storage account that the cluster reaches",
			"makes a storage account that nothing reaches, as the network is of others")
	}
	if needs.Vault.IsMade() && len(needs.Vault.AllowedCIDRs) == 0 {
		v.Problem(at, "name the public addresses by which the cluster leaves the network in allowedCidrs, or a vault of yours in vault",
			"makes a vault that nothing reaches, as the network is of others")
	}
}

// checkAddonService finds a service with the addon's name: they would share a ConfigMap.
func checkAddonService(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	i := slices.IndexFunc(c.Services, func(s services.Service) bool { return s.Name == a.Name })
	if i < 0 {
		return
	}
	service := strict.Path("services").Index(i).Field("name")
	v.Problem(service, "remove the service, or turn the addon off",
		"%s is also an addon, which %s turns on", wording.Quote(a.Name), v.Line(at))
}

// checkAddonTwice finds an addon that EKS would also install.
func checkAddonTwice(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	i := slices.IndexFunc(c.Kubernetes.Addons, func(m kubernetes.ManagedAddon) bool { return m.Name == a.Name })
	if i >= 0 {
		v.Problem(at, "keep one of the two", "is also installed by EKS, by kubernetes.addons at %s",
			v.Line(strict.Path("kubernetes.addons").Index(i).Field("name")))
	}
}

// checkAddonEnded warns of an addon that gets no releases any more.
func checkAddonEnded(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	if a.Ended == nil {
		return
	}
	remedy := fmt.Sprintf("turn %s on in its place", a.Ended.Successor)
	if _, on := c.Addons[a.Ended.Successor]; on {
		remedy = fmt.Sprintf("turn it off: %s is on and does the same", a.Ended.Successor)
	}
	v.Warn(at, remedy, "gets no releases since %s", a.Ended.Date)
}

// addonKeys are the keys of the infra ConfigMap that the cluster's addons publish, each with
// the first addon that does.
func addonKeys(c *Cluster) map[string]string {
	out := map[string]string{}
	for _, a := range c.Addons.Enabled() {
		for _, k := range a.Keys() {
			if _, known := out[k.Name]; !known {
				out[k.Name] = a.Name
			}
		}
	}
	return out
}

// checkOperator checks the identities that systems get for Azure Service Operator: their roles, and
// that none reaches what the cluster itself consists of.
func checkOperator(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	options, is := a.Options.(*addon.OperatorOptions)
	if !is || !v.Doc.Sound("name", "cloud") {
		return
	}
	for i, s := range options.Systems {
		at := at.Field("systems").Index(i)
		v.Fits(at.Field("name"), "the system's identity", AddonIdentityName(v.Name, a.Name, s.Name), azurefacts.MaxIdentityName)
		identity.CheckGrant(v, at, identity.RoleGrant{Role: s.RoleName(), Scope: s.Scope, Reason: s.Reason})
		checkOperatorGroup(v, c, at.Field("resourceGroup"), v.Account, s.ResourceGroup)
		if m := form.OperatorScope.FindStringSubmatch(s.Scope); m != nil {
			checkOperatorGroup(v, c, at.Field("scope"), m[2], m[3])
		}
	}
}

// checkOperatorGroup refuses a resource group with something of the cluster's, or of its network.
func checkOperatorGroup(v *check.File, c *Cluster, at strict.Path, subscription, group string) {
	network, shared := c.Network.Group()
	var existing string
	if e := c.Kubernetes.Existing; e != nil {
		existing = e.ResourceGroup
	}
	for _, other := range []struct{ subscription, group, what string }{
		{v.Account, c.Cloud.ResourceGroup, "core makes the cluster in"},
		{v.Account, c.Kubernetes.NodeResourceGroup, "AKS makes for the nodes"},
		{v.Account, existing, "the cluster is in"},
		{network, shared, "the network is in"},
	} {
		if group != "" && subscription == other.subscription && strings.EqualFold(group, other.group) {
			v.Problem(at, "name a resource group of the system's own", "%s is the resource group that %s: the system could change or delete it", wording.Quote(group), other.what)
			return
		}
	}
}
