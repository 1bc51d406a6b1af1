package ci

import (
	"os"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// unset leaves a variable out for the test, and restores it after.
func unset(t *testing.T, name string) {
	t.Helper()
	t.Setenv(name, "")
	assert.NilError(t, os.Unsetenv(name))
}

func TestNameSecrets(t *testing.T) {
	t.Setenv("TOMBOLO_SECRET_NAMES", `["TOMBOLO_TEST_HUB", "TOMBOLO_TEST_EMPTY"]`)
	t.Setenv("TOMBOLO_SECRET_0", "s3cret")
	t.Setenv("TOMBOLO_SECRET_1", "")
	unset(t, "TOMBOLO_TEST_HUB")
	unset(t, "TOMBOLO_TEST_EMPTY")
	assert.NilError(t, NameSecrets())
	assert.Equal(t, os.Getenv("TOMBOLO_TEST_HUB"), "s3cret")
	for _, gone := range []string{"TOMBOLO_TEST_EMPTY", "TOMBOLO_SECRET_0", "TOMBOLO_SECRET_1", "TOMBOLO_SECRET_NAMES"} {
		_, set := os.LookupEnv(gone)
		assert.Check(t, !set, gone)
	}
}

// TestNameSecretsRefuses: no other variable is set, and no value is shown.
func TestNameSecretsRefuses(t *testing.T) {
	for list, want := range map[string]string{
		`TOMBOLO_HUB_TOKEN`:                    "reading the names of secrets in TOMBOLO_SECRET_NAMES",
		`["PATH"]`:                             `naming the secret "PATH"`,
		`["AWS_ACCESS_KEY_ID"]`:                `naming the secret "AWS_ACCESS_KEY_ID"`,
		`["TOMBOLO_TEST_SET"]`:                 `naming the secret "TOMBOLO_TEST_SET"`,
		`["TOMBOLO_TEST_A", "TOMBOLO_TEST_B"]`: `naming the secret "TOMBOLO_TEST_B"`,
	} {
		t.Run(list, func(t *testing.T) {
			t.Setenv("TOMBOLO_SECRET_NAMES", list)
			t.Setenv("TOMBOLO_SECRET_0", "s3cret")
			t.Setenv("TOMBOLO_TEST_SET", "set")
			unset(t, "TOMBOLO_TEST_A")
			unset(t, "TOMBOLO_SECRET_1")
			err := NameSecrets()
			assert.Check(t, is.ErrorContains(err, want))
			assert.Check(t, err == nil || !is.Contains(err.Error(), "s3cret")().Success())
		})
	}
}
