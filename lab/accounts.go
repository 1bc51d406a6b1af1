package lab

import (
	"context"
	"errors"
	"fmt"

	"tombolo/lab/aws"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/sts"
	"tombolo/lab/standin"
)

// MemberAccount is the second account of the lab's organisation. The lab's credentials are of
// the first one, Account, and reach it by the role iam.OrganizationRole alone, as AWS
// Organizations makes it in an account that an organisation creates. Source:
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_accounts_access-cross-account-role.html
const MemberAccount = "444455556666"

// accounts of the lab's organisation. The first one is that of the credentials.
type accounts []*standin.Cloud

// openAccounts loads what the accounts hold.
func openAccounts(p paths, o standin.Options) (accounts, error) {
	o.Account = Account
	home, err := aws.Open(p.cloud(), o)
	if err != nil {
		return nil, err
	}
	o.Account, o.Caller, o.Faults = MemberAccount, sts.UserARN(home), nil // faults happen at home
	member, err := aws.Open(p.member(), o)
	if err == nil {
		err = iam.OwnOrganizationRole(member, Account)
	}
	if err != nil {
		home.Close()
		return nil, fmt.Errorf("account %s: %w", MemberAccount, err)
	}
	return accounts{home, member}, nil
}

// home is the account of the lab's credentials.
func (a accounts) home() *standin.Cloud { return a[0] }

// with is the account that has a cluster, and home where none has it.
func (a accounts) with(cluster string) *standin.Cloud {
	for _, c := range a {
		if eks.ClusterNamed(c, cluster) != nil {
			return c
		}
	}
	return a.home()
}

// having is the account that has a resource of a type with an id or a name, and home where
// none has it.
func (a accounts) having(typ, name string) *standin.Cloud {
	for _, c := range a {
		if c.Has(typ, name) {
			return c
		}
	}
	return a.home()
}

// sts knows them all.
func (a accounts) sts() sts.Accounts { return sts.Accounts(a) }

func (a accounts) resume(ctx context.Context) error {
	var errs []error
	for _, c := range a {
		errs = append(errs, c.Resume(ctx))
	}
	return errors.Join(errs...)
}

func (a accounts) inventory() []Item {
	all := []Item{}
	for _, c := range a {
		all = append(all, c.Inventory()...)
	}
	return all
}

func (a accounts) close() {
	for _, c := range a {
		c.Close()
	}
}
