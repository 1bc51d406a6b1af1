package control

// Entry is a document that `tombolo-lab lab enter` writes: a step of the lab's start, or at the
// end the lab's environment, or why there is none.
type Entry struct {
	Step *Step             `json:"step,omitempty"`
	Env  map[string]string `json:"env,omitempty"`
	// Failed says why the lab cannot be entered, and Class groups that by what to do about it.
	Failed string `json:"failed,omitempty"`
	Class  string `json:"class,omitempty"`
}
