package ci

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"

	"tombolo/cmd/tombolo/cli/fault"
)

// namesVariable has the names of secrets as a list of JSON; the value of the one at index 2 is in
// the variable valuePrefix and 2.
const namesVariable, valuePrefix = "TOMBOLO_SECRET_NAMES", "TOMBOLO_SECRET_"

// secretName is what a cluster file may name: see config/secret.
var secretName = regexp.MustCompile(`^TOMBOLO_[A-Za-z0-9_]+$`)

// NameSecrets sets the environment variables that files of the project name, where a called
// workflow of GitHub has them under numbers: it does not know their names when it is written,
// and gives the step no other secret of its caller. A secret that is empty is not set. The error
// is one of usage: a list that is none, or another name than those of secrets.
func NameSecrets() error {
	list := os.Getenv(namesVariable)
	if list == "" {
		return nil
	}
	var names []string
	if err := json.Unmarshal([]byte(list), &names); err != nil {
		return fault.NewUsage(fmt.Sprintf("reading the names of secrets in %s: %v", namesVariable, err), `write a list such as ["TOMBOLO_HUB_TOKEN"]`)
	}
	for i, name := range names {
		from := fmt.Sprint(valuePrefix, i)
		value, there := os.LookupEnv(from)
		if _, set := os.LookupEnv(name); !secretName.MatchString(name) || set || !there {
			return fault.NewUsage(fmt.Sprintf("naming the secret %q of %s: it does not begin with TOMBOLO_, is set already, or has no value in %s", name, namesVariable, from),
				"correct the input secrets of the workflow that calls; `tombolo pipelines check` reads it")
		}
		if value == "" {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	for i := range names {
		if err := os.Unsetenv(fmt.Sprint(valuePrefix, i)); err != nil {
			return err
		}
	}
	return os.Unsetenv(namesVariable)
}
