package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/lab/control"
)

// azureRemedy is what to do about any other use of the lab's az.
const azureRemedy = "the lab's az knows `az keyvault secret set`, `show` and `list`, `az ad group member add`, " +
	"`az ad signed-in-user show` and `az account get-access-token` only"

// AzureOptions are the options of lab az.
type AzureOptions struct {
	Out, ErrOut io.Writer
	// KeyVault returns a key vault's answer to a request, in JSON.
	KeyVault func(ctx context.Context, r control.VaultRequest) (json.RawMessage, error)
	// Member adds an object to a group of Entra.
	Member func(ctx context.Context, group, member string) error
	// Name is that of the person who has signed in; "" is nobody.
	Name string
	// Person is somebody of the tenant, with a token.
	Person func(ctx context.Context, r control.PersonRequest) (control.Person, error)

	Args []string
}

// NewCmdAzure returns the hidden command behind the lab's az: as much of the Azure CLI as
// people need to sign in to clusters, to keep secrets, and to put others into groups.
func NewCmdAzure(f *Given) *cobra.Command {
	return newShim("az", "Answer as the Azure CLI does to people who sign in, and keep secrets and groups", func(ctx context.Context, args []string) error {
		l, err := f.open()
		if err != nil {
			return err
		}
		opts := &AzureOptions{
			Out: f.Streams.Out, ErrOut: f.Streams.ErrOut, KeyVault: l.KeyVault, Member: l.AddMember, Person: l.Person, Args: args,
		}
		opts.Name, _ = f.Lookup(control.PersonVariable)
		return azureRun(ctx, opts)
	})
}

// azureFlags are those of `az keyvault secret`, `az ad` and `az account get-access-token`:
// https://learn.microsoft.com/en-us/cli/azure/keyvault/secret,
// https://learn.microsoft.com/en-us/cli/azure/ad/group/member,
// https://learn.microsoft.com/en-us/cli/azure/ad/signed-in-user and
// https://learn.microsoft.com/en-us/cli/azure/account#az-account-get-access-token
type azureFlags struct {
	vault, name, value, file, version, query, output string
	group, member, resource, tenant                  string
}

func azureRun(ctx context.Context, o *AzureOptions) error {
	fs := pflag.NewFlagSet("az", pflag.ContinueOnError)
	fs.Usage = func() {}
	var given azureFlags
	fs.StringVar(&given.vault, "vault-name", "", "")
	fs.StringVarP(&given.name, "name", "n", "", "")
	fs.StringVar(&given.value, "value", "", "")
	fs.StringVarP(&given.file, "file", "f", "", "")
	fs.StringVarP(&given.version, "version", "v", "", "")
	fs.StringVar(&given.query, "query", "", "")
	fs.StringVarP(&given.output, "output", "o", "json", "")
	fs.StringVarP(&given.group, "group", "g", "", "")
	fs.StringVar(&given.member, "member-id", "", "")
	fs.StringVar(&given.resource, "resource", "https://management.azure.com/", "")
	fs.StringVarP(&given.tenant, "tenant", "t", "", "")
	if err := fs.Parse(o.Args); err != nil {
		return fault.NewUsage("az: "+err.Error(), azureRemedy)
	}
	command := strings.Join(fs.Args(), " ")
	switch command {
	case "ad signed-in-user show":
		given.resource = ""
		return writePerson(ctx, o, given)
	case "account get-access-token":
		return writePerson(ctx, o, given)
	case "ad group member add":
		if given.group == "" || given.member == "" {
			return fault.NewUsage("az "+command+": group and member are required", "give --group and --member-id, the object ids of both")
		}
		return o.Member(ctx, given.group, given.member)
	}
	r, err := given.request(command, fs.Changed("value"))
	if err != nil {
		return err
	}
	return writeVault(ctx, o, r, given.query != "")
}

// writePerson writes who has signed in, or the token for a resource, as the Azure CLI does.
func writePerson(ctx context.Context, o *AzureOptions, given azureFlags) error {
	if o.Name == "" {
		return fault.Refuse(o.ErrOut, 1, "ERROR: Please run 'az login' to setup account: in the lab, set %s to a name such as ada@lab.test.\n", control.PersonVariable)
	}
	p, err := o.Person(ctx, control.PersonRequest{Name: o.Name, Tenant: given.tenant, Resource: given.resource})
	switch {
	case err != nil:
		return fault.Refuse(o.ErrOut, 1, "ERROR: %s\n", err)
	case given.resource == "" && given.query == "id" && given.output == "tsv":
		_, err = fmt.Fprintln(o.Out, p.ObjectID)
		return err
	case given.query != "":
		return fault.NewUsage("az: --query is for `az ad signed-in-user show --query id --output tsv` here", azureRemedy)
	case given.resource == "":
		return render.WriteJSON(o.Out, map[string]string{"id": p.ObjectID, "userPrincipalName": p.Name})
	}
	until := time.Unix(p.Until, 0)
	return render.WriteJSON(o.Out, map[string]any{
		"accessToken": p.Token, "expiresOn": until.Format("2006-01-02 15:04:05.000000"), "expires_on": p.Until, "tenant": p.Tenant, "tokenType": "Bearer",
	})
}

// request is what a command asks of a vault.
func (f azureFlags) request(command string, hasValue bool) (control.VaultRequest, error) {
	r := control.VaultRequest{Method: http.MethodGet, Vault: f.vault, Path: "/secrets"}
	verb, known := strings.CutPrefix(command, "keyvault secret ")
	usage := func(text, remedy string) (control.VaultRequest, error) {
		return r, fault.NewUsage("az "+command+": "+text, remedy)
	}
	switch {
	case !known || verb != "set" && verb != "show" && verb != "list":
		return r, fault.NewUsage(fmt.Sprintf("az: unknown command %q", command), azureRemedy)
	case f.vault == "":
		return usage("no vault is named", "give --vault-name")
	case f.query != "" && (f.query != "value" || f.output != "tsv"):
		return usage("--query is for `--query value --output tsv` here", azureRemedy)
	case verb == "list":
		return r, nil
	case f.name == "":
		return usage("no secret is named", "give --name")
	}
	r.Path = path.Join(r.Path, f.name, f.version)
	if verb == "show" {
		return r, nil
	}
	if hasValue == (f.file != "") {
		return usage("there has to be one value", "give --value, or --file")
	}
	if f.file != "" {
		content, err := os.ReadFile(f.file)
		if err != nil {
			return usage("read --file: "+err.Error(), "name a file that can be read")
		}
		f.value = string(content)
	}
	var err error
	r.Method = http.MethodPut
	r.Body, err = json.Marshal(map[string]string{"value": f.value})
	return r, err
}

// writeVault writes the vault's answer, or its refusal, as the Azure CLI does.
func writeVault(ctx context.Context, o *AzureOptions, r control.VaultRequest, valueOnly bool) error {
	answer, err := o.KeyVault(ctx, r)
	var refused *control.VaultError
	if errors.As(err, &refused) {
		return fault.Refuse(o.ErrOut, 1, "ERROR: %s\n", refused)
	}
	if err != nil {
		return err
	}
	var found struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if valueOnly {
		var value string
		if err := json.Unmarshal(found.Value, &value); err != nil {
			return fmt.Errorf("read the value: %w", err)
		}
		_, err = fmt.Fprintln(o.Out, value)
		return err
	}
	if r.Path == "/secrets" { // a list, without the API's page around it
		answer = found.Value
	}
	return render.WriteJSON(o.Out, answer)
}
