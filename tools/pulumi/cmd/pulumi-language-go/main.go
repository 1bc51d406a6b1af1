// Command pulumi-language-go runs a Go program for `pulumi up`, in the lab,
// where Pulumi's own Go language host cannot be had. It does that one thing: it
// builds the program as the project's runtime options say, runs it with what the
// engine asked for, and reports how it ended.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// maxMessage is the largest message of the engine's protocol, as in the SDK.
const maxMessage = 400 << 20

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-language-go:", err)
		os.Exit(1)
	}
}

// serve prints the port it listens on, as the engine expects, and serves until
// the engine ends the process. The last argument is the engine's address.
func serve(args []string) error {
	flags := flag.NewFlagSet("pulumi-language-go", flag.ContinueOnError)
	flags.String("tracing", "", "accepted as every plugin does; not used")
	if err := flags.Parse(args); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))
	pulumirpc.RegisterLanguageRuntimeServer(server, &host{engine: flags.Arg(flags.NArg() - 1)})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	return server.Serve(listener)
}
