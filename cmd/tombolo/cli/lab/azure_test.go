package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/control"
	"tombolo/tests/files"
)

// TestAzureSecrets: the lab's az asks for what the Azure CLI would, and says what it would.
func TestAzureSecrets(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	files.Write(t, text, "of a file\n")
	const answer, listed = `{"id":"a","value":"s3cret"}`, `{"value":[{"id":"a"}],"nextLink":null}`
	refused := &control.VaultError{Code: "Forbidden", Message: "Caller is not authorized to perform action on resource."}
	for _, test := range []struct {
		name, asked, want, said, err string
		args                         []string
		answer                       string
		refused                      error
	}{
		{name: "set", args: []string{"set", "--vault-name", "kv", "--name", "n", "--value", "s"}, asked: `PUT kv /secrets/n {"value":"s"}`, want: answer + "\n"},
		{name: "set, empty", args: []string{"set", "--vault-name", "kv", "-n", "n", "--value", ""}, asked: `PUT kv /secrets/n {"value":""}`, want: answer + "\n"},
		{name: "of a file", args: []string{"set", "--vault-name", "kv", "--name", "n", "--file", text}, asked: `PUT kv /secrets/n {"value":"of a file\n"}`, want: answer + "\n"},
		{name: "show", args: []string{"show", "--vault-name", "kv", "--name", "n", "--version", "v"}, asked: "GET kv /secrets/n/v ", want: answer + "\n"},
		{name: "value alone", args: []string{"show", "--vault-name", "kv", "--name", "n", "--query", "value", "-o", "tsv"}, asked: "GET kv /secrets/n ", want: "s3cret\n"},
		{name: "list", args: []string{"list", "--vault-name", "kv"}, answer: listed, asked: "GET kv /secrets ", want: "[{\"id\":\"a\"}]\n"},
		{
			name: "refused", args: []string{"show", "--vault-name", "kv", "--name", "n"}, asked: "GET kv /secrets/n ", refused: fmt.Errorf("ask: %w", refused),
			said: "ERROR: (Forbidden) Caller is not authorized to perform action on resource.\n", err: "exit code 1",
		},
		{name: "no lab", args: []string{"list", "--vault-name", "kv"}, asked: "GET kv /secrets ", refused: control.ErrNotRunning, err: control.ErrNotRunning.Error()},
		{name: "no vault", args: []string{"list"}, err: "az keyvault secret list: no vault is named; give --vault-name"},
		{name: "no name", args: []string{"show", "--vault-name", "kv"}, err: "az keyvault secret show: no secret is named; give --name"},
		{name: "no value", args: []string{"set", "--vault-name", "kv", "--name", "n"}, err: "az keyvault secret set: there has to be one value; give --value, or --file"},
		{
			name: "of no file", args: []string{"set", "--vault-name", "kv", "--name", "n", "--file", "none"},
			err: "az keyvault secret set: read --file: open none: no such file or directory; name a file that can be read",
		},
		{
			name: "other query", args: []string{"show", "--vault-name", "kv", "--name", "n", "--query", "id"},
			err: "az keyvault secret show: --query is for `--query value --output tsv` here; " + azureRemedy,
		},
		{name: "other command", args: []string{"purge"}, err: `az: unknown command "keyvault secret purge"; ` + azureRemedy},
		{name: "other flag", args: []string{"list", "--maxresults", "1"}, err: "az: unknown flag: --maxresults; " + azureRemedy},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, said bytes.Buffer
			asked := ""
			err := azureRun(t.Context(), &AzureOptions{
				Out: &out, ErrOut: &said, Args: append([]string{"keyvault", "secret"}, test.args...),
				KeyVault: func(_ context.Context, r control.VaultRequest) (json.RawMessage, error) {
					asked = fmt.Sprintf("%s %s %s %s", r.Method, r.Vault, r.Path, r.Body)
					if test.answer != "" {
						return json.RawMessage(test.answer), test.refused
					}
					return json.RawMessage(answer), test.refused
				},
			})
			if (err == nil) != (test.err == "") || (err != nil && err.Error() != test.err) {
				t.Errorf("got the error %v, want %q", err, test.err)
			}
			assert.Check(t, is.Equal(asked, test.asked))
			assert.Check(t, is.Equal(out.String(), test.want))
			assert.Check(t, is.Equal(said.String(), test.said))
		})
	}
}

// TestAzureGroupMember: az says nothing where an object becomes a member.
func TestAzureGroupMember(t *testing.T) {
	asked := ""
	run := func(args ...string) error {
		return azureRun(t.Context(), &AzureOptions{Args: append([]string{"ad", "group", "member", "add"}, args...), Member: func(_ context.Context, group, member string) error {
			asked = group + " " + member
			return nil
		}})
	}
	assert.NilError(t, run("--group", "g1", "--member-id", "m1"))
	assert.Equal(t, asked, "g1 m1")
	assert.ErrorContains(t, run("--group", "g1"), "az ad group member add: group and member are required; give --group and --member-id")
}

// TestAzurePerson: az tells kubelogin the token of who has signed in, and nobody's without one.
func TestAzurePerson(t *testing.T) {
	var asked control.PersonRequest
	run := func(name string, args ...string) (out, said string, err error) {
		var o, s bytes.Buffer
		err = azureRun(t.Context(), &AzureOptions{Out: &o, ErrOut: &s, Name: name, Args: args, Person: func(_ context.Context, r control.PersonRequest) (control.Person, error) {
			asked = r
			if r.Tenant == "b" {
				return control.Person{}, errors.New("the lab has the tenant a")
			}
			return control.Person{Name: r.Name, ObjectID: "o", Tenant: "a", Token: "t", Until: 1}, nil
		}})
		return o.String(), s.String(), err
	}
	token := []string{"account", "get-access-token", "-o", "json", "--resource", "r", "--tenant"}
	out, _, err := run("ada", append(token, "a")...)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(out, `"accessToken":"t"`))
	assert.Check(t, is.Contains(out, `"expires_on":1`))
	assert.Equal(t, asked, control.PersonRequest{Name: "ada", Tenant: "a", Resource: "r"})
	out, _, err = run("ada", "ad", "signed-in-user", "show", "--query", "id", "-o", "tsv")
	assert.Check(t, err == nil && out == "o\n", "%v %s", err, out)
	assert.Equal(t, asked, control.PersonRequest{Name: "ada"})
	_, said, err := run("ada", append(token, "b")...)
	assert.Check(t, err != nil && said == "ERROR: the lab has the tenant a\n", "%v %s", err, said)
	_, said, err = run("", append(token, "a")...)
	assert.Check(t, err != nil && strings.HasPrefix(said, "ERROR: Please run 'az login' to setup account"), "%v %s", err, said)
	_, _, err = run("ada", "ad", "signed-in-user", "show", "--query", "mail")
	assert.ErrorContains(t, err, azureRemedy)
}
