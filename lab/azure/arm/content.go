package arm

import (
	"fmt"
	"regexp"
	"strings"

	"tombolo/lab/azure/apimodel"
	"tombolo/lab/standin"
)

// checkContent refuses values that the API does not have in the version that is used, in the
// words of the resource provider.
func (k Kind) checkContent(c *standin.Call) error {
	faults := apimodel.Faults(k.Token, c.In())
	if len(faults) == 0 {
		return nil
	}
	fault := faults[0]
	why := inOwnWords(k, fault)
	if fault.Code != "" {
		why.Code = fault.Code
	}
	return c.Refuse(why)
}

// inOwnWords is how a resource provider refuses a value, and at the end what is wrong, which
// some have in details that azure-native does not print. Sources: of networks
// https://github.com/Azure/azure-cli/issues/1619, of vaults
// https://github.com/Azure/azure-cli/issues/8840, of storage
// https://github.com/hashicorp/terraform-provider-azurerm/issues/8089, of disks
// https://github.com/MicrosoftDocs/OfficeDocs-Enterprise/pull/45, of AKS
// https://github.com/crossplane/crossplane/issues/304, of assignments
// https://github.com/Azure/azure-cli/issues/11594, and of all others, that is of Resource Manager,
// https://github.com/Azure/azure-powershell/issues/4309
func inOwnWords(k Kind, fault apimodel.Fault) standin.Refusal {
	namespace, _, _ := strings.Cut(k.ARM, "/")
	switch namespace {
	case "Microsoft.ContainerService":
		return standin.Refusal{Code: "InvalidParameter", Message: fmt.Sprintf(
			"The value of parameter %s is invalid. Error details: %s Please see https://aka.ms/aks-naming-rules for more details.", parameterOf(k, fault.Path), fault.Reason)}
	case "Microsoft.Network":
		return standin.Refusal{Code: "InvalidRequestFormat", Message: "Cannot parse the request. " + fault.Reason}
	case "Microsoft.KeyVault":
		return standin.Refusal{Code: "BadRequest", Message: "Bad JSON content found in the request. " + fault.Reason}
	case "Microsoft.Storage":
		name := fault.Path[strings.LastIndexByte(fault.Path, '.')+1:]
		return standin.Refusal{Code: "InvalidValuesForRequestParameters", Message: fmt.Sprintf(
			"Values for request parameters are invalid: %s. For more information, see - https://aka.ms/storageinvalidparameter", name)}
	case "Microsoft.Compute":
		return standin.Refusal{Code: "BadRequest", Message: fault.Reason}
	case "Microsoft.Authorization":
		return standin.Refusal{Code: "BadRequest", Message: fmt.Sprintf("The %s property '%s' is not valid. It must be %s", fault.Path, fault.Value, strings.Join(fault.Allowed, ", "))}
	}
	return standin.Refusal{Code: "InvalidRequestContent", Message: "The request content was invalid and could not be deserialized: '" + fault.Reason + "'."}
}

var profileIndex = regexp.MustCompile(`s\[\d+\]`)

// parameterOf is how AKS names a property: of pools without their number, and the same wherever
// they are.
func parameterOf(k Kind, path string) string {
	if strings.HasSuffix(k.ARM, "/agentPools") {
		path = "agentPoolProfile." + path
	}
	return profileIndex.ReplaceAllString(path, "")
}

// withModel holds inputs against the API's description, after what the type itself checks.
func withModel(token string, own func(standin.Props) []standin.Problem) func(standin.Props) []standin.Problem {
	return func(in standin.Props) []standin.Problem {
		if own != nil {
			if problems := own(in); len(problems) > 0 {
				return problems
			}
		}
		return apimodel.Check(token, in)
	}
}
