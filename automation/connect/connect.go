// Package connect reads what the stacks of a cluster put out and the secrets that its file names,
// and connects to the cluster's Kubernetes API.
package connect

import (
	"errors"
	"time"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/automation/pulumicli"
	"tombolo/stacks/catalog"
	"tombolo/stacks/handoff"
)

// Connector connects to clusters. All fields but Env are required.
type Connector struct {
	// Backend has the states, and CLI decrypts what is secret in them.
	Backend *backend.Backend
	CLI     *pulumicli.CLI
	// Programs read the secrets that cluster files name, in Env.
	Programs catalog.Programs
	Env      map[string]string
	// Dial makes clients for a cluster by what its core hands off.
	Dial func(handoff.Values) (kube.Cluster, error)
	// ProbeTimeout is how long a Kubernetes API may take to answer.
	ProbeTimeout time.Duration
}

// Dial makes clients for a cluster; env is added to the environment of its kubeconfig's exec plugin.
func Dial(values handoff.Values, env map[string]string) (kube.Cluster, error) {
	k, err := kube.Connect(values, env)
	if missing := new(handoff.MissingPluginError); errors.As(err, &missing) {
		err = &fault.Error{What: missing.Error(), Err: missing}
	}
	return k, err
}
