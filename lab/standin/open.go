package standin

import (
	"cmp"
	"errors"
	"path/filepath"
	"time"
)

// Open loads the account that is kept in dir, or makes an empty one there.
func Open(dir string, k *Catalogue, o Options) (*Cloud, error) {
	if o.Clusters == nil {
		return nil, errors.New("Options.Clusters is missing")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.LeastWait = cmp.Or(o.LeastWait, 5*time.Second)
	o.Faults = cmp.Or(o.Faults, &Faults{})
	s, err := openStore(filepath.Join(dir, "resources"))
	if err != nil {
		return nil, err
	}
	secret, err := loadSecret(filepath.Join(dir, "token.key"))
	if err != nil {
		return nil, err
	}
	if err := k.prepare(); err != nil {
		return nil, err
	}
	return &Cloud{
		Options: o, catalogue: k, store: s, secret: secret, faults: o.Faults, closing: make(chan struct{}), changed: make(chan struct{}),
	}, nil
}
