// Command structure measures how a reader finds the way in this project: for each
// package its files, its lines, and the arrows between its files. An arrow is the
// use in one file of something that another file of the package defines; it goes
// back when it points against the order that has the fewest such arrows. A package
// without arrows back can be read from top to bottom.
//
//	go run ./tools/structure [-least 1] [-list] [packages]
//
// With -list it also writes each arrow back, with the names that cause it. Test
// files are counted apart, and have no arrows.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "✗", err)
		os.Exit(1)
	}
}

// room is what is measured of a package.
type room struct {
	path                    string
	files, lines, testLines int
	arrows                  int
	back                    []string
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("structure", flag.ContinueOnError)
	least := flags.Int("least", 1, "leave out packages with fewer files")
	list := flags.Bool("list", false, "write each arrow back")
	if err := flags.Parse(args); err != nil {
		return err
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
	}, patterns...)
	if err != nil {
		return fmt.Errorf("loading packages: %w", err)
	}
	if packages.PrintErrors(loaded) > 0 {
		return errors.New("loading packages: some do not compile")
	}
	rooms := make([]room, 0, len(loaded))
	for _, p := range loaded {
		r, err := measure(p)
		if err != nil {
			return err
		}
		rooms = append(rooms, r)
	}
	slices.SortFunc(rooms, func(a, b room) int {
		return cmp.Or(-cmp.Compare(len(a.back), len(b.back)), cmp.Compare(a.path, b.path))
	})
	table(out, rooms, *least)
	for _, r := range rooms {
		if *list && len(r.back) > 0 {
			fmt.Fprintf(out, "\n%s\n  %s\n", r.path, strings.Join(r.back, "\n  "))
		}
	}
	return nil
}

// table writes the measures as a table of Markdown.
func table(out io.Writer, rooms []room, least int) {
	fmt.Fprint(out, "| package | files | lines | test lines | arrows | back |\n|---|---:|---:|---:|---:|---:|\n")
	row := func(r room) {
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d |\n", r.path, r.files, r.lines, r.testLines, r.arrows, len(r.back))
	}
	all := room{path: "in all"}
	for _, r := range rooms {
		all.files, all.lines, all.testLines = all.files+r.files, all.lines+r.lines, all.testLines+r.testLines
		all.arrows, all.back = all.arrows+r.arrows, append(all.back, r.back...)
		if r.files >= least {
			row(r)
		}
	}
	row(all)
}
