package lab

import "os"

// noPulumiLogs is the text of the file that stands where Pulumi would make a directory.
const noPulumiLogs = `Pulumi's CLI writes every message of its engine into a directory of this name,
encrypted. That is a good part of the work of a run of bootstrap, and in the lab nobody
reads it. The CLI goes on without where it cannot make the directory.
`

// withoutPulumiLogs keeps Pulumi from writing a log of its own. There is no setting for
// it. Source: pulumi/pulumi v3.250.0, pkg/logging/encrypted.go, StartLogging.
func withoutPulumiLogs(path string) error {
	// A lab of an older program has the directory.
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(noPulumiLogs), 0o600)
}
