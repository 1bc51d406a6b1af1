package controlplane

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd/api"

	"tombolo/lab/kubeconfig"
	"tombolo/lab/pki"
)

// writeKubeconfigs writes the kubeconfigs of the control plane's own parts,
// and the one by which the API server has bearer tokens reviewed. The admin's
// comes last: it means that the cluster exists.
func (c *cluster) writeKubeconfigs(reviewURL string, reviewCA []byte, reviewToken string) error {
	for _, part := range []string{controllersCert, schedulerCert, adminCert} {
		crt, err := os.ReadFile(c.ca.CertFile(part))
		if err != nil {
			return fmt.Errorf("read a client certificate: %w", err)
		}
		key, err := os.ReadFile(c.ca.KeyFile(part))
		if err != nil {
			return fmt.Errorf("read a client key: %w", err)
		}
		user := &api.AuthInfo{ClientCertificateData: crt, ClientKeyData: key}
		if err := kubeconfig.Write(c.file(part+".kubeconfig"), c.endpoint(), c.ca.PEM(), user, ""); err != nil {
			return err
		}
	}
	return kubeconfig.Write(c.file("token-review.kubeconfig"), reviewURL, reviewCA, &api.AuthInfo{Token: reviewToken}, "")
}

// TokenKey is the public key for the tokens of a cluster's service accounts. It
// fails for a cluster that does not exist.
func (m *Manager) TokenKey(cluster string) (crypto.PublicKey, error) {
	exists, err := m.exists(cluster)
	if err == nil && !exists {
		err = fmt.Errorf("the lab has no cluster %s", cluster)
	}
	if err != nil {
		return nil, fmt.Errorf("read the token key: %w", err)
	}
	authority, err := pki.Open(filepath.Join(m.dir(cluster), "pki"), "lab cluster "+cluster)
	if err != nil {
		return nil, fmt.Errorf("read the token key of %s: %w", cluster, err)
	}
	data, err := os.ReadFile(authority.CertFile(serviceAccountKey))
	if err != nil {
		return nil, fmt.Errorf("read the token key of %s: %w", cluster, err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("read the token key of %s: it is no PEM", cluster)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the token key of %s: %w", cluster, err)
	}
	return key, nil
}

// adminBinding is the name that AKS gives the binding of the groups which are a cluster's
// admins, to the role cluster-admin. Source:
// https://learn.microsoft.com/azure/aks/kubernetes-rbac-entra-id
const adminBinding = "aks-cluster-admin-binding-aad"

// serviceLabels are those of objects that AKS puts into a cluster, and puts back.
var serviceLabels = map[string]string{"addonmanager.kubernetes.io/mode": "Reconcile", "kubernetes.io/cluster-service": "true"}

// diskClasses are the storage classes for disks that AKS puts into a cluster, each with the
// kind of its disks. The first one is the default. Source:
// https://learn.microsoft.com/azure/aks/concepts-storage#storage-classes
var diskClasses = []struct{ name, sku string }{
	{"default", "StandardSSD_LRS"}, {"managed-csi", "StandardSSD_LRS"}, {"managed-csi-premium", "Premium_LRS"},
}

// furnish has an AKS cluster have what AKS puts into one, as far as the lab plays it: the
// binding of its admins, and the storage classes for disks.
func furnish(ctx context.Context, client kubernetes.Interface, admins []string) error {
	if err := bindAdmins(ctx, client, admins); err != nil {
		return fmt.Errorf("bind the admins: %w", err)
	}
	for i, class := range diskClasses {
		_, err := client.StorageV1().StorageClasses().Create(ctx, diskClass(class.name, class.sku, i == 0), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("make the storage class %s: %w", class.name, err)
		}
	}
	return nil
}

func bindAdmins(ctx context.Context, client kubernetes.Interface, groups []string) error {
	bindings := client.RbacV1().ClusterRoleBindings()
	want := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: adminBinding, Labels: serviceLabels},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}
	for _, group := range groups {
		want.Subjects = append(want.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group})
	}
	_, err := bindings.Create(ctx, want, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = bindings.Update(ctx, want, metav1.UpdateOptions{})
	}
	return err
}

func diskClass(name, sku string, isDefault bool) *storagev1.StorageClass {
	wait, reclaim, expand := storagev1.VolumeBindingWaitForFirstConsumer, corev1.PersistentVolumeReclaimDelete, true
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: serviceLabels}, Provisioner: "disk.csi.azure.com",
		Parameters: map[string]string{"skuname": sku}, ReclaimPolicy: &reclaim, VolumeBindingMode: &wait, AllowVolumeExpansion: &expand,
	}
	if isDefault {
		class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	}
	return class
}
