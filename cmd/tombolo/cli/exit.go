package cli

import (
	"context"
	"errors"

	"tombolo/automation/approved"
	"tombolo/automation/backend"
	driverfault "tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/automation/pulumicli"
	"tombolo/automation/teardown"
	"tombolo/automation/upgrade"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config/strict"
	"tombolo/lab/control"
)

// exitClass is a class of outcomes with an exit code of its own.
type exitClass struct {
	code int
	// name of the class in the JSON format.
	name string
	// meaning and remedy are for the reference.
	meaning, remedy string
	// matches recognises the class's errors.
	matches func(error) bool
}

// exitClasses are all classes. The first whose errors match decides: a
// deployment that was interrupted is an interruption, not a failure.
func exitClasses() []exitClass {
	return []exitClass{
		{
			code: 130, name: "interrupted",
			meaning: "Interrupted by Ctrl-C or SIGTERM, or declined at the prompt",
			remedy:  "Run the command again; it first recovers the interrupted operations",
			matches: func(err error) bool { return errors.Is(err, context.Canceled) || fault.Is(err, fault.Declined) },
		},
		{
			code: 2, name: "usage",
			meaning: "The command line is wrong; nothing was started",
			remedy:  "See `tombolo <command> --help`",
			matches: func(err error) bool { return fault.Is(err, fault.Usage) || isDriverFault(err, driverfault.Usage) },
		},
		{
			code: 3, name: "invalid",
			meaning: "A cluster file is invalid; nothing was started",
			remedy:  "Correct every problem listed; `tombolo validate` checks again",
			matches: isA[strict.Problems],
		},
		{
			code: 7, name: "locked",
			meaning: "Another operation holds the lock of the stack",
			remedy:  "Wait for the owner that the message names",
			matches: isA[*backend.LockedError],
		},
		{
			code: 6, name: "verification",
			meaning: "Everything was deployed, but not everything became ready in time",
			remedy:  "Look at the first cause that the message names",
			matches: func(err error) bool {
				return isA[*health.Error](err) || isA[*upgrade.GateError](err) || fault.Is(err, fault.Verification)
			},
		},
		{
			code: 8, name: "contract",
			meaning: "The platform tree does not fit the clusters that follow it, or its branches have diverged; nothing was started",
			remedy:  "Do what the message says, or correct every error listed; `tombolo check` checks again",
			matches: func(err error) bool { return fault.Is(err, fault.Contract) },
		},
		{
			code: 9, name: "drift",
			meaning: "The comparison succeeded, and something differs from the stacks",
			remedy:  "Restore it with `tombolo up <cluster> --refresh`, or change the cluster file",
			matches: func(err error) bool { return fault.Is(err, fault.Drift) },
		},
		{
			code: 10, name: "leftovers",
			meaning: "destroy found cloud resources that no controller deletes",
			remedy:  "Delete what is not needed, or run the command again with --leftovers delete",
			matches: isA[*teardown.LeftoversError],
		},
		{
			code: 11, name: "changes",
			meaning: "A preview with --exit-code found changes, none of them dangerous",
			remedy:  "Nothing; without changes the code is 0",
			matches: func(err error) bool { return fault.Is(err, fault.Changes) },
		},
		{
			code: 12, name: "dangerous",
			meaning: "A preview with --exit-code found dangerous changes",
			remedy:  "Read the marked changes before you apply them",
			matches: func(err error) bool { return fault.Is(err, fault.Dangerous) },
		},
		{
			code: 13, name: "policy",
			meaning: "The policy denies the change, or requires a second approval",
			remedy:  "Change what the message names, or run again with --approvals when people have approved",
			matches: func(err error) bool { return fault.Is(err, fault.Policy) },
		},
		{
			code: 14, name: "unapproved",
			meaning: "An up with --plan would do something else than the plan says; nothing was changed but what the message names",
			remedy:  "Make a plan with `tombolo preview --plan`, and have it approved",
			matches: isA[*approved.Error],
		},
		{
			code: 15, name: "window",
			meaning: "A cluster is outside of its change windows, and was not changed",
			remedy:  "Wait until the window opens, as the message says, or say why it cannot wait with --outside-window",
			matches: func(err error) bool { return fault.Is(err, fault.Window) },
		},
		{
			code: 4, name: "precondition",
			meaning: "Something must be set up first: a tool, the lab, the account, core",
			remedy:  "Do what the message says",
			matches: func(err error) bool {
				return isDriverFault(err, driverfault.Precondition) || fault.Is(err, fault.Precondition) || errors.Is(err, control.ErrNotRunning) || errors.Is(err, control.ErrHangs)
			},
		},
		{
			code: 5, name: "deployment",
			meaning: "A deployment failed after it had started",
			remedy:  "Resolve the cause and run the command again; it continues where it stopped",
			matches: func(err error) bool {
				return isDriverFault(err, driverfault.Deployment) || isA[*pulumicli.Error](err)
			},
		},
	}
}

// unexpected is the class of all other errors.
func unexpected() exitClass {
	return exitClass{
		code: 1, name: "unexpected",
		meaning: "An error of no other class",
		remedy:  "Read the message; if it is a defect of tombolo, report it",
	}
}

// classify returns the class of an error.
func classify(err error) exitClass {
	for _, class := range exitClasses() {
		if class.matches(err) {
			return class
		}
	}
	return unexpected()
}

func isDriverFault(err error, class driverfault.Class) bool {
	var f *driverfault.Error
	return errors.As(err, &f) && f.Class == class
}

func isA[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}
