package postgresql

import (
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

// none says what a type is, as a constructor of the Go SDK does, and makes nothing.
func none[Made, Args any](_ *pulumi.Context, name string, _ *Args, _ ...pulumi.ResourceOption) (*Made, error) {
	return nil, fmt.Errorf("no program makes %s", name)
}
