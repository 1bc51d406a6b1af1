package initialize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"tombolo/automation"
	"tombolo/automation/adoption"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/file"
	"tombolo/stacks/catalog"
)

// Describer is what init cluster needs of automation.Driver.
type Describer interface {
	Describe(context.Context, *config.Cluster) (adoption.Cluster, error)
}

// ClusterOptions are the options of init cluster.
type ClusterOptions struct {
	// Answers are about a new cluster.
	Answers
	// Given says that a flag is on the command line.
	Given func(flag string) bool

	Driver func(context.Context, automation.Observer) (Describer, error)

	// FromAWS is the name of a cluster in EKS that exists, FromAzure that of one in AKS.
	FromAWS, FromAzure string
	// Subscription and ResourceGroup of the cluster in AKS.
	Subscription, ResourceGroup string
	// Profile of AWS to use.
	Profile string
	// FromTerraform is the address of a state of Terraform whose network the cluster is made in, and Network the id of the VPC
	// or subnet where the state has several. Networks reads it.
	FromTerraform, Network string
	Networks               func(ctx context.Context, dir, address, of string) (catalog.TerraformNetwork, error)
	// Dir is where the command was started.
	Dir string
	// Like is the cluster whose file, or for one that exists whose gitops, the new file takes over.
	Like string
}

// NewCmdCluster returns the command init cluster.
func NewCmdCluster(f *factory.Factory) *cobra.Command {
	opts := &ClusterOptions{
		Answers: Answers{Base: f.Base()},
		Driver:  func(ctx context.Context, o automation.Observer) (Describer, error) { return f.Driver(ctx, o) },
		Networks: func(ctx context.Context, dir, address, of string) (catalog.TerraformNetwork, error) {
			return f.Programs.TerraformNetwork(ctx, dir, address, of, nil)
		},
	}
	cmd := &cobra.Command{
		Use:   "cluster [<name>]",
		Short: "Write the file of a cluster, new or one that others own",
		Long: strings.TrimSpace(`
Write a cluster file into clusters/, and the cluster's part of the platform tree where
the project has the tree. On a terminal the command asks for what the flags leave out;
the first cluster of the project gives the defaults, and what files of shared settings
say is left out. With --like, the file is that of
another cluster with the new name, a path of its own, and a free block of addresses.

With --from-terraform, the cluster is made in the network that a state of Terraform or
OpenTofu has: its VPC and subnets, or its subnet in Azure, are written into the file. The
state is a file, or has the address s3://<bucket>/<key>?region=<region>,
azblob://<container>/<key>?storage_account=<account>, or one of HTTPS. It is only read.

With --from-aws or --from-azure, read a cluster of EKS or AKS that others own from its
cloud, and write a file with kubernetes.existing, its region and account, and on AWS with
createOidcProvider where the account has no identity provider for the cluster. The
gitops section is that of another cluster of the project (--like), with a path of its
own; without --like it is left for you to fill in.

Nothing in the cloud is changed. A file that exists is not overwritten.`),
		Example: strings.TrimSpace(`
  tombolo init cluster second --like first
  tombolo init cluster second --region eu-west-1 --allowed-cidr 203.0.113.0/24
  tombolo init cluster shop --from-terraform 's3://acme-states/network.tfstate?region=eu-central-1'
  tombolo init cluster --from-aws main --region eu-central-1 --like demo
  tombolo init cluster shop --from-aws Shop_Main --region eu-central-1 --like demo
  tombolo init cluster --from-azure main --subscription <id> --resource-group platform`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Name, opts.Given = strings.Join(args, ""), cmd.Flags().Changed
			opts.Dir = f.Dir
			return clusterRun(cmd.Context(), opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.FromAWS, "from-aws", "", "name of the cluster in EKS")
	flags.StringVar(&opts.FromAzure, "from-azure", "", "name of the cluster in AKS")
	flags.StringVar(&opts.Subscription, "subscription", "", "`id` of the subscription of the cluster in AKS")
	flags.StringVar(&opts.ResourceGroup, "resource-group", "", "resource `group` of the cluster in AKS")
	flags.StringVar(&opts.Region, "region", "", "region of the cluster, such as eu-central-1 or germanywestcentral")
	flags.StringVar(&opts.Profile, "profile", "", "AWS profile to use (default: the credentials of the environment)")
	flags.StringVar(&opts.Environment, "environment", "", "environment that the cluster belongs to (default dev)")
	flags.StringVar(&opts.FromTerraform, "from-terraform", "", "`state` of Terraform or OpenTofu whose network the cluster is made in")
	flags.StringVar(&opts.Network, "network", "", "`id` of the VPC, or of the subnet in Azure, where that state has several")
	flags.StringVar(&opts.Like, "like", "", "cluster of the project to take the file from, or with --from-aws and --from-azure the gitops section")
	opts.addFlags(cmd)
	return cmd
}

func clusterRun(ctx context.Context, o *ClusterOptions) error {
	if o.FromAWS == "" && o.FromAzure == "" {
		return newClusterRun(ctx, o)
	}
	if err := o.complete(); err != nil {
		return err
	}
	root, err := o.Root()
	if err != nil {
		return err
	}
	path := filepath.Join(root, "clusters", o.Name+".yaml")
	if err := absent(path, "give another name, or edit that file"); err != nil {
		return err
	}
	gitops, err := o.gitops(root)
	if err != nil {
		return err
	}
	found, err := o.describe(ctx)
	if err != nil {
		return err
	}
	if found.Owner != "" {
		return fault.NewUsage(fmt.Sprintf("%s is a cluster that Tombolo made (its owner is %s)", found.Name, found.Owner), "use its own cluster file and backend")
	}
	text, err := o.text(found, gitops)
	if err != nil {
		return err
	}
	if err := write(path, text); err != nil {
		return err
	}
	return o.report(path, found)
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// complete checks what is given, and names the file after the cluster.
func (o *ClusterOptions) complete() error {
	switch {
	case o.FromAWS != "" && o.FromAzure != "":
		return fault.NewUsage("two clusters are named", "give --from-aws or --from-azure")
	case o.FromAWS != "" && o.Region == "":
		return fault.NewUsage("the region is missing", "give the region of the cluster, such as --region eu-central-1")
	case o.FromAzure != "" && (o.Subscription == "" || o.ResourceGroup == ""):
		return fault.NewUsage("the resource group of the cluster is missing", "give --subscription <id> and --resource-group <group>")
	}
	o.Environment = cmp.Or(o.Environment, "dev")
	if o.Name == "" {
		o.Name = strings.Trim(notInName.ReplaceAllString(strings.ToLower(o.FromAWS+o.FromAzure), "-"), "-")
	}
	return o.checkName()
}

// checkName refuses what is no name of a file in clusters.
func (o *ClusterOptions) checkName() error {
	if o.Name == "" || o.Name != strings.Trim(notInName.ReplaceAllString(o.Name, "-"), "-") {
		return fault.NewUsage(fmt.Sprintf("%q is no name of a cluster file", o.Name), "use lower-case letters, digits and dashes")
	}
	return nil
}

// gitops is the section of the cluster that the file is like, with a path of its own; ""
// without one.
func (o *ClusterOptions) gitops(root string) (string, error) {
	if o.Like == "" {
		return "", nil
	}
	files, err := clusters.Files(func() (string, error) { return root, nil }, []string{o.Like})
	if err != nil {
		return "", err
	}
	text, err := file.ReadInside(files[0], file.MostOfSettings)
	if err != nil {
		return "", err
	}
	var like struct {
		GitOps yaml.Node `yaml:"gitops"`
	}
	if _, invalid := config.Load(files[0]); invalid == nil && yaml.Unmarshal(text, &like) == nil && like.GitOps.IsZero() {
		return "gitops:\n  path: clusters/" + o.Name + "\n", nil // the rest is in settings that clusters share
	}
	if err := yaml.Unmarshal(text, &like); err != nil || like.GitOps.Kind != yaml.MappingNode {
		return "", fault.NewUsage(fmt.Sprintf("%s has no gitops section that can be read", clusters.Short(files[0])), "run `tombolo validate "+o.Like+"`")
	}
	for i := 0; i+1 < len(like.GitOps.Content); i += 2 {
		if like.GitOps.Content[i].Value == "path" {
			like.GitOps.Content[i+1].SetString("clusters/" + o.Name)
		}
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err = encoder.Encode(map[string]*yaml.Node{"gitops": &like.GitOps})
	return out.String(), err
}

func (o *ClusterOptions) describe(ctx context.Context) (found adoption.Cluster, err error) {
	c := &config.Cluster{
		Name: o.Name, Cloud: config.Cloud{Provider: config.AWS, Region: o.Region, Profile: o.Profile},
		Kubernetes: config.Kubernetes{Existing: &config.ExistingCluster{Name: o.FromAWS}},
	}
	if o.FromAzure != "" {
		c.Cloud = config.Cloud{Provider: config.Azure, Account: o.Subscription}
		c.Kubernetes.Existing = &config.ExistingCluster{Name: o.FromAzure, ResourceGroup: o.ResourceGroup}
	}
	err = factory.With(ctx, o.Progress, o.Driver, func(driver Describer, _ *render.Progress) error {
		found, err = driver.Describe(ctx, c)
		return err
	})
	return found, err
}

// fileTemplate is the cluster file of an existing cluster.
var fileTemplate = template.Must(template.New("cluster").Parse(`# The {{.Service}} cluster {{.Found.Name}}, which others own: Tombolo adds to it, and changes nothing
# that is there. See docs/guide/existing.md.
version: 1
name: {{.Name}}
environment: {{.Environment}}

cloud:
{{- if .FromAzure}}
  provider: azure
  region: {{.Found.Region}}
  account: {{.Found.Account}}
  tenant: {{.Found.Tenant}}
{{- else}}
  provider: aws
  region: {{.Region}}
  account: "{{.Found.Account}}"
{{- end}}
{{- if .Profile}}
  profile: {{.Profile}}
{{- end}}

# Version, nodes and network are read from the cluster, which has Kubernetes {{.Found.Version}}.
kubernetes:
  existing:
    name: {{.Found.Name}}
{{- if .FromAzure}}
    resourceGroup: {{.ResourceGroup}}
{{- else if not .Found.OIDCProvider}}
    createOidcProvider: true # the account has none for the cluster
{{- end}}
{{if .GitOps}}
{{.GitOps}}{{else}}
# Fill in where the platform tree is: docs/reference/cluster-file.md, gitops.
gitops:
  engine: flux
  path: clusters/{{.Name}}
{{end}}`))

// Service that has the cluster.
func (o *ClusterOptions) Service() string {
	if o.FromAzure != "" {
		return "AKS"
	}
	return "EKS"
}

func (o *ClusterOptions) text(found adoption.Cluster, gitops string) (string, error) {
	var out bytes.Buffer
	err := fileTemplate.Execute(&out, struct {
		*ClusterOptions
		Found  adoption.Cluster
		GitOps string
	}{o, found, gitops})
	return out.String(), err
}

// absent refuses to write a file that exists.
func absent(path, remedy string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fault.NewUsage(clusters.Short(path)+" exists already", remedy)
	}
	return nil
}

// write makes the file, and no file where there is one by now.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the directory of cluster files: %w", err)
	}
	if err := file.Create(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the cluster file: %w", err)
	}
	return nil
}

// clusterDocument is the result in the JSON format.
type clusterDocument struct {
	Type  string           `json:"type"`
	File  string           `json:"file"`
	Found adoption.Cluster `json:"found"`
}

func (o *ClusterOptions) report(file string, found adoption.Cluster) error {
	if o.JSON() {
		return render.WriteJSON(o.Out, clusterDocument{Type: "cluster", File: file, Found: found})
	}
	s := o.Status()
	s.Done("%s: %s cluster %s in account %s, Kubernetes %s", clusters.Short(file), o.Service(), found.Name, found.Account, found.Version)
	switch {
	case o.FromAzure != "":
		o.reportAzure(found)
	case !found.AccessEntries:
		s.Plain("  the cluster takes no access entries (its authentication mode is CONFIG_MAP): admins, previewers and the addon karpenter need them")
	}
	if o.Like == "" {
		s.Plain("  fill in gitops, and run `tombolo validate %s`", o.Name)
		return nil
	}
	s.Plain("  next: tombolo preview %s, which creates only what is added", o.Name)
	return nil
}

// reportAzure says what the cluster lacks that others have to turn on.
func (o *ClusterOptions) reportAzure(found adoption.Cluster) {
	if !found.AccessEntries {
		o.Status().Plain("  the cluster does not know the groups of Entra: previewers need that")
	}
	if !found.OIDCProvider {
		o.Status().Plain("  the cluster has no issuer of tokens: identities of services and addons need it, and workload identity")
	}
}
