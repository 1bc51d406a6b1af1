package lab

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// TestMain lets the test binary play the tombolo binary, which Up starts as the
// daemon and which the aws shim calls.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "lab" {
		if err := playTombolo(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func playTombolo(args []string) error {
	switch args[0] {
	case "serve": // serve --root DIR
		return Serve(context.Background(), args[2], os.Stderr)
	case "aws":
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		_, err = fmt.Println(dir, args[1:])
		return err
	}
	return fmt.Errorf("unknown command %s", args[0])
}
