package component

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// Largest message of the provider protocol, in bytes; Pulumi's own limit.
const Largest = 400 << 20

// Server passes the calls of each connection, which is an engine's, on to a process of its own.
func (p *Pool) Server() *grpc.Server {
	return grpc.NewServer(grpc.ForceServerCodec(asItIs{}), grpc.UnknownServiceHandler(pass), grpc.StatsHandler(engines{p}),
		grpc.MaxRecvMsgSize(Largest), grpc.MaxSendMsgSize(Largest))
}

// engine is a connection, and the process that answers it.
type engine struct {
	pool *Pool

	mu    sync.Mutex
	uses  *plugin
	calls int // under way
	// spoiled says that something may be left of it in the process.
	spoiled bool
}

// begin is the process for a call.
func (e *engine) begin(ctx context.Context) (*plugin, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.uses == nil {
		taken, err := e.pool.take(ctx)
		if err != nil {
			return nil, err
		}
		e.uses = taken
	}
	e.calls++
	return e.uses, nil
}

// done ends a call. What the component does not know is no failure.
func (e *engine) done(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls--
	e.spoiled = e.spoiled || err != nil && status.Code(err) != codes.Unimplemented
}

// leave gives the process back, or ends it: what a call that failed, or was given up, left
// undone would come to its end in a call of the next engine.
func (e *engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.uses == nil:
	case e.spoiled || e.calls > 0:
		go e.pool.end(e.uses)
	default:
		e.pool.give(e.uses)
	}
	e.uses = nil
}

// pass passes a call on, whatever it is.
func pass(_ any, in grpc.ServerStream) (err error) {
	e, _ := in.Context().Value(ofEngine{}).(*engine)
	method, known := grpc.MethodFromServerStream(in)
	if e == nil || !known {
		return status.Error(codes.Internal, "a call of no connection")
	}
	to, err := e.begin(in.Context())
	if err != nil {
		e.pool.Log.Error("the component does not start", "error", err)
		return status.Error(codes.Unavailable, err.Error())
	}
	defer func() { e.done(err) }()
	return exchange(in, to.conn, method)
}

// exchange sends one message, and brings back all that come.
func exchange(in grpc.ServerStream, to *grpc.ClientConn, method string) error {
	var message []byte
	if err := in.RecvMsg(&message); err != nil {
		return err
	}
	out, err := to.NewStream(in.Context(), &grpc.StreamDesc{ServerStreams: true}, method, grpc.ForceCodec(asItIs{}),
		grpc.MaxCallRecvMsgSize(Largest), grpc.MaxCallSendMsgSize(Largest))
	if err == nil {
		err = out.SendMsg(&message)
	}
	if err == nil {
		err = out.CloseSend()
	}
	for err == nil {
		if err = out.RecvMsg(&message); err == nil {
			err = in.SendMsg(&message)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// ofEngine is the key of a connection's engine in contexts.
type ofEngine struct{}

// engines sees connections come and go.
type engines struct{ pool *Pool }

// TagConn gives a connection its engine.
func (e engines) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, ofEngine{}, &engine{pool: e.pool})
}

// HandleConn ends it.
func (engines) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ended := s.(*stats.ConnEnd); !ended {
		return
	}
	if e, _ := ctx.Value(ofEngine{}).(*engine); e != nil {
		e.leave()
	}
}

// TagRPC and HandleRPC are for calls, which pass sees.
func (engines) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC does nothing.
func (engines) HandleRPC(context.Context, stats.RPCStats) {}

// asItIs leaves messages as they are.
type asItIs struct{}

// Name is that of the messages' own encoding.
func (asItIs) Name() string { return "proto" }

// Marshal gives a message's bytes.
func (asItIs) Marshal(v any) ([]byte, error) {
	text, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("encode a message: it is a %T", v)
	}
	return *text, nil
}

// Unmarshal takes a message's bytes.
func (asItIs) Unmarshal(data []byte, v any) error {
	text, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("decode a message: it is for a %T", v)
	}
	*text = append([]byte(nil), data...)
	return nil
}
