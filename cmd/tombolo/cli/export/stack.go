package export

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// This file has the part that is written of the API pulumi.com/v1 of the Pulumi
// Kubernetes Operator v2. The names and the meaning of the fields are those of
// operator/api/pulumi/shared/stack_types.go and operator/api/auto/v1alpha1/
// workspace_types.go in github.com/pulumi/pulumi-kubernetes-operator.

const (
	stackAPI  = "pulumi.com/v1"
	stackKind = "Stack"
	// stateSecrets has the CLI look into the state for what encrypts a stack's
	// secrets: what it writes beside the project is gone with the pod.
	stateSecrets = "PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER"
	// maxStackName is the longest metadata.name of a Stack: the CRD's rule.
	maxStackName = 42
	// programContainer puts the program where Pulumi looks for it.
	programContainer = "program"
	// pulumiContainer is the operator's container in a workspace's pod.
	pulumiContainer = "pulumi"
	// workspaceVolume is the volume of the operator's pods with the source, and
	// workspaceDir is where the project is in it.
	workspaceVolume = "share"
	workspaceDir    = "/share/workspace"
)

// stack is an object of kind Stack.
type stack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              stackSpec `json:"spec"`
}

// stackSpec is what is asked of the operator.
type stackSpec struct {
	// Stack is the name of the Pulumi stack.
	Stack              string `json:"stack"`
	ServiceAccountName string `json:"serviceAccountName"`
	// Backend and SecretsProvider are as in Pulumi's own commands.
	Backend         string `json:"backend,omitempty"`
	SecretsProvider string `json:"secretsProvider,omitempty"`
	// ProjectRepo, Branch or Commit, and RepoDir are the Git source.
	ProjectRepo string   `json:"projectRepo,omitempty"`
	Branch      string   `json:"branch,omitempty"`
	Commit      string   `json:"commit,omitempty"`
	RepoDir     string   `json:"repoDir,omitempty"`
	GitAuth     *gitAuth `json:"gitAuth,omitempty"`
	// Prerequisites must have succeeded before this stack is updated. They say
	// nothing about its deletion.
	Prerequisites []prerequisite `json:"prerequisites,omitempty"`
	// DestroyOnFinalize destroys the stack when the object is deleted.
	DestroyOnFinalize bool `json:"destroyOnFinalize"`
	// WorkspaceTemplate is merged into the Workspace that the operator makes.
	WorkspaceTemplate workspaceTemplate `json:"workspaceTemplate"`
}

type prerequisite struct {
	Name string `json:"name"`
}

type gitAuth struct {
	AccessToken *resourceRef `json:"accessToken,omitempty"`
}

type resourceRef struct {
	Type   string     `json:"type"`
	Secret *secretKey `json:"secret,omitempty"`
}

type secretKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

type workspaceTemplate struct {
	Spec workspaceSpec `json:"spec"`
}

type workspaceSpec struct {
	Image   string                 `json:"image"`
	Env     []corev1.EnvVar        `json:"env,omitempty"`
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// Local is the directory of the image that has the project.
	Local *localSource `json:"local,omitempty"`
	// PodTemplate is merged into the pod after the operator's own containers.
	PodTemplate *podTemplate `json:"podTemplate,omitempty"`
}

// pod is the template of the pod, to add to.
func (w *workspaceSpec) pod() *podTemplate {
	if w.PodTemplate == nil {
		w.PodTemplate = &podTemplate{Spec: podSpec{Containers: []namedContainer{{Name: pulumiContainer}}}}
	}
	return w.PodTemplate
}

type localSource struct {
	Dir string `json:"dir"`
}

type podTemplate struct {
	Metadata *podMetadata `json:"metadata,omitempty"`
	Spec     podSpec      `json:"spec"`
}

type podMetadata struct {
	Labels map[string]string `json:"labels"`
}

// podSpec has containers because the definition requires them (operator 2.0 to
// 2.9, deploy/helm/pulumi-operator/crds): the operator's own container by its
// name, to which nothing is added.
type podSpec struct {
	Containers     []namedContainer   `json:"containers"`
	InitContainers []corev1.Container `json:"initContainers,omitempty"`
}

// namedContainer is one of the operator's own containers.
type namedContainer struct {
	Name string `json:"name"`
}
