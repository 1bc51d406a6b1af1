package automation_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tombolo/automation"
	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/cloud"
	"tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/config"
	"tombolo/stacks/catalog"
)

// programs and clouds are programs.All() of stacks/programs and clouds.All() of
// automation/clouds, in a program of your own. These two take the SDKs of all providers along, so
// that the examples do without.
var (
	programs catalog.Programs
	clouds   cloud.Set
)

// A driver needs the project's directory, the programs of the stacks, and the clouds.
func ExampleNew() {
	_, err := automation.New(automation.Options{})
	fmt.Println(err)

	_, err = automation.New(automation.Options{Root: "."})
	fmt.Println(err)
	// Output:
	// automation: Options.Root is empty: set it to the directory of Pulumi.yaml
	// automation: Options.Programs or Options.Clouds is empty: set them to programs.All() and clouds.All()
}

// The options tell which state a driver would work on, before it starts anything. Passwords are
// left out.
func ExampleOptions_Backend() {
	o := automation.Options{Root: ".", BackendURL: "postgres://ada:secret@db.example.com/states"}
	where, err := o.Backend()
	fmt.Println(where, err)
	// Output: postgres://ada@db.example.com/states <nil>
}

// Up makes a cluster, or changes it to what its file says, and Verify waits until everything that
// Git declares is ready.
func ExampleDriver_Up() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel() // nothing more is started, calls under way may finish, and the lock is released

	driver, err := automation.New(automation.Options{Root: "/srv/platform", Programs: programs, Clouds: clouds})
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster, err := config.Load("/srv/platform/clusters/demo.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := driver.Up(ctx, cluster, automation.UpOptions{Plan: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range result.Stacks {
		fmt.Println(s.Stack, s.Changes, s.Duration)
	}
	if _, err := driver.Verify(ctx, cluster, health.Options{Timeout: 10 * time.Minute}); err != nil {
		fmt.Println(err)
	}
}

// Preview shows what an Up would do. With Plan, the result has what people approve, and an Up with
// it does that and nothing else.
func ExampleDriver_Preview() {
	ctx := context.Background()
	driver, err := automation.New(automation.Options{Root: "/srv/platform", Programs: programs, Clouds: clouds})
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster, err := config.Load("/srv/platform/clusters/demo.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	preview, err := driver.Preview(ctx, cluster, automation.PreviewOptions{Refresh: true, Plan: true, WithoutSecrets: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = driver.Up(ctx, cluster, automation.UpOptions{Approved: preview.Plan})
	if differs := new(approved.Error); errors.As(err, &differs) {
		fmt.Println("something has changed since the preview:", differs)
	}
}

// Errors tell whether something was started.
func ExampleDriver_errors() {
	explain := func(err error) string {
		var nothing *fault.Error
		var locked *backend.LockedError
		switch {
		case err == nil:
			return "done"
		case errors.As(err, &locked):
			return "another operation works on the stack"
		case errors.As(err, &nothing):
			return "nothing was started: " + nothing.What
		}
		return "run it again: it goes on where it stopped"
	}
	fmt.Println(explain(&fault.Error{What: "the Pulumi CLI is not in PATH", Remedy: "install it"}))
	fmt.Println(explain(errors.New("up of demo-core failed")))
	// Output:
	// nothing was started: the Pulumi CLI is not in PATH
	// run it again: it goes on where it stopped
}
