package cli

import "github.com/spf13/pflag"

func refuseEmpty(*pflag.FlagSet) error { return nil }
