package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/cloud"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/file"
	"tombolo/internal/wording"
)

// AccountVersion is the version of the account file's format that this package reads.
const AccountVersion = 1

// Account is an account file, which describes what pipelines need in one cloud account.
type Account struct {
	// Version of the format: 1.
	Version int `yaml:"version"`
	// Name of the account, a DNS label of at most 46 characters. It names the stack
	// (<name>-pipelines), and starts the names of the roles.
	Name string `yaml:"name"`
	// Protect prevents a destruction by mistake: tombolo pipelines destroy asks for
	// the name, and plain pulumi destroy refuses to delete the roles. Default false.
	Protect bool `yaml:"protect,omitempty"`
	// Cloud, region and account.
	Cloud cloud.Cloud `yaml:"cloud"`
	// Tags of what the stack makes. Tombolo sets the key tombolo:pipelines itself.
	Tags map[string]string `yaml:"tags,omitempty"`
	// State is where the state of the clusters' stacks is, which the roles use. Required
	// without pipelines.from, and refused with it: the state is used with the other
	// account's roles.
	State StateStore `yaml:"state,omitempty"`
	// Pipelines are those that may assume the roles.
	Pipelines Pipelines `yaml:"pipelines"`

	// File is the path the account was loaded from.
	File string `yaml:"-"`
	// Source is the account of pipelines.from, nil without it.
	Source *Account `yaml:"-"`
	// Served are the accounts beside this one whose pipelines.from names it, sorted by name.
	Served []*Account `yaml:"-"`
}

var accountFields = field.Of[Account](map[string]field.Descriptor{
	"Version":   {Rule: strict.Rule{What: "a supported version of the account format", Example: "1", Numbers: []int{AccountVersion}}},
	"Name":      {Rule: strict.Rule{What: "a DNS label", Example: "acme-prod", Pattern: form.DNSLabel, MaxLength: maxAccountName, Advice: form.AsLabel}},
	"Protect":   {Rule: strict.Rule{Default: false}},
	"Cloud":     {},
	"Tags":      {},
	"State":     {},
	"Pipelines": {},
})

// StateStore is the S3 bucket, or the blob container, of a Pulumi backend.
type StateStore struct {
	// BucketARN of the bucket.
	BucketARN string `yaml:"bucketArn" cloud:"aws"`
	// KeyARN of the KMS key that encrypts secrets in the state. Default: no key, but
	// a passphrase or another service.
	KeyARN string `yaml:"keyArn,omitempty" cloud:"aws"`
	// Container is the id of the blob container, in any subscription of the tenant.
	Container string `yaml:"container" cloud:"azure"`
	// Key is the id of the key, in a key vault whose access is by roles, that encrypts secrets
	// in the state. Default: no key, but a passphrase or another service.
	Key string `yaml:"key,omitempty" cloud:"azure"`
}

var stateStoreFields = field.Of[StateStore](map[string]field.Descriptor{
	"BucketARN": {Rule: strict.Rule{What: "the ARN of an S3 bucket", Pattern: bucketARN, Example: "arn:aws:s3:::acme-state"}, Instead: "container"},
	"KeyARN":    {Rule: form.KMSKeyARN(), Instead: "key"},
	"Container": {
		Rule: strict.Rule{
			What: "the id of a blob container", Pattern: form.ContainerID, Advice: form.IDAdvice(form.ContainerID),
			Example: form.ExampleGroup + "/providers/Microsoft.Storage/storageAccounts/acmestate/blobServices/default/containers/state",
		}, Instead: "bucketArn",
	},
	"Key": {
		Rule: strict.Rule{
			What: "the id of a key in a key vault", Pattern: form.VaultKeyID, Advice: form.IDAdvice(form.VaultKeyID),
			Example: form.ExampleGroup + "/providers/Microsoft.KeyVault/vaults/acme-state/keys/state",
		}, Instead: "keyArn",
	},
})

// GitHost is where the pipelines run.
type GitHost string

// The hosts.
const (
	GitHub GitHost = "github"
	GitLab GitHost = "gitlab"
	// AzureDevOps is for accounts in Azure.
	AzureDevOps GitHost = "azure-devops"
)

// Pipelines are the jobs of one repository, and the roles that they assume: by OpenID
// Connect, or through the roles of another account. In Azure a role is a managed identity with
// its role assignments.
type Pipelines struct {
	// From names the account file beside this one whose roles assume those of this
	// account: its preview role the one that reads, and its apply role the one that
	// changes. The jobs sign in to that account alone. Default: the jobs sign in here.
	From string `yaml:"from,omitempty" cloud:"aws"`
	// Host of the repository: github or gitlab, or in Azure azure-devops. Required without
	// from.
	Host GitHost `yaml:"host,omitempty"`
	// Repository with the cluster files, such as acme/clusters. Required without from, and
	// refused with Azure DevOps. With GitHub's immutable subjects it has the numbers of owner
	// and repository, such as acme@5544123/clusters@821093847.
	Repository string `yaml:"repository,omitempty"`
	// Issuer of the jobs' tokens, without https://. Default: the public host's,
	// token.actions.githubusercontent.com or gitlab.com; with Azure DevOps that of the
	// tenant, login.microsoftonline.com/<tenant>/v2.0.
	Issuer string `yaml:"issuer,omitempty"`
	// Audience of the tokens. Default for GitHub: sts.amazonaws.com; for GitLab, the
	// issuer with https://.
	Audience string `yaml:"audience,omitempty" cloud:"aws"`
	// ProviderARN of an OIDC provider that the account has for the issuer; an account
	// has one at most. Default: the stack makes one.
	ProviderARN string `yaml:"providerArn,omitempty" cloud:"aws"`
	// Preview is the role that reads.
	Preview PreviewRole `yaml:"preview,omitempty"`
	// Apply is the role that changes clusters. Required in AWS, and with Azure DevOps.
	Apply ApplyRole `yaml:"apply,omitempty"`
}

var pipelinesFields = field.Of[Pipelines](map[string]field.Descriptor{
	"From": {
		Rule:   strict.Rule{What: "the name of an account file", Example: "acme", Pattern: form.DNSLabel, MaxLength: maxAccountName, Advice: form.AsLabel},
		Remedy: "remove it, and add host and repository: each subscription has identities of its own",
	},
	"Host": {
		Rule:      strict.Rule{What: "a Git host that Tombolo knows in AWS", Allowed: form.Texts(GitHub, GitLab)},
		AzureRule: &strict.Rule{What: "a Git host that Tombolo knows", Allowed: form.Texts(GitHub, GitLab, AzureDevOps)},
	},
	"Repository": {Rule: strict.Rule{What: "the path of a repository", Example: "acme/clusters", Pattern: repository}},
	"Issuer":     {Rule: strict.Rule{What: "an issuer without https://", Example: "gitlab.example.com", Pattern: issuer}},
	"Audience": {
		Rule:   strict.Rule{What: "an audience", Example: "sts.amazonaws.com", Pattern: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:._/-]*$`), MaxLength: 255},
		Remedy: "remove it: Entra takes tokens for api://AzureADTokenExchange alone",
	},
	"ProviderARN": {Rule: strict.Rule{What: "the ARN of an OIDC provider", Pattern: oidcProvider, Example: "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"}},
	"Preview":     {},
	"Apply":       {},
})

// PreviewRole is the role of the jobs that read: previews and drift.
type PreviewRole struct {
	// Environments of GitHub whose jobs may assume the role. Default: preview,
	// preview-program, plan, drift.
	// With GitLab, the jobs of every branch of the project may; in Azure, those of Branches.
	Environments []string `yaml:"environments,omitempty"`
	// Branches of GitLab whose jobs may use the identity: Azure takes no wildcards, so each is
	// named. Default: main.
	Branches []string `yaml:"branches,omitempty" cloud:"azure"`
	// Subject of the tokens of the service connection that reads, as Azure DevOps shows it.
	// Required with Azure DevOps.
	Subject string `yaml:"subject,omitempty" cloud:"azure"`
	// Parameters of Parameter Store that previews may read, because cluster files take
	// values from them: names, or paths that end in /*. A SecureString among them that is
	// encrypted with AWS's own key can be read, too. Default: none.
	Parameters []string `yaml:"parameters,omitempty" cloud:"aws"`
	// PermissionsBoundary is the ARN of a policy beyond which the role's rights do
	// not go. Default: none.
	PermissionsBoundary string `yaml:"permissionsBoundary,omitempty" cloud:"aws"`
}

var previewRoleFields = field.Of[PreviewRole](map[string]field.Descriptor{
	"Environments": {Rule: environments(defaultPreviewEnvironments())},
	"Branches":     {Rule: strict.Rule{What: "the name of a branch", Noun: "branch", Example: "main", Pattern: gitName, MinItems: 1, Default: []string{gitlabBranch}}, Remedy: "remove it: in AWS the jobs of every branch may assume the role"},
	"Subject":      {Rule: connectionRule()},
	"Parameters": {
		Rule: strict.Rule{
			What: "the name of a parameter, or a path that ends in /*", Noun: "parameter", Example: "/shop/*",
			Pattern: regexp.MustCompile(`^((/[A-Za-z0-9_.-]+){1,15}|(/[A-Za-z0-9_.-]+){1,14}/\*|[A-Za-z0-9_.-]+)$`),
		},
	},
	"PermissionsBoundary": {Rule: cloud.Boundary()},
})

// ApplyRole is the role of the jobs that change clusters.
type ApplyRole struct {
	// Environments of GitHub whose jobs may assume the role. Default: apply.
	Environments []string `yaml:"environments,omitempty"`
	// Branch of GitLab whose jobs may assume the role; protect it. Default: main.
	Branch string `yaml:"branch,omitempty"`
	// Subject of the tokens of the service connection that applies, as Azure DevOps shows it.
	// Required with Azure DevOps.
	Subject string `yaml:"subject,omitempty" cloud:"azure"`
	// Roles that the job may give to identities beside those that core gives by itself: the
	// roles of services and systems in cluster files, by name or by the id of a definition.
	// Owner, and roles that give roles, are refused. Default: none.
	Roles []string `yaml:"roles,omitempty" cloud:"azure"`
	// PolicyARNs of managed policies with the rights to make clusters; the rights to
	// write the state are added.
	PolicyARNs []string `yaml:"policyArns" cloud:"aws"`
	// PermissionsBoundary is the ARN of a policy beyond which the role's rights do
	// not go. Default: none.
	PermissionsBoundary string `yaml:"permissionsBoundary,omitempty" cloud:"aws"`
	// SessionHours is the longest session, in hours. Default 6; with pipelines.from, AWS
	// allows an hour, after which the session is renewed.
	SessionHours int `yaml:"sessionHours,omitempty" cloud:"aws"`
}

var applyRoleFields = field.Of[ApplyRole](map[string]field.Descriptor{
	"Environments":        {Rule: environments(defaultApplyEnvironments())},
	"Branch":              {Rule: strict.Rule{What: "the name of a branch", Example: "main", Pattern: gitName, Default: gitlabBranch}},
	"Subject":             {Rule: connectionRule()},
	"Roles":               {Rule: strict.Rule{What: "a role", Noun: "role", Example: azurefacts.KeyVaultSecretsUser, Pattern: form.RoleText}, Instead: "policyArns"},
	"PolicyARNs":          {Rule: strict.Rule{What: "the ARN of an IAM policy", Noun: "policy", Pattern: form.PolicyARN, MinItems: 1, Example: "arn:aws:iam::111122223333:policy/clusters"}, Remedy: "remove it: the identity is Contributor of the subscription"},
	"PermissionsBoundary": {Rule: cloud.Boundary()},
	"SessionHours":        {Rule: strict.Rule{Least: new(1), Most: new(12), Default: defaultSessionHours}},
})

// The defaults of an account file. Sources: GitHub's and GitLab's pages about OpenID
// Connect in AWS.
const (
	githubIssuer        = "token.actions.githubusercontent.com"
	githubAudience      = "sts.amazonaws.com"
	gitlabIssuer        = "gitlab.com"
	defaultSessionHours = 6
	gitlabBranch        = "main"
)

func defaultPreviewEnvironments() []string {
	return []string{"preview", "preview-program", "plan", "drift"}
}

func defaultApplyEnvironments() []string { return []string{"apply"} }

// maxAccountName leaves room for the longest role's name of an account.
const maxAccountName = form.MaxRoleName - len("-pipelines-preview")

// PreviewRoleARN is the ARN of the role that reads.
func (a *Account) PreviewRoleARN() string { return a.roleARN(a.PreviewRoleName()) }

// ApplyRoleARN is the ARN of the role that changes clusters.
func (a *Account) ApplyRoleARN() string { return a.roleARN(a.ApplyRoleName()) }

func (a *Account) roleARN(name string) string {
	return "arn:" + awsfacts.Partition(a.Cloud.Region) + ":iam::" + a.Cloud.Account + ":role" + cmp.Or(a.Cloud.Roles.Path, "/") + name
}

// PreviewRoleName is the name of the role that reads.
func (a *Account) PreviewRoleName() string { return a.Name + "-pipelines-preview" }

// ApplyRoleName is the name of the role that changes clusters.
func (a *Account) ApplyRoleName() string { return a.Name + "-pipelines-apply" }

// Cluster stands for the account where a cluster is expected: it has the account's
// name, protection, cloud and file.
func (a *Account) Cluster() *Cluster {
	return &Cluster{Name: a.Name, Protect: a.Protect, Cloud: a.Cloud, Tags: a.Tags, File: a.File, Account: a}
}

// accountFormat is the format of the account files for a cloud.
func accountFormat(p Provider) strict.Format {
	f := formatOf(p)
	f.Empty = "start with version: 1 and name, or copy the example in the guide to pipelines"
	f.Several = "put every account into a file of its own"
	return f
}

// LoadAccount reads an account file as strictly as cluster files are read, with the accounts
// beside it that it goes together with. Its name must be <name>.yaml. The error is
// strict.Problems when a file could be read but is wrong.
func LoadAccount(path string) (*Account, error) {
	a, doc, err := loadAccount(path)
	if err != nil {
		return nil, err
	}
	if err := doc.Problems().Err(); err != nil {
		return nil, err
	}
	if a.Pipelines.From != "" {
		return a, a.findSource(doc)
	}
	return a, a.findServed()
}

// loadAccount reads one file. Problems are in the document.
func loadAccount(path string) (*Account, *strict.Document, error) {
	doc := strict.NewDocument(path)
	content, err := readFile(doc, "account file", "name the account")
	if err != nil {
		return nil, nil, err
	}
	a := &Account{File: path}
	provider := providerIn(content)
	if content != nil && accountFormat(provider).Decode(doc, content, a) {
		if a.Version != AccountVersion && a.Version != 0 {
			doc.Only("version") // nothing else about another version of the format can be judged
			return a, doc, nil
		}
		a.Cloud.Provider = provider // a word that is none is reported already
		a.setDefaults()
		a.validate(doc)
	}
	return a, doc, nil
}

// findSource loads the account of pipelines.from.
func (a *Account) findSource(doc *strict.Document) error {
	const at = strict.Path("pipelines.from")
	from := a.Pipelines.From
	source, sourceDoc, err := loadAccount(filepath.Join(filepath.Dir(a.File), from+".yaml"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		doc.Report(at, fmt.Sprintf("there is no account file %s.yaml beside this one", from), "write it, or name another account")
	case err != nil:
		return err
	case len(sourceDoc.Problems()) > 0:
		return sourceDoc.Problems()
	case source.Pipelines.From != "":
		doc.Report(at, fmt.Sprintf("is %s, whose own roles are assumed from %s", wording.Quote(from), source.Pipelines.From),
			"name "+wording.Quote(source.Pipelines.From)+": roles lead from one account to all others")
	case source.Cloud.Account == a.Cloud.Account:
		doc.Report(at, fmt.Sprintf("is %s, which is in the same account", wording.Quote(from)), "remove this file: the roles of "+from+" work there")
	case awsfacts.Partition(source.Cloud.Region) != awsfacts.Partition(a.Cloud.Region):
		doc.Report(at, fmt.Sprintf("is %s, which is in another partition of AWS", wording.Quote(from)), "let the jobs sign in here: no role leads from one partition to another")
	}
	a.Source = source
	return doc.Problems().Err()
}

// findServed loads the accounts beside this one whose roles its own assume.
func (a *Account) findServed() error {
	files, err := file.Matching(filepath.Join(filepath.Dir(a.File), "*.yaml"))
	if err != nil {
		return fmt.Errorf("look for the account files beside %s: %w", a.File, err)
	}
	for _, file := range files {
		if filepath.Base(file) == filepath.Base(a.File) {
			continue
		}
		other, doc, err := loadAccount(file)
		if err != nil {
			return err
		}
		if !doc.Has("pipelines.from") {
			continue // another file that is wrong is nobody's business here
		}
		if err := doc.Problems().Err(); err != nil {
			return err
		}
		if other.Pipelines.From == a.Name {
			a.Served = append(a.Served, other)
		}
	}
	return nil
}

func (a *Account) setDefaults() {
	if a.onAzure() {
		a.setAzureDefaults()
		return
	}
	a.Cloud.SetDefaults(a.Name)
	p := &a.Pipelines
	switch p.Host {
	case GitHub:
		p.Issuer, p.Audience = cmp.Or(p.Issuer, githubIssuer), cmp.Or(p.Audience, githubAudience)
		p.setEnvironments()
	case GitLab:
		p.Issuer = cmp.Or(p.Issuer, gitlabIssuer)
		p.Audience = cmp.Or(p.Audience, "https://"+p.Issuer)
		p.Apply.Branch = cmp.Or(p.Apply.Branch, gitlabBranch)
	}
	if p.From == "" {
		p.Apply.SessionHours = cmp.Or(p.Apply.SessionHours, defaultSessionHours)
	}
}

// setEnvironments are those of GitHub.
func (p *Pipelines) setEnvironments() {
	if p.Preview.Environments == nil {
		p.Preview.Environments = defaultPreviewEnvironments()
	}
	if p.Apply.Environments == nil {
		p.Apply.Environments = defaultApplyEnvironments()
	}
}

func (a *Account) validate(doc *strict.Document) {
	v := newFile(doc, a.Cluster())
	if file := strings.TrimSuffix(filepath.Base(a.File), filepath.Ext(a.File)); a.Name != "" && a.Name != file {
		v.Problem("name", fmt.Sprintf("call the file %s.yaml, or the account %s", a.Name, wording.Quote(file)),
			"is %s, and the file is called %s", wording.Quote(a.Name), filepath.Base(a.File))
	}
	checkHostsOwn(v, a.Pipelines)
	checkEnvironmentsApart(v, a.Pipelines)
	if a.onAzure() {
		checkInAzure(v, a)
		return
	}
	cloud.Check(v, a.Cloud, a.Cluster().AddonRoles)
	checkTags(v, a.Tags)
	v.Require("pipelines", reflect.TypeFor[Pipelines](), "apply")
	if a.Pipelines.From != "" {
		checkThrough(v, a)
	} else {
		checkSignsIn(v)
	}
	p := a.Pipelines
	v.OwnARNs(map[strict.Path]string{
		"pipelines.providerArn": p.ProviderARN, "pipelines.preview.permissionsBoundary": p.Preview.PermissionsBoundary,
		"pipelines.apply.permissionsBoundary": p.Apply.PermissionsBoundary,
	})
	for i, arn := range p.Apply.PolicyARNs {
		v.OwnARNs(map[strict.Path]string{strict.Path("pipelines.apply.policyArns").Index(i): arn})
	}
	if p.ProviderARN != "" && !strings.HasSuffix(p.ProviderARN, ":oidc-provider/"+p.Issuer) {
		v.Problem("pipelines.providerArn", "use the provider for that issuer, or correct pipelines.issuer",
			"is not the provider for the issuer %s", p.Issuer)
	}
}

// checkThrough refuses what is about jobs that sign in, where the roles are assumed by others.
func checkThrough(v *check.File, a *Account) {
	if a.Pipelines.From == a.Name {
		v.Problem("pipelines.from", "name the account that the jobs sign in to, or remove it", "is this account")
	}
	for _, at := range []strict.Path{
		"pipelines.host", "pipelines.repository", "pipelines.issuer", "pipelines.audience", "pipelines.providerArn",
		"pipelines.preview.environments", "pipelines.apply.environments", "pipelines.apply.branch", "pipelines.apply.sessionHours", "state",
	} {
		if v.Doc.Has(at) {
			v.Problem(at, fmt.Sprintf("remove it; %s.yaml has it", a.Pipelines.From), "is for the account that the jobs sign in to, and pipelines.from is %s", wording.Quote(a.Pipelines.From))
		}
	}
}

// checkSignsIn asks for what jobs need to sign in.
func checkSignsIn(v *check.File) {
	for at, remedy := range map[strict.Path]string{
		"pipelines.host": "add host: github or gitlab", "pipelines.repository": "add repository: acme/clusters",
		"state": "add state: {bucketArn: ...}, the bucket of the clusters' state",
	} {
		if !v.Doc.Has(at) {
			v.Problem(at, remedy+"; or name by pipelines.from the account that the jobs sign in to", "is required and missing")
		}
	}
}

// checkHostsOwn refuses what the host does not have: a token of GitLab's has no
// environment in its subject, one of a GitHub environment no branch, and one of Azure DevOps
// the service connection alone.
func checkHostsOwn(v *check.File, p Pipelines) {
	const environments, branch = "allow only the branch in the settings of the environment", "remove it; pipelines.apply.branch says whose jobs may apply"
	others := func(host, remedy string, keys ...strict.Path) {
		for _, key := range keys {
			if v.Doc.Has("pipelines." + key) {
				v.Problem("pipelines."+key, remedy, "is for %s", host)
			}
		}
	}
	switch p.Host {
	case GitHub:
		others("GitLab", environments, "preview.branches", "apply.branch")
		if v.Doc.Has("pipelines.repository") && !githubRepository.MatchString(p.Repository) {
			v.Problem("pipelines.repository", "write owner/name, or with both numbers owner@number/name@number", "%s is no repository of GitHub", wording.Quote(p.Repository))
		}
	case GitLab:
		others("GitHub", branch, "preview.environments", "apply.environments")
		if strings.Contains(p.Repository, "@") {
			v.Problem("pipelines.repository", "write the path of the project alone", "%s is no project of GitLab", wording.Quote(p.Repository))
		}
	case AzureDevOps:
		const subjects = "remove it; the subjects say whose jobs may use the identities"
		others("GitHub and GitLab", subjects, "repository")
		others("GitHub", subjects, "preview.environments", "apply.environments")
		others("GitLab", subjects, "preview.branches", "apply.branch")
	}
	if p.Host != "" && p.Host != AzureDevOps {
		others("Azure DevOps", "remove it; the repository says whose jobs may use the identity", "preview.subject", "apply.subject")
	}
}

// checkEnvironmentsApart refuses an environment whose jobs could assume both roles: those that read
// need no approval.
func checkEnvironmentsApart(v *check.File, p Pipelines) {
	for i, name := range p.Apply.Environments {
		if slices.Contains(p.Preview.Environments, name) {
			v.Problem(strict.Path("pipelines.apply.environments").Index(i), "give each role environments of its own",
				"%s is an environment of pipelines.preview too", wording.Quote(name))
		}
	}
}

func environments(byDefault []string) strict.Rule {
	return strict.Rule{What: "the name of an environment", Noun: "environment", Example: "preview", Pattern: gitName, MinItems: 1, Default: byDefault}
}

// The forms of an account file.
var (
	bucketARN    = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	oidcProvider = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::([0-9]{12}):oidc-provider/[a-z0-9][A-Za-z0-9:._/-]*$`)
	repository   = regexp.MustCompile(`^[A-Za-z0-9_.-]+(@[0-9]+)?(/[A-Za-z0-9_.-]+(@[0-9]+)?)+$`)
	// With the numbers of immutable subjects, or without:
	// https://learn.microsoft.com/entra/workload-id/workload-identities-github-immutable-subjects
	githubRepository = regexp.MustCompile(`^([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+|[A-Za-z0-9_.-]+@[0-9]+/[A-Za-z0-9_.-]+@[0-9]+)$`)
	issuer           = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(/[A-Za-z0-9._-]+)*$`)
	// Characters that mean something in a subject or in IAM's StringLike are left out.
	gitName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)
)
