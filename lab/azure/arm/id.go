// Package arm is what all resource providers of the Azure stand-in have in common: the ids
// and checks of Azure Resource Manager, its locations, and how azure-native words errors.
package arm

import (
	"regexp"
	"strings"

	"tombolo/lab/standin"
)

// Same says that two texts are one id. Azure does not tell cases of letters apart:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
func Same(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// Filled puts inputs and the subscription into the parameters of a path.
func Filled(path, subscription string, in standin.Props) string {
	return parameter.ReplaceAllStringFunc(path, func(text string) string {
		name := strings.Trim(text, "{}")
		if name == "subscriptionId" {
			return subscription
		}
		return strings.Trim(in.Str(name), "/")
	})
}

// parameters of a path but the subscription, in order.
func parameters(path string) []string {
	var names []string
	for _, match := range parameter.FindAllStringSubmatch(path, -1) {
		if match[1] != "subscriptionId" {
			names = append(names, match[1])
		}
	}
	return names
}

// ByID is the resource of a type with an id, or nil. One that is being made or deleted
// exists.
func ByID(c *standin.Cloud, token, id string) *standin.Record {
	return c.Find(token, standin.Global, id)
}
