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
