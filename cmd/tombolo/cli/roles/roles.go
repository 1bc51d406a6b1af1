// Package roles is the command tombolo roles.
package roles

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/stacks/catalog"
)

// Options of the command.
type Options struct {
	factory.Base
	Clusters func([]string) ([]*config.Cluster, error)
	// Roles of a cluster, which trust an issuer.
	Roles func(c *config.Cluster, issuer string) ([]catalog.RoleDocument, error)

	Name   string
	Issuer string
}

// NewCmdRoles returns the command; runF, if not nil, runs in place of it.
func NewCmdRoles(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{Base: f.Base(), Clusters: f.Clusters, Roles: f.Programs.Roles}
	cmd := &cobra.Command{
		Use:   "roles <cluster>",
		Short: "Print the IAM roles that others can make for a cluster",
		Long: strings.TrimSpace(`
Print the trust policy and the rights of each role that cloud.roles.given of the
cluster file can name, for those who make the roles of an account. They are the
roles that core would make. The command asks no cloud: the cluster need not
exist.

The roles of addons trust the cluster's OIDC issuer, which EKS makes with the cluster:
` + catalog.IssuerPlace + ` stands for it, unless --issuer names it.`),
		Example: strings.TrimSpace(`
  tombolo roles demo
  tombolo roles demo --issuer "$(tombolo outputs demo oidcIssuer)" --output json`),
		Args: clusters.ClusterFile.One(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Name = args[0]
			return factory.Run(cmd.Context(), opts, runF, rolesRun)
		},
	}
	cmd.Flags().StringVar(&opts.Issuer, "issuer", "", "`URL` of the cluster's OIDC issuer")
	return cmd
}

// document is the result in the JSON format.
type document struct {
	Type    string                 `json:"type"`
	Cluster string                 `json:"cluster"`
	Roles   []catalog.RoleDocument `json:"roles"`
}

func rolesRun(_ context.Context, o *Options) error {
	if o.Issuer != "" && !strings.HasPrefix(o.Issuer, "https://") {
		return fault.NewUsage(fmt.Sprintf("--issuer %q is no URL", o.Issuer), "give it with https://, as `tombolo outputs` prints it")
	}
	all, err := o.Clusters([]string{o.Name})
	if err != nil {
		return err
	}
	c := all[0]
	roles, err := o.Roles(c, o.Issuer)
	if err != nil {
		return fmt.Errorf("put the roles of %s together: %w", c.Name, err)
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, document{Type: "roles", Cluster: c.Name, Roles: roles})
	}
	var b bytes.Buffer
	for i, r := range roles {
		if i > 0 {
			b.WriteString("\n")
		}
		if err := write(&b, r); err != nil {
			return err
		}
	}
	_, err = o.Out.Write(b.Bytes())
	return err
}

// write writes a role for people.
func write(b *bytes.Buffer, r catalog.RoleDocument) error {
	b.WriteString(r.Key)
	if r.ARN != "" {
		b.WriteString(": " + r.ARN)
	}
	b.WriteString("\ntrust policy:\n")
	if err := indent(b, r.Trust); err != nil {
		return err
	}
	if len(r.PolicyARNs) > 0 {
		b.WriteString("policies of AWS:\n  " + strings.Join(r.PolicyARNs, "\n  ") + "\n")
	}
	if r.Policy == "" {
		return nil
	}
	b.WriteString("policy:\n")
	return indent(b, r.Policy)
}

func indent(b *bytes.Buffer, policy string) error {
	b.WriteString("  ")
	if err := json.Indent(b, []byte(policy), "  ", "  "); err != nil {
		return err
	}
	b.WriteString("\n")
	return nil
}
