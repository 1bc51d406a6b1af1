package cloudmanager

import (
	"encoding/base64"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/postgresql"
	"tombolo/lab/standin"
)

const databaseKind, ruleKind = "FlexibleServersDatabase", "FlexibleServersFirewallRule"

func server(change props) map[string]any {
	return inDemo(standin.Merged(props{
		"azureName": "shop-db", "administratorLogin": "keeper", "administratorLoginPassword": map[string]any{"name": "db-admin", "key": "password"},
		"version": "16", "sku": map[string]any{"name": "Standard_B1ms", "tier": "Burstable"}, "storage": map[string]any{"storageSizeGB": int64(32)},
		"operatorSpec": map[string]any{
			"secrets":    map[string]any{"fullyQualifiedDomainName": map[string]any{"name": "db", "key": "host"}},
			"configMaps": map[string]any{"fullyQualifiedDomainName": map[string]any{"name": "db", "key": "host"}},
		},
	}, change))
}

// TestOperatorMakesADatabase: with a password that the system's own Secret has, and writes where it is.
func TestOperatorMakesADatabase(t *testing.T) {
	o := newOperating(t)
	assert.Check(t, is.Equal(ready(o.apply(databaseKind, "orders", nil, props{"owner": map[string]any{"name": "db"}})),
		`False Warning WaitingForOwner Owner "db, Group/Kind: dbforpostgresql.azure.com/FlexibleServer" cannot be found. Progress is blocked until the owner is created.`))
	assert.Check(t, is.Contains(ready(o.apply(serverKind, "db", nil, server(nil))), "False Warning SecretNotFound couldn't resolve secret reference shop/db-admin.password"))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "db-admin", Namespace: "shop"}, Data: map[string][]byte{"pass": []byte("correct-Horse-7")}}
	_, err := o.w.client.CoreV1().Secrets("shop").Create(t.Context(), secret, metav1.CreateOptions{})
	assert.NilError(t, err)
	assert.Check(t, is.Contains(ready(o.apply(serverKind, "db", nil, server(nil))), `does not contain key "password"`))
	secret.Data = map[string][]byte{"password": []byte("weak")}
	_, err = o.w.client.CoreV1().Secrets("shop").Update(t.Context(), secret, metav1.UpdateOptions{})
	assert.NilError(t, err)
	assert.Check(t, is.Contains(ready(o.apply(serverKind, "db", nil, server(nil))), "False Error InvalidParameterValue Invalid value given for parameter administratorLoginPassword."))
	secret.Data["password"] = []byte("correct-Horse-7")
	_, err = o.w.client.CoreV1().Secrets("shop").Update(t.Context(), secret, metav1.UpdateOptions{})
	assert.NilError(t, err)

	made := o.apply(serverKind, "db", nil, server(nil))
	assert.Equal(t, ready(made), "True Succeeded")
	const host = "shop-db.postgres.database.azure.com"
	assert.Check(t, is.Equal(made.Sub("status").Str("fullyQualifiedDomainName"), host))
	assert.Check(t, is.Equal(o.written(t, 0, "db").Sub("data").Str("host"), base64.StdEncoding.EncodeToString([]byte(host))))
	assert.Check(t, is.Equal(o.written(t, 1, "db").Sub("data").Str("host"), host))
	assert.Check(t, is.Equal(o.written(t, 0, "db").Sub("metadata").Objects("ownerReferences")[0].Str("kind"), serverKind))

	within := o.apply(databaseKind, "orders", nil, props{"owner": map[string]any{"name": "db"}})
	assert.Equal(t, ready(within), "True Succeeded")
	id := armid.Group(arm.Subscription, "demo") + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/shop-db"
	assert.Check(t, arm.Same(within.Sub("status").Str("id"), id+"/databases/orders"), "%v", within.Sub("status"))
	assert.Equal(t, ready(o.apply(ruleKind, "cluster", nil, props{
		"owner": map[string]any{"armId": id}, "startIpAddress": "203.0.113.9", "endIpAddress": "203.0.113.9",
	})), "True Succeeded")
	released, err := o.remove(serverKind, "db")
	assert.Check(t, released && err == nil && len(o.client.Find(postgresql.DatabaseType, nil)) == 0, "%v %v", released, err)
}

// TestOperatorOverwritesNothing: what is not its own, it leaves alone, and says so.
func TestOperatorOverwritesNothing(t *testing.T) {
	o := newOperating(t)
	byHand := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "ids", "namespace": "shop"}, "data": map[string]any{"a": "Yg=="}}}
	_, err := o.w.objects.Resource(exported[0].resource).Namespace("shop").Create(t.Context(), byHand, metav1.CreateOptions{})
	assert.NilError(t, err)
	into := func(name, other string) props {
		return inDemo(props{"operatorSpec": map[string]any{"secrets": map[string]any{
			"clientId": map[string]any{"name": name, "key": "id"}, "tenantId": map[string]any{"name": name, "key": other},
		}}})
	}
	assert.Check(t, is.Equal(ready(o.apply(identityKind, "api", nil, into("ids", "tenant"))),
		"False Error AdditionalKubernetesObjWriteFailure cannot overwrite Secret shop/ids which is not owned by UserAssignedIdentity.managedidentity.azure.com shop/api"))
	assert.Check(t, is.Equal(o.written(t, 0, "ids").Sub("data").Str("a"), "Yg=="))
	assert.Check(t, is.Contains(ready(o.apply(identityKind, "api", nil, into("own", "id"))), "key collision"))
	assert.Equal(t, ready(o.apply(identityKind, "api", nil, into("own", "tenant"))), "True Succeeded")
	assert.Check(t, is.Len(o.written(t, 0, "own").Sub("data"), 2))
}

// written is a Secret, or a ConfigMap, that the operator has written.
func (o *operating) written(t *testing.T, kind int, name string) props {
	t.Helper()
	object, err := o.w.objects.Resource(exported[kind].resource).Namespace("shop").Get(t.Context(), name, metav1.GetOptions{})
	assert.NilError(t, err)
	return object.Object
}
