package export

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks"
)

// stackLabel is the label with the kind of stack on every object of a cluster.
const stackLabel = "tombolo/stack"

// objects are all that is written, in the order in which they can be applied.
func (o *OperatorOptions) objects(stages [][]*config.Cluster) ([]any, error) {
	all := map[string]*config.Cluster{}
	for _, stage := range stages {
		for _, c := range stage {
			all[c.Name] = c
			name := stacks.Name(c.Name, stacks.Bootstrap)
			if len(name) > maxStackName {
				return nil, fault.NewPrecondition(
					fmt.Sprintf("cluster %s: its stack %s has %d characters, and the operator takes %d", c.Name, name, len(name), maxStackName),
					"give the cluster a shorter name, or run it in another way", nil)
			}
		}
	}
	if err := o.checkIdentities(all); err != nil {
		return nil, err
	}
	out := []any{o.account(), o.delegation(), deletionPolicy()}
	var wave, before []*config.Cluster
	for _, stage := range stages {
		if len(wave) > 0 && stage[0].Wave != wave[0].Wave {
			before, wave = wave, nil
		}
		for _, c := range stage {
			core, bootstrap := o.core(c, before), o.bootstrap(c, all)
			o.signInToAzure(core, tenantOf(c, all))
			o.signInToAzure(bootstrap, tenantOf(c, all))
			out = append(out, core, bootstrap)
			out = append(out, o.deletionBindings(c, all)...)
		}
		wave = append(wave, stage...)
	}
	return out, nil
}

// account is what the stacks' pods run as.
func (o *OperatorOptions) account() *corev1.ServiceAccount {
	account := &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: metav1.ObjectMeta{Name: o.ServiceAccount, Namespace: o.Namespace},
	}
	account.Annotations = o.identities()
	return account
}

// delegation lets the pods ask the API server who calls them, as the operator
// asks of every workspace.
func (o *OperatorOptions) delegation() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s:%s:auth-delegator", o.Namespace, o.ServiceAccount)},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:auth-delegator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: o.ServiceAccount, Namespace: o.Namespace}},
	}
}

// core waits for the clusters of the wave before.
func (o *OperatorOptions) core(c *config.Cluster, before []*config.Cluster) *stack {
	s := o.stack(c, stacks.Core)
	for _, b := range before {
		s.Spec.Prerequisites = append(s.Spec.Prerequisites, prerequisite{Name: stacks.Name(b.Name, stacks.Bootstrap)})
	}
	return s
}

// bootstrap waits for the cluster's core, and for the hub that runs it.
func (o *OperatorOptions) bootstrap(c *config.Cluster, all map[string]*config.Cluster) *stack {
	s := o.stack(c, stacks.Bootstrap)
	s.Spec.Prerequisites = []prerequisite{{Name: stacks.Name(c.Name, stacks.Core)}}
	if hub := all[c.Hub()]; hub != nil && c.IsSpoke() {
		s.Spec.Prerequisites = append(s.Spec.Prerequisites, prerequisite{Name: stacks.Name(hub.Name, stacks.Bootstrap)})
	}
	return s
}

func (o *OperatorOptions) stack(c *config.Cluster, kind stacks.Kind) *stack {
	name := stacks.Name(c.Name, kind)
	s := &stack{
		TypeMeta: metav1.TypeMeta{APIVersion: stackAPI, Kind: stackKind},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: o.Namespace,
			Labels: map[string]string{names.ClusterLabel: c.Name, stackLabel: string(kind)},
		},
		Spec: stackSpec{
			Stack: path.Join(o.Organization, name), ServiceAccountName: o.ServiceAccount,
			Backend: o.Backend(), SecretsProvider: o.SecretsProvider(),
			ProjectRepo: o.Repo, Branch: o.Branch, Commit: o.Commit, RepoDir: o.Dir,
			DestroyOnFinalize: !c.Protect,
			WorkspaceTemplate: workspaceTemplate{Spec: workspaceSpec{
				Image: o.Image, Env: []corev1.EnvVar{{Name: stateSecrets, Value: "true"}},
			}},
		},
	}
	if o.GitSecret != "" {
		s.Spec.GitAuth = &gitAuth{AccessToken: &resourceRef{Type: "Secret", Secret: &secretKey{Name: o.GitSecret, Key: "token"}}}
	}
	workspace := &s.Spec.WorkspaceTemplate.Spec
	for _, secret := range o.EnvSecrets {
		workspace.EnvFrom = append(workspace.EnvFrom, corev1.EnvFromSource{
			SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: secret}},
		})
	}
	if o.ImageDir != "" {
		workspace.Local = &localSource{Dir: o.ImageDir}
	} else {
		workspace.pod().Spec.InitContainers = []corev1.Container{o.placeProgram()}
	}
	return s
}

// placeProgramScript has the Pulumi.yaml of the project $2 name the program $1, in place of where to
// build one: pods have no build cache. The program stays where it is, under its name.
const placeProgramScript = `sed -i "s|buildTarget:.*|binary: $1|" "$2/Pulumi.yaml"`

// placeProgram has the project run the image's program: what is fetched from Git
// has no binaries. It runs after the fetch.
func (o *OperatorOptions) placeProgram() corev1.Container {
	no := false
	return corev1.Container{
		Name: programContainer, Image: o.Image,
		Command: []string{"sh", "-c", placeProgramScript, "sh", o.Program, workspaceDir},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no,
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: workspaceVolume, MountPath: "/share"}},
	}
}
