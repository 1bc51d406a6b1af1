package control

import "time"

// FaultKind is how a request to the cloud goes wrong.
type FaultKind string

// Fault makes requests go wrong.
type Fault struct {
	// ID of the fault; set by AddFault.
	ID int `json:"id"`
	// Kind of the fault.
	Kind FaultKind `json:"kind"`
	// Operation: create, read, update, delete, invoke or ask.
	Operation string `json:"operation"`
	// Type of the resources, such as aws:ec2/vpc:Vpc or the end of it, Vpc; for
	// invoke a function, for ask a question. "*" is any.
	Type string `json:"type"`
	// Count is how many requests go wrong still; 1 by default. A repetition by
	// the provider is a request of its own.
	Count int `json:"count"`
	// Delay of slow requests; 5s by default.
	Delay time.Duration `json:"delay,omitempty"`
}
