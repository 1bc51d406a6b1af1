package addon

import (
	"regexp"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
)

// Needs are an addon's needs in the cloud. Core makes them before the addon's
// release exists, and deletes them after the release is gone.
type Needs struct {
	// Identities that the addon's service accounts assume.
	Identities []Identity
	// NodeRole for nodes that the addon makes itself.
	NodeRole *NodeRole
	// Queue of events.
	Queue *Queue
	// Certificate for a domain.
	Certificate *Certificate
	// Bucket for data.
	Bucket *Bucket
	// Vault of secrets, on Azure.
	Vault *Vault
	// Container for data, on Azure.
	Container *Container
	// FileSystem for volumes that many nodes share.
	FileSystem *FileSystem
	// Zones are DNS zones that must exist under these names.
	Zones []Zone
	// DiscoveryTags are put on the private subnets, where the network is the
	// cluster's own, and on the cluster's security group.
	DiscoveryTags map[string]string
}

// Identity is what one service account of the addon's namespace is in the cloud: an IAM role
// on AWS, a user-assigned identity on Azure.
type Identity struct {
	// Name distinguishes several identities of an addon; "" for its only one.
	Name string
	// ServiceAccount that may assume the role or gets the identity, and no other.
	ServiceAccount string
	// Statements of the role's policy, on AWS.
	Statements []Statement
	// Roles that the identity has, on Azure.
	Roles []Role
}

// Role is a role of Azure on a scope.
type Role struct {
	// Name of a role that Azure has built in, such as Reader, or the id of a definition.
	Name string
	// Scope is the id of a resource, a resource group or a subscription; "" for MakeGroup.
	Scope string
	// MakeGroup is the name of a resource group to make, which is the scope; "" for none.
	MakeGroup string
}

// Statement allows actions on resources under conditions.
type Statement struct {
	// Sid names the statement, in letters and digits.
	Sid string
	// Actions, none of them with every action of a service.
	Actions []string
	// Resources as ARNs. A bare * needs Reason.
	Resources []string
	// Conditions by operator and key.
	Conditions map[string]map[string][]string
	// Reason explains a * in Resources: why the service allows no narrower
	// resource, or what limits it instead.
	Reason string
}

// NodeRole is an IAM role for nodes, an instance profile with it, and the
// access entry by which its nodes may join.
type NodeRole struct {
	// RoleName in IAM, at most 64 characters.
	RoleName string
	// ProfileName of the instance profile, at most 128 characters.
	ProfileName string
}

// Queue is an SQS queue that EventBridge rules feed.
type Queue struct {
	// Name in SQS, at most 80 characters.
	Name string
	// Rules by which events get into the queue.
	Rules []EventRule
}

// EventRule sends the events of a pattern to a queue.
type EventRule struct {
	// Name within the addon, a DNS label.
	Name string
	// Description in the account.
	Description string
	// Source and DetailType of the events.
	Source, DetailType string
}

// Certificate is an ACM certificate, validated by DNS.
type Certificate struct {
	// Domain of the certificate, and further names.
	Domain           string
	AlternativeNames []string
	// Zone that the validation records go to.
	Zone Zone
}

// Zone is a hosted zone of Route 53, or a DNS zone of Azure.
type Zone struct {
	// ID of the zone, such as Z0123456789ABCDEFGHIJ; on Azure its id in the Resource
	// Manager, of a public or a private zone.
	ID string `yaml:"id"`
	// Name of the zone's domain, such as example.com.
	Name string `yaml:"name"`
}

var zoneFields = field.Of[Zone](map[string]field.Descriptor{
	"ID": {
		Rule: strict.Rule{What: "the id of a Route 53 hosted zone", Example: "Z0123456789ABCDEFGHIJ", Pattern: regexp.MustCompile(`^Z[A-Z0-9]{5,31}$`)},
		AzureRule: &strict.Rule{
			What: "the id of a public or private DNS zone", Pattern: form.ZoneID, Advice: form.IDAdvice(form.ZoneID),
			Example: "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/dns/providers/Microsoft.Network/dnsZones/example.com",
		},
		Change: field.Changes("the addon works in the other zone"),
	},
	"Name": {Rule: strict.Rule{What: "a domain name", Example: "example.com", Pattern: domainName, MaxLength: 253}, Change: field.Changes("the addon works in the other zone")},
})

// Bucket is an S3 bucket. It is never deleted while it holds objects.
type Bucket struct {
	// Name in S3, unique in the world, 3 to 63 characters.
	Name string
	// ExpireDays is the age at which objects are deleted, in days; 0 keeps them.
	ExpireDays int
	// KMSKeyARN encrypts the objects; "" takes S3's own keys.
	KMSKeyARN string
}

// Vault is a key vault of Azure.
type Vault struct {
	// ID of one that others made; "" for one that core makes.
	ID string
	// Name of core's, unique in the world, 3 to 24 characters.
	Name string
	// AllowedCIDRs are public blocks that reach core's, beside the cluster's own subnet.
	AllowedCIDRs []string
	// Recover core's from the one that was deleted.
	Recover bool
}

// IsMade says that core makes the vault.
func (v *Vault) IsMade() bool { return v != nil && v.ID == "" }

// Container is a blob container of Azure.
type Container struct {
	// ID of one that others made; "" for one that core makes, with a storage account that has
	// nothing else.
	ID string
	// Account is the name of the storage account, unique in the world, 3 to 24 characters.
	Account string
	// Name of the container in it.
	Name string
	// ExpireDays is the age at which blobs of core's are deleted, in days; 0 keeps them.
	ExpireDays int
}

// IsMade says that core makes the container.
func (c *Container) IsMade() bool { return c != nil && c.ID == "" }

// FileSystem is an EFS file system with a mount target in each private subnet.
type FileSystem struct {
	// Name of the file system.
	Name string
	// Backup by AWS Backup, daily.
	Backup bool
	// KMSKeyARN encrypts the file system; "" takes the account's key for EFS.
	KMSKeyARN string
}
