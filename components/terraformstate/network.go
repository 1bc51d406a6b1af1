package terraformstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Network is what a state has of a network that a cluster may be made in: a VPC of AWS, or a subnet of Azure.
type Network struct {
	// VPC is its id; "" in Azure. Region and Account are where it is, by its ARN or by the virtual network; "" where the state
	// does not say so.
	VPC, Region, Account string
	// PrivateSubnets have a default route to anything but an internet gateway, PublicSubnets to one, and Isolated ones have
	// none. Tags that say what load balancers a subnet is for decide before the routes.
	// Source: https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
	PrivateSubnets, PublicSubnets, Isolated []string
	// NodeSubnet is the id of the subnet in Azure. HasNATGateway and HasRoutes say what the state gives it.
	NodeSubnet               string
	HasNATGateway, HasRoutes bool
}

// resource of a state: its addresses and attributes are by the providers' names.
type resource struct {
	Mode, Type, Name, Module string
	Instances                []struct {
		Attributes json.RawMessage
	}
}

// Network reads the network of the state at an address. of is the id of the VPC or of the subnet in Azure; "" where the state
// has one; a *ChoiceError says which there are. It only reads, and decodes nothing but networks: states hold secrets.
func (r Reader) Network(ctx context.Context, address, of string) (Network, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	text, err := r.read(ctx, address)
	if err != nil {
		return Network{}, err
	}
	if _, err := Parse(text); err != nil {
		return Network{}, err
	}
	var state struct{ Resources []resource }
	if json.Unmarshal(text, &state) != nil {
		return Network{}, errors.New("its resources are not of the format's version 4")
	}
	resources := slices.DeleteFunc(state.Resources, func(r resource) bool { return r.Mode != "managed" })
	vpcs := decode[vpc](resources, "aws_vpc")
	if len(vpcs) > 0 {
		return inAWS(resources, vpcs, of)
	}
	return inAzure(resources, of)
}

// decode are the instances of all resources of a type. One whose attributes have another form is left out.
func decode[T any](resources []resource, kind string) (out []T) {
	for _, r := range resources {
		if r.Type != kind {
			continue
		}
		for _, i := range r.Instances {
			var one T
			if json.Unmarshal(i.Attributes, &one) == nil {
				out = append(out, one)
			}
		}
	}
	return out
}

// ChoiceError says that of several networks none is named, or one that is not there.
type ChoiceError struct {
	// Of is the id that was asked for, and What its kind.
	Of, What string
	// IDs are those that there are.
	IDs []string
}

// Error names the networks that there are.
func (e *ChoiceError) Error() string {
	if e.Of == "" {
		return fmt.Sprintf("it has several of the kind %s: %s", e.What, strings.Join(e.IDs, ", "))
	}
	return fmt.Sprintf("it has no %s %s; it has %s", e.What, e.Of, strings.Join(e.IDs, ", "))
}

// Choices are the ids of the networks that may be named.
func (e *ChoiceError) Choices() []string { return e.IDs }

// choose is the one item of that id, or the only one.
func choose[T any](items []T, id func(T) string, of, what string) (chosen T, err error) {
	var ids []string
	for _, item := range items {
		if id(item) == of || of == "" && len(items) == 1 {
			return item, nil
		}
		ids = append(ids, id(item))
	}
	if len(ids) == 0 {
		return chosen, fmt.Errorf("it has no %s", what)
	}
	return chosen, &ChoiceError{Of: of, What: what, IDs: ids}
}

// The attributes of the AWS provider. Source: the schemas in internal/service/ec2 of hashicorp/terraform-provider-aws.
type (
	vpc struct {
		ID  string `json:"id"`
		ARN string `json:"arn"`
	}
	subnet struct {
		ID   string            `json:"id"`
		VPC  string            `json:"vpc_id"`
		Tags map[string]string `json:"tags_all"`
	}
	association struct {
		Subnet string `json:"subnet_id"`
		Table  string `json:"route_table_id"`
	}
	route struct {
		Table   string `json:"route_table_id"`
		CIDR    string `json:"destination_cidr_block"`
		Gateway string `json:"gateway_id"`
	}
	table struct {
		ID     string `json:"id"`
		Routes []struct {
			CIDR    string `json:"cidr_block"`
			Gateway string `json:"gateway_id"`
		} `json:"route"`
	}
)

func inAWS(resources []resource, vpcs []vpc, of string) (Network, error) {
	chosen, err := choose(vpcs, func(v vpc) string { return v.ID }, of, "VPC")
	if err != nil {
		return Network{}, err
	}
	n := Network{VPC: chosen.ID}
	if arn := strings.Split(chosen.ARN, ":"); len(arn) == 6 {
		n.Region, n.Account = arn[3], arn[4]
	}
	gateways := defaultGateways(resources)
	for _, s := range decode[subnet](resources, "aws_subnet") {
		gateway, routed := gateways[s.ID]
		_, public := s.Tags["kubernetes.io/role/elb"]
		_, private := s.Tags["kubernetes.io/role/internal-elb"]
		switch {
		case s.VPC != n.VPC:
		case public, !private && routed && strings.HasPrefix(gateway, "igw-"):
			n.PublicSubnets = append(n.PublicSubnets, s.ID)
		case private, routed:
			n.PrivateSubnets = append(n.PrivateSubnets, s.ID)
		default:
			n.Isolated = append(n.Isolated, s.ID)
		}
	}
	return n, nil
}

// defaultGateways are the internet gateways of subnets' default routes; "" for another way out, and none without a default
// route.
func defaultGateways(resources []resource) map[string]string {
	const everything = "0.0.0.0/0"
	ofTable, ofSubnet := map[string]string{}, map[string]string{}
	for _, t := range decode[table](resources, "aws_route_table") {
		for _, r := range t.Routes {
			if r.CIDR == everything {
				ofTable[t.ID] = r.Gateway
			}
		}
	}
	for _, r := range decode[route](resources, "aws_route") {
		if r.CIDR == everything {
			ofTable[r.Table] = r.Gateway
		}
	}
	for _, a := range decode[association](resources, "aws_route_table_association") {
		if gateway, ok := ofTable[a.Table]; ok {
			ofSubnet[a.Subnet] = gateway
		}
	}
	return ofSubnet
}

// The attributes of azurerm. Source: internal/services/network of hashicorp/terraform-provider-azurerm.
type (
	azureNetwork struct {
		ID       string `json:"id"`
		Location string `json:"location"`
	}
	azureSubnet struct {
		ID         string            `json:"id"`
		Name       string            `json:"name"`
		Delegation []json.RawMessage `json:"delegation"`
	}
	azureAssociation struct {
		Subnet string `json:"subnet_id"`
	}
)

// inAzure leaves out subnets that no nodes may be in: those delegated to a service, and those that Azure names for one.
// Source: https://learn.microsoft.com/azure/virtual-network/virtual-network-for-azure-services
func inAzure(resources []resource, of string) (Network, error) {
	subnets := slices.DeleteFunc(decode[azureSubnet](resources, "azurerm_subnet"), func(s azureSubnet) bool {
		return len(s.Delegation) > 0 || s.Name == "GatewaySubnet" || s.Name == "RouteServerSubnet" || strings.HasPrefix(s.Name, "AzureFirewall") || strings.HasPrefix(s.Name, "AzureBastion")
	})
	chosen, err := choose(subnets, func(s azureSubnet) string { return s.ID }, of, "VPC of AWS or subnet of Azure")
	if err != nil {
		return Network{}, err
	}
	has := func(kind string) bool {
		return slices.ContainsFunc(decode[azureAssociation](resources, kind), func(a azureAssociation) bool { return strings.EqualFold(a.Subnet, chosen.ID) })
	}
	n := Network{NodeSubnet: chosen.ID, HasNATGateway: has("azurerm_subnet_nat_gateway_association"), HasRoutes: has("azurerm_subnet_route_table_association")}
	if parts := strings.Split(chosen.ID, "/"); len(parts) > 2 {
		n.Account = parts[2] // /subscriptions/<id>/…
	}
	for _, network := range decode[azureNetwork](resources, "azurerm_virtual_network") {
		if strings.HasPrefix(chosen.ID, network.ID+"/") {
			n.Region = network.Location
		}
	}
	return n, nil
}
