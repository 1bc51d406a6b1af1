package lab

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/control"
)

// TestEnter: the program tells another one what becomes of the lab, in documents.
func TestEnter(t *testing.T) {
	env := map[string]string{"PATH": "/lab"}
	for _, test := range []struct {
		name string
		lab  fake
		want string
		code bool
	}{
		{name: "runs", lab: fake{env: env, status: control.Status{Running: true}}, want: `{"env":{"PATH":"/lab"}}` + "\n"},
		{
			name: "starts", lab: fake{env: env},
			want: `{"step":{"Name":"start the lab","State":"done","Detail":"","Elapsed":0}}` + "\n" + `{"env":{"PATH":"/lab"}}` + "\n",
		},
		{name: "hangs", lab: fake{err: fmt.Errorf("ask: %w", control.ErrHangs)}, want: `{"failed":"ask: ` + control.ErrHangs.Error() + `","class":"precondition"}` + "\n", code: true},
		{name: "anything", lab: fake{err: errors.New("no")}, want: `{"failed":"no"}` + "\n", code: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := enterRun(t.Context(), test.lab.options(&out, nil, false))
			assert.Check(t, is.Equal(err != nil, test.code), "%v", err)
			assert.Check(t, is.Equal(out.String(), test.want))
		})
	}
}
