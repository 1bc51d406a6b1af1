package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/lab/control"
)

// LogsOptions are the options of lab logs.
type LogsOptions struct {
	Options
	// Every is the time between two looks for new lines.
	Every time.Duration

	Process string
	Follow  bool
	Lines   int
}

// NewCmdLogs returns the command lab logs.
func NewCmdLogs(f *Given) *cobra.Command {
	opts := &LogsOptions{Options: f.options(), Every: 250 * time.Millisecond}
	cmd := &cobra.Command{
		Use:   "logs [<process>]",
		Short: "Print the log of one of the lab's processes",
		Long:  "Print the log of one of the lab's processes, or the names of those that have one.",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return completeProcesses(f), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.Process = args[0]
			}
			return logsRun(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVarP(&opts.Follow, "follow", "f", false, "continue with new lines")
	cmd.Flags().IntVarP(&opts.Lines, "lines", "n", 0, "print only the last `lines`; 0 prints all")
	return cmd
}

func completeProcesses(f *Given) []string {
	root, err := f.Root()
	if err != nil {
		return nil
	}
	names, _ := control.Processes(root) // without names there is nothing to complete
	return names
}

func logsRun(ctx context.Context, o *LogsOptions) error {
	if o.Lines < 0 {
		return fault.NewUsage(fmt.Sprintf("--lines is %d", o.Lines), "give 0 for all, or how many")
	}
	l, err := o.Lab()
	if err != nil {
		return err
	}
	if o.Process == "" {
		return list(o, l)
	}
	path, err := l.LogFile(o.Process)
	if errors.Is(err, control.ErrNotRunning) {
		return err
	}
	if err != nil {
		return &fault.Error{Class: fault.Usage, Err: err}
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the log of %s: %w", o.Process, err)
	}
	defer file.Close()
	if err := o.tail(file); err != nil || !o.Follow {
		return err
	}
	return o.follow(ctx, file)
}

func list(o *LogsOptions, l Lab) error {
	if o.Follow || o.Lines > 0 {
		return fault.NewUsage("no process is named", "name one; `tombolo lab logs` lists them")
	}
	names, err := l.Processes()
	if err != nil || len(names) == 0 {
		return err
	}
	_, err = fmt.Fprintln(o.Out, strings.Join(names, "\n"))
	return err
}

// tail writes the log's last lines, or all of it.
func (o *LogsOptions) tail(file *os.File) error {
	text, err := io.ReadAll(file)
	if err != nil {
		return fmt.Errorf("reading the log of %s: %w", o.Process, err)
	}
	if o.Lines > 0 {
		text = lastLines(text, o.Lines)
	}
	_, err = o.Out.Write(text)
	return err
}

func lastLines(text []byte, n int) []byte {
	at := len(bytes.TrimRight(text, "\n"))
	for range n {
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}

// follow copies what is appended until the context ends. An interrupt is how
// one stops following, so it is no error.
func (o *LogsOptions) follow(ctx context.Context, file *os.File) error {
	ticker := time.NewTicker(o.Every)
	defer ticker.Stop()
	for {
		if _, err := io.Copy(o.Out, file); err != nil {
			return fmt.Errorf("following the log of %s: %w", o.Process, err)
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil
			}
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
