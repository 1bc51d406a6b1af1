package standin

// All lists the records in the order of their creation.
func (c *Cloud) All() []*Record { return c.store.all() }

// Get returns a record by its id, or nil. In any region, a global one is found.
func (c *Cloud) Get(typ, region, id string) *Record { return c.store.get(typ, region, id) }

// Put records a resource, new or changed.
func (c *Cloud) Put(r *Record) error {
	if err := c.store.put(r); err != nil {
		return err
	}
	c.announce()
	return nil
}

// Forget drops a record.
func (c *Cloud) Forget(r *Record) error {
	if err := c.store.remove(r); err != nil {
		return err
	}
	c.announce()
	return nil
}

// announce wakes all that wait for a change.
func (c *Cloud) announce() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Find returns the resource of a type that an id or another reference means, or
// nil.
func (c *Cloud) Find(typ, region, value string) *Record {
	if r := c.store.get(typ, region, value); r != nil {
		if r.Gone() {
			return nil
		}
		return r
	}
	for r := range c.Each(typ, region) {
		if c.Means(r, value) {
			return r
		}
	}
	return nil
}

// Means reports whether a value refers to the record.
func (c *Cloud) Means(r *Record, value string) bool {
	return value != "" && (value == r.ID || value == r.Outputs.Str(c.catalogue.Reference))
}

// Each yields a type's resources in a region, in the order of creation.
func (c *Cloud) Each(typ, region string) func(func(*Record) bool) {
	return func(yield func(*Record) bool) {
		for _, r := range c.store.all() {
			if r.Type == typ && (r.Region == region || r.Region == Global) && !r.Gone() && !yield(r) {
				return
			}
		}
	}
}

// TypeOf is the type with a token, or nil.
func (c *Cloud) TypeOf(token string) *Type { return c.catalogue.Types[token] }
