package approval

import (
	"fmt"
	"os"
	"strings"

	"tombolo/automation/fault"
)

// PlanKey is the variable with the secret by which digests in plans are keyed. Without
// it, the passphrase of the states is taken.
const PlanKey = "TOMBOLO_PLAN_KEY"

// Secret is that secret; "" where none is known, as with a key service. Azure Pipelines
// writes $(NAME) in the place of a variable that is not there, which everybody knows. Source:
// learn.microsoft.com/azure/devops/pipelines/process/variables, "Runtime parsing of variables".
func Secret(getenv func(string) string) (string, error) {
	if key := getenv(PlanKey); key == "$("+PlanKey+")" {
		return "", &fault.Error{
			What:   fmt.Sprintf("read the key of plans: %s is %s, which is a variable that the pipeline does not have", PlanKey, key),
			Remedy: fmt.Sprintf("add %s to the variable group tombolo-plan, or take it out of the step's env", PlanKey),
		}
	}
	for _, name := range []string{PlanKey, "PULUMI_CONFIG_PASSPHRASE"} {
		if secret := getenv(name); secret != "" {
			return secret, nil
		}
	}
	name := getenv("PULUMI_CONFIG_PASSPHRASE_FILE")
	if name == "" {
		return "", nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", &fault.Error{What: fmt.Sprintf("read the passphrase by which plans are keyed: %v", err), Remedy: "correct PULUMI_CONFIG_PASSPHRASE_FILE, or set " + PlanKey, Err: err}
	}
	return strings.TrimSpace(string(text)), nil
}
