package approval

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestPlanKeyThatEverybodyKnows: Azure Pipelines leaves the name of a variable that it does
// not know where its value would be. That is no key: with it, whoever reads a plan could
// try out its secrets.
func TestPlanKeyThatEverybodyKnows(t *testing.T) {
	env := map[string]string{PlanKey: "$(TOMBOLO_PLAN_KEY)", "PULUMI_CONFIG_PASSPHRASE": "correct horse"}
	getenv := func(name string) string { return env[name] }
	_, err := Secret(getenv)
	assert.Error(t, err, "read the key of plans: TOMBOLO_PLAN_KEY is $(TOMBOLO_PLAN_KEY), which is a variable that the pipeline does not have; "+
		"add TOMBOLO_PLAN_KEY to the variable group tombolo-plan, or take it out of the step's env")
	env[PlanKey] = "a key"
	secret, err := Secret(getenv)
	assert.NilError(t, err)
	assert.Equal(t, secret, "a key")
}
