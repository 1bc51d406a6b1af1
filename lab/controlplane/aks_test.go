package controlplane

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"tombolo/lab/standin"
)

// TestFurnish: an AKS cluster has its admins bound, whoever they are now, and storage classes
// that users may have changed.
func TestFurnish(t *testing.T) {
	client := fake.NewClientset()
	for _, admins := range [][]string{{"a1"}, {"a2", "a3"}, nil} {
		assert.NilError(t, furnish(t.Context(), client, admins))
		binding, err := client.RbacV1().ClusterRoleBindings().Get(t.Context(), "aks-cluster-admin-binding-aad", metav1.GetOptions{})
		assert.NilError(t, err)
		var bound []string
		for _, subject := range binding.Subjects {
			bound = append(bound, subject.Name)
			assert.Check(t, is.Equal(subject.Kind, "Group"))
		}
		assert.Check(t, is.DeepEqual(bound, admins))
		assert.Check(t, is.Equal(binding.RoleRef.Name, "cluster-admin"))
	}
	classes, err := client.StorageV1().StorageClasses().List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	var found []string
	for _, class := range classes.Items {
		found = append(found, fmt.Sprint(class.Name, " ", class.Provisioner, " ", class.Annotations["storageclass.kubernetes.io/is-default-class"]))
	}
	assert.Check(t, is.DeepEqual(found, []string{
		"default disk.csi.azure.com true", "managed-csi disk.csi.azure.com ", "managed-csi-premium disk.csi.azure.com ",
	}))
}

// TestVersions: AKS names patches, which the lab's control plane has none of.
func TestVersions(t *testing.T) {
	for version, want := range map[string]string{"": "", "1.36": "", "1.36.2": "", "1.35": "1.35", "1.35.4": "1.35"} {
		assert.Check(t, is.Equal(olderMinor(version), want), version)
	}
	for version, want := range map[string]string{"": "", "1.35": "v1.35.0-eks-0000000", "1.35.4": "v1.35.4"} {
		assert.Check(t, is.Equal(standin.KubeletVersion(version), want), version)
	}
}
