package control

import "time"

// Status is what the lab consists of now.
type Status struct {
	// Running says that the daemon answers.
	Running bool `json:"running"`
	// PID of the daemon; 0 when it is not running.
	PID int `json:"pid,omitempty"`
	// Since is when the daemon was started.
	Since time.Time `json:"since,omitzero"`
	// Profile of the lab; empty when it is not running.
	Profile Profile `json:"profile,omitempty"`
	// Endpoints that the lab serves.
	Endpoints []Endpoint `json:"endpoints"`
	// Processes that the daemon supervises, by name.
	Processes []Process `json:"processes"`
	// Inventory is what exists in the cloud's stand-in; what it has on disk,
	// when the daemon is not running.
	Inventory []Item `json:"inventory"`
	// Notes are things to know, such as why the Git repository was not updated.
	Notes []string `json:"notes,omitempty"`
}

// Endpoint is something the lab serves.
type Endpoint struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Process is a supervised process.
type Process struct {
	Name string `json:"name"`
	// PID is 0 when it does not run.
	PID int `json:"pid,omitempty"`
	// State is starting, running, restarting, failed or stopped.
	State string `json:"state"`
	// Since is when it entered State.
	Since time.Time `json:"since"`
	// Restarts since the daemon started it first.
	Restarts int `json:"restarts"`
	// Detail says why it is not running, or why it last ended.
	Detail string `json:"detail,omitempty"`
}

// Item is a resource that exists in the account.
type Item struct {
	// Type is Pulumi's type token, such as aws:ec2/vpc:Vpc.
	Type string `json:"type"`
	// ID of the resource, as Pulumi has it.
	ID string `json:"id"`
	// Name is the resource's own name, or its Name tag, or empty.
	Name string `json:"name"`
	// Region of the resource, or the location that it has where regions do not part the
	// account; "global" where it belongs to none.
	Region string `json:"region"`
	// Created is when the resource was made.
	Created time.Time `json:"created"`
}
