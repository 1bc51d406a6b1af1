package standin

// Request is a call of the cloud's API, as errors name it.
type Request struct {
	Operation string
	// Token of the resource's type, or of the function.
	Token string
	Noun  string
	API   API
	// Name or id of the resource; it may be empty.
	Name, Region string
}

// request is one about a resource.
func (t *Type) request(operation, name, region string) Request {
	return Request{Operation: operation, Token: t.token, Noun: t.Noun, API: t.API, Name: name, Region: region}
}
