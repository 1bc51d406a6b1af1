package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tombolo/cmd/tombolo/cli/fault"
)

// refuseEmpty refuses flags that are given an empty value. To leave a flag out is one thing,
// such as any plan's digest or all clusters; a variable of CI that is not set must not be
// taken for it.
func refuseEmpty(given *pflag.FlagSet) (err error) {
	given.Visit(func(f *pflag.Flag) {
		if err == nil && isEmpty(f.Value) {
			err = fault.NewUsage(fmt.Sprintf("the value of --%s is empty", f.Name), "give a value, or leave the flag out; look whether the variable that it comes from is set")
		}
	})
	return err
}

// isEmpty says that a value, or one of a list, has nothing in it.
func isEmpty(value pflag.Value) bool {
	values := []string{value.String()}
	if list, ok := value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	}
	return len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" })
}
