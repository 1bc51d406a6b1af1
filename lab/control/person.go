package control

// PersonVariable names the environment variable with somebody of the lab's tenant, such as
// ada@lab.test: the lab's az is then signed in as that person, as after `az login`, and kubelogin asks
// it for tokens. Everybody with a name is somebody; groups are given by `az ad group member add`.
const PersonVariable = "TOMBOLO_LAB_PERSON"

// PersonRequest asks for a token of somebody of the lab's tenant.
type PersonRequest struct {
	// Name of the person, such as ada@lab.test.
	Name string `json:"name"`
	// Tenant and Resource that the token is for; without a Resource there is none.
	Tenant   string `json:"tenant"`
	Resource string `json:"resource"`
}

// Person is somebody of the lab's tenant, with the token that was asked for.
type Person struct {
	Name     string `json:"name"`
	ObjectID string `json:"objectId"`
	Tenant   string `json:"tenant"`
	Token    string `json:"token"`
	// Until is the end of the token, in seconds since 1970.
	Until int64 `json:"until"`
}
