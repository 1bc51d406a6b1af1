//go:build lab

package automation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/tests/tier"
)

// expired is what Entra says of a token that has ended.
const expired = "AADSTS700024: Client assertion is not within its valid time range."

// TestDoctorInAzure: who the credentials are and what they lead to is told with tenant and
// subscription, and what is wrong with what to do about it. Nobody is asked for anything.
func TestDoctorInAzure(t *testing.T) {
	tier.Short(t, "doctor tells whose credentials Azure takes, and what is wrong with them")
	t.Parallel()
	const (
		tenant, subscription = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-000000000001"
		otherTenant, other   = "00000000-0000-4000-8000-0000000000ff", "00000000-0000-4000-8000-0000000000ee"
		object               = "object 00000000-0000-4000-8000-0000000000c2"
		token                = "azure-native:authorization:getClientToken"
	)
	for _, test := range []struct {
		name    string
		change  func(*config.Cluster)
		refuse  error
		account string
	}{
		{"as they should be", nil, nil, "ok: " + object + " of tenant " + tenant + ", in subscription " + subscription},
		{"another tenant", func(c *config.Cluster) { c.Cloud.Tenant = otherTenant }, nil, "fail: the credentials are of tenant " + tenant + " (" + object + "), and the cluster is for " + otherTenant +
			" -> use credentials of tenant " + otherTenant + ", or correct cloud.tenant"},
		{"another subscription", func(c *config.Cluster) { c.Cloud.Account = other }, nil, "fail: " + object + " of tenant " + tenant + " cannot use subscription " + other +
			": it does not see it: get /subscriptions/" + other + ": SubscriptionNotFound: The subscription '" + other + "' could not be found." +
			" -> give the identity a role on the subscription, use credentials that have one, or correct cloud.account"},
		{"an expired token", nil, errors.New(expired), "fail: Azure does not accept the credentials for subscription " +
			subscription + " of tenant " + tenant + ": " + expired +
			" -> have the token of workload identity in a file that is renewed, by ARM_OIDC_TOKEN_FILE_PATH, or get a new one: it ends within minutes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := azureFile(t, "azure-network")
			b := newAzureBench(t, c)
			if test.change != nil {
				test.change(c)
			}
			if test.refuse != nil {
				b.refuse = map[string]error{token: test.refuse}
			}
			reports, err := b.Doctor(t.Context(), []*config.Cluster{c})
			assert.NilError(t, err)
			i := slices.IndexFunc(reports[0].Findings, func(f preflight.Finding) bool { return f.Check == "account" })
			f := reports[0].Findings[i]
			said := strings.TrimSuffix(string(f.Level)+": "+f.Message+" -> "+f.Remedy, " -> ")
			assert.Check(t, is.Equal(said, test.account))
			judged := slices.ContainsFunc(reports[0].Findings, func(f preflight.Finding) bool { return f.Check == "rights" && f.Level == preflight.OK })
			assert.Check(t, is.Equal(judged, f.Level == preflight.OK), "%v", reports[0].Findings)
		})
	}
}
