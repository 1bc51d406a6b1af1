package automation

import (
	"tombolo/automation/addons"
	"tombolo/automation/approval"
	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/handover"
	"tombolo/automation/hubs"
	"tombolo/automation/lastup"
	"tombolo/automation/operation"
	"tombolo/automation/preview"
	"tombolo/automation/reach"
	"tombolo/automation/rebuild"
)

// This file puts together the packages below, each of which has one subject and declares what it needs.

func (d *Driver) runner() *operation.Runner {
	return &operation.Runner{
		Backend: d.backend, CLI: d.pulumi, Program: d.deps.program, Cloud: d.deps.cloud,
		Observer: d.opts.Observer, Trace: d.opts.Trace, Env: d.opts.Env, BackendURL: d.opts.BackendURL,
		Now: d.deps.now, Pauses: d.deps.pauses,
	}
}

func (d *Driver) connector() connect.Connector {
	return connect.Connector{
		Backend: d.backend, CLI: d.pulumi, Programs: d.opts.Programs, Env: d.opts.Env,
		Dial: d.deps.dial, ProbeTimeout: d.deps.probeTimeout,
	}
}

func (d *Driver) hubs() hubs.Hubs {
	return hubs.Hubs{
		Backend: d.backend, Runner: d.runner(), Connector: d.connector(), DialHub: d.deps.dialHub, LoadHub: d.deps.loadHub,
	}
}

func (d *Driver) addons() addons.Addons {
	return addons.Addons{Hubs: d.hubs(), Note: d.opts.Observer.Note}
}

func (d *Driver) reach() reach.Check {
	return reach.Check{Getenv: d.opts.lookupEnv, Note: d.opts.Observer.Note, Assumed: d.assumesReach}
}

func (d *Driver) previewer() preview.Previewer {
	return preview.Previewer{Backend: d.backend, Runner: d.runner(), Connector: d.connector(), Hubs: d.hubs()}
}

func (d *Driver) approver() approval.Approver {
	return approval.Approver{
		Backend: d.backend, Connector: d.connector(), Hubs: d.hubs(), Previewer: d.previewer(),
		Getenv: d.opts.lookupEnv, Note: d.opts.Observer.Note,
	}
}

func (d *Driver) records() lastup.Records {
	return lastup.Records{
		Backend: d.backend, Connector: d.connector(), Program: d.opts.Program,
		Identity: backend.Identity(d.opts.BackendURL, d.opts.base()), Settings: d.opts.Settings, LoadHub: d.deps.loadHub,
		Key: d.deps.secretsKey, Note: d.opts.Observer.Note, Now: d.deps.now, Who: func() string { return Who(d.opts.lookupEnv) },
	}
}

func (d *Driver) handover() handover.Handover {
	return handover.Handover{Connector: d.connector(), Pushing: &d.pushing}
}

func (d *Driver) rebuildProgress() rebuild.Progress { return rebuild.Progress{Runner: d.runner()} }
