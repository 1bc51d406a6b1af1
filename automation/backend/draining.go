package backend

import (
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// drainingOutput is an output of a bootstrap stack whose cluster is being
// emptied. The next up finds it where it looks anyway, and writes it no more.
const drainingOutput = "tomboloDraining"

// Draining says that the cluster of a bootstrap is being emptied.
func (s *State) Draining() bool {
	is, _ := s.Outputs()[drainingOutput].(bool)
	return is
}

// WithDraining is the state with the output that says so.
func WithDraining(raw apitype.UntypedDeployment) (apitype.UntypedDeployment, error) {
	return WithOutput(raw, func(outputs map[string]json.RawMessage) { outputs[drainingOutput] = json.RawMessage("true") })
}
