package automation

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestPlanKeyThatEverybodyKnows: Azure Pipelines leaves the name of a variable that it does
// not know where its value would be. That is no key: with it, whoever reads a plan could
// try out its secrets.
func TestPlanKeyThatEverybodyKnows(t *testing.T) {
	d := &Driver{opts: Options{Env: map[string]string{PlanKey: "$(TOMBOLO_PLAN_KEY)", "PULUMI_CONFIG_PASSPHRASE": "correct horse"}}}
	_, err := d.planSecret()
	assert.Error(t, err, "read the key of plans: TOMBOLO_PLAN_KEY is $(TOMBOLO_PLAN_KEY), which is a variable that the pipeline does not have; "+
		"add TOMBOLO_PLAN_KEY to the variable group tombolo-plan, or take it out of the step's env")
	d.opts.Env[PlanKey] = "a key"
	secret, err := d.planSecret()
	assert.NilError(t, err)
	assert.Equal(t, secret, "a key")
}
