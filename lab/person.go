package lab

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"tombolo/lab/control"
	"tombolo/lab/entra"
)

// Person is somebody of the lab's tenant, with a token for a resource where one is asked for.
func (l *Lab) Person(ctx context.Context, r control.PersonRequest) (control.Person, error) {
	var p control.Person
	if err := l.daemon().Ask(ctx, http.MethodPost, "/person", r, &p); err != nil {
		return p, fmt.Errorf("sign %s in: %w", r.Name, err)
	}
	return p, nil
}

// person signs somebody in.
func (d *daemon) person(_ context.Context, r control.PersonRequest) (control.Person, error) {
	if r.Tenant != "" && !strings.EqualFold(r.Tenant, AzureTenant) {
		return control.Person{}, fmt.Errorf("the lab has the tenant %s, and none with the id %s", AzureTenant, r.Tenant)
	}
	object := uuid.NewSHA1(uuid.MustParse(AzureTenant), []byte(strings.ToLower(r.Name))).String()
	p := control.Person{Name: r.Name, ObjectID: object, Tenant: AzureTenant}
	if r.Resource == "" {
		return p, nil
	}
	token, until, err := d.entra.PersonToken(entra.Person{Name: r.Name, ObjectID: object, Groups: d.groupsOf(object)}, r.Resource)
	p.Token, p.Until = token, until.Unix()
	return p, err
}
