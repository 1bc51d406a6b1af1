package lab

import "errors"

// EKS says which build of the EKS plugin a lab runs. Both have the same component.
type EKS string

// The builds.
const (
	// PinnedEKS has the SDKs of AWS and Kubernetes in the versions that the program
	// has too, so that the lab needs one plugin of each.
	PinnedEKS EKS = "pinned"
	// ReleasedEKS has what the released plugin has in it, which is what users get:
	// its older SDKs ask for the plugins of their own versions. The lab's
	// Kubernetes plugin answers under the name of the older one.
	ReleasedEKS EKS = "released"
)

// EKSBuilds lists them all.
func EKSBuilds() []EKS { return []EKS{PinnedEKS, ReleasedEKS} }

// EKSVariable is the environment variable with the build of a lab that is made
// while it is set.
const EKSVariable = "TOMBOLO_LAB_EKS"

// ErrOtherEKS is wrapped where a lab has another build than was asked for.
var ErrOtherEKS = errors.New("a lab keeps it: run `tombolo lab down`, which removes it, first")

func (l *Lab) eks() setting[EKS] {
	return setting[EKS]{what: "EKS plugin", file: l.paths().eks(), variable: EKSVariable, all: EKSBuilds()}
}

// ChooseEKS gives a lab that is yet to be made its build of the EKS plugin. It fails
// with ErrOtherEKS where the lab exists and has another.
func (l *Lab) ChooseEKS(build EKS) error { return l.eks().choose(build, ErrOtherEKS) }

// EKS is the lab's build of the plugin. A lab that is yet to be made has the
// environment's, and PinnedEKS by default.
func (l *Lab) EKS() (EKS, error) { return l.eks().get() }
