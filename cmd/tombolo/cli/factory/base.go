package factory

import (
	"io"

	"tombolo/cmd/tombolo/cli/streams"
	"tombolo/cmd/tombolo/render"
)

// Base is what most commands have of the factory. They embed it in their options, where a test
// may give it other values.
type Base struct {
	Streams *streams.Streams
	// Out is where results are written. Default: the data stream. A command whose
	// data is something else has them on the status stream.
	Out      io.Writer
	Status   func() render.Status
	Progress func() *render.Progress
	JSON     func() bool
	Table    func() render.TableOptions
	// Root is the project's directory.
	Root func() (string, error)
}

// Base returns that of the process.
func (f *Factory) Base() Base {
	return Base{
		Streams: f.Streams, Out: f.Streams.Out, Status: f.Status, Progress: f.Progress, JSON: f.JSON, Table: f.Table, Root: f.Root,
	}
}
