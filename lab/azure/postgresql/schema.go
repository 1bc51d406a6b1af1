package postgresql

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// What the types take and answer. Pulumi's SDK of the resource provider is not linked for it: no stack
// makes one, and Azure Service Operator writes to the API. Source: 2024-08-01 of
// https://github.com/Azure/azure-rest-api-specs, as v2/api/dbforpostgresql/v1api20240801/arm of
// https://github.com/Azure/azure-service-operator has it.

type server struct {
	pulumi.CustomResourceState

	Location                 pulumi.StringOutput    `pulumi:"location"`
	Name                     pulumi.StringOutput    `pulumi:"name"`
	Type                     pulumi.StringOutput    `pulumi:"type"`
	Tags                     pulumi.StringMapOutput `pulumi:"tags"`
	AdministratorLogin       pulumi.StringOutput    `pulumi:"administratorLogin"`
	AuthConfig               pulumi.MapOutput       `pulumi:"authConfig"`
	AvailabilityZone         pulumi.StringOutput    `pulumi:"availabilityZone"`
	Backup                   pulumi.MapOutput       `pulumi:"backup"`
	FullyQualifiedDomainName pulumi.StringOutput    `pulumi:"fullyQualifiedDomainName"`
	HighAvailability         pulumi.MapOutput       `pulumi:"highAvailability"`
	MaintenanceWindow        pulumi.MapOutput       `pulumi:"maintenanceWindow"`
	Network                  pulumi.MapOutput       `pulumi:"network"`
	Sku                      pulumi.MapOutput       `pulumi:"sku"`
	State                    pulumi.StringOutput    `pulumi:"state"`
	Storage                  pulumi.MapOutput       `pulumi:"storage"`
	Version                  pulumi.StringOutput    `pulumi:"version"`
}

// serverArgs are its inputs; the password is among them, and not among what Azure answers.
type serverArgs struct {
	ResourceGroupName          string            `pulumi:"resourceGroupName"`
	ServerName                 *string           `pulumi:"serverName"`
	Location                   *string           `pulumi:"location"`
	Tags                       map[string]string `pulumi:"tags"`
	AdministratorLogin         *string           `pulumi:"administratorLogin"`
	AdministratorLoginPassword *string           `pulumi:"administratorLoginPassword"`
	AuthConfig                 map[string]any    `pulumi:"authConfig"`
	AvailabilityZone           *string           `pulumi:"availabilityZone"`
	Backup                     map[string]any    `pulumi:"backup"`
	CreateMode                 *string           `pulumi:"createMode"`
	HighAvailability           map[string]any    `pulumi:"highAvailability"`
	MaintenanceWindow          map[string]any    `pulumi:"maintenanceWindow"`
	Network                    map[string]any    `pulumi:"network"`
	Sku                        map[string]any    `pulumi:"sku"`
	Storage                    map[string]any    `pulumi:"storage"`
	Version                    *string           `pulumi:"version"`
}

type database struct {
	pulumi.CustomResourceState

	Name      pulumi.StringOutput `pulumi:"name"`
	Type      pulumi.StringOutput `pulumi:"type"`
	Charset   pulumi.StringOutput `pulumi:"charset"`
	Collation pulumi.StringOutput `pulumi:"collation"`
}

type databaseArgs struct {
	ResourceGroupName string  `pulumi:"resourceGroupName"`
	ServerName        string  `pulumi:"serverName"`
	DatabaseName      *string `pulumi:"databaseName"`
	Charset           *string `pulumi:"charset"`
	Collation         *string `pulumi:"collation"`
}

type firewallRule struct {
	pulumi.CustomResourceState

	Name           pulumi.StringOutput `pulumi:"name"`
	Type           pulumi.StringOutput `pulumi:"type"`
	StartIPAddress pulumi.StringOutput `pulumi:"startIpAddress"`
	EndIPAddress   pulumi.StringOutput `pulumi:"endIpAddress"`
}

type firewallRuleArgs struct {
	ResourceGroupName string  `pulumi:"resourceGroupName"`
	ServerName        string  `pulumi:"serverName"`
	FirewallRuleName  *string `pulumi:"firewallRuleName"`
	StartIPAddress    *string `pulumi:"startIpAddress"`
	EndIPAddress      *string `pulumi:"endIpAddress"`
}

func (serverArgs) ElementType() reflect.Type       { return reflect.TypeFor[serverArgs]() }
func (databaseArgs) ElementType() reflect.Type     { return reflect.TypeFor[databaseArgs]() }
func (firewallRuleArgs) ElementType() reflect.Type { return reflect.TypeFor[firewallRuleArgs]() }

var errNoProgram = errors.New("no program makes it")

// The constructors say what the types are, and make nothing.
func newServer(_ *pulumi.Context, name string, _ *serverArgs, _ ...pulumi.ResourceOption) (*server, error) {
	return nil, fmt.Errorf("server %s: %w", name, errNoProgram)
}

func newDatabase(_ *pulumi.Context, name string, _ *databaseArgs, _ ...pulumi.ResourceOption) (*database, error) {
	return nil, fmt.Errorf("database %s: %w", name, errNoProgram)
}

func newFirewallRule(_ *pulumi.Context, name string, _ *firewallRuleArgs, _ ...pulumi.ResourceOption) (*firewallRule, error) {
	return nil, fmt.Errorf("firewall rule %s: %w", name, errNoProgram)
}
