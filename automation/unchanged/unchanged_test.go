package unchanged

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/config/addon"
)

// full fills every exported field of a value: pointers, one element of each list and map, and
// all addons of the catalogue.
func full(t *testing.T, v reflect.Value) {
	t.Helper()
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
		return
	}
	if all, ok := v.Addr().Interface().(*addon.Selection); ok {
		*all = addon.Selection{}
		for _, a := range addon.All() {
			options := a.NewOptions()
			full(t, reflect.ValueOf(options).Elem())
			(*all)[a.Name] = options
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("a")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(t, v.Elem())
	case reflect.Interface:
		v.Set(reflect.ValueOf("a"))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		full(t, v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		full(t, key)
		full(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			assert.Assert(t, field.IsExported(), "%s.%s is not exported: the digest of inputs does not see it", v.Type(), field.Name)
			if field.Type != reflect.TypeFor[*config.Account]() && field.Name != "Warnings" {
				full(t, v.Field(i))
			}
		}
	default:
		t.Fatalf("a %s: say in this test how it is changed", v.Type())
	}
}

// each changes every value that is in another, one at a time, and calls check with its name.
func each(t *testing.T, v reflect.Value, at string, check func(at string)) {
	t.Helper()
	change := func(to any) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.Set(reflect.ValueOf(to).Convert(v.Type()))
		check(at)
		v.Set(was)
	}
	switch v.Kind() {
	case reflect.String:
		change("b")
	case reflect.Bool:
		change(false)
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		change(2)
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		each(t, v.Elem(), at, check)
		was := v.Interface()
		v.SetZero()
		check(at)
		v.Set(reflect.ValueOf(was))
	case reflect.Interface:
		if inner := v.Elem(); inner.Kind() == reflect.Pointer {
			each(t, inner.Elem(), at, check)
			return
		}
		was := v.Interface()
		v.Set(reflect.ValueOf("b"))
		check(at)
		v.Set(reflect.ValueOf(was))
	case reflect.Slice:
		for i := range v.Len() {
			each(t, v.Index(i), at, check)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			put := func(at string) { v.SetMapIndex(key, value); check(at) }
			each(t, value, at+"["+key.String()+"]", put)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				each(t, v.Field(i), at+"."+v.Type().Field(i).Name, check)
			}
		}
	}
}

func digest(t *testing.T, i Inputs) string {
	t.Helper()
	out, err := i.Digest()
	assert.NilError(t, err)
	return out
}

// TestEveryKeyOfTheFileCounts: whatever is changed in a cluster file, or a hub's, the engine
// starts. Keys that are added to the file later are changed here, too: they are found by their
// types.
func TestEveryKeyOfTheFileCounts(t *testing.T) {
	var c config.Cluster
	full(t, reflect.ValueOf(&c).Elem())
	was, ofHub := digest(t, Inputs{Cluster: Content(&c)}), digest(t, Inputs{Hub: Content(&c)})
	assert.Check(t, was != ofHub)
	checked := 0
	each(t, reflect.ValueOf(&c).Elem(), "", func(at string) {
		checked++
		same := digest(t, Inputs{Cluster: Content(&c)}) == was
		assert.Check(t, same == (at == ".File"), "a change of %s has the same digest: %t", at, same)
	})
	assert.Check(t, checked > 250, "only %d values were changed", checked)
	assert.Check(t, is.Equal(digest(t, Inputs{Cluster: Content(&c)}), was))
}

// notOfCore are the keys of the file that core's program does not get.
var notOfCore = []string{
	".File", ".Wave", ".ChangeWindows", ".Drift", ".Namespaces", ".Labels", ".Annotations", ".Values", ".Services.Values",
	".GitOps.URL", ".GitOps.Branch", ".GitOps.Path", ".GitOps.Interval", ".GitOps.Auth", ".GitOps.Distribution", ".GitOps.TakeOver", ".GitOps.SealedSecrets", ".GitOps.Webhook",
}

// indexes are those of maps in the name of a key.
var indexes = regexp.MustCompile(`\[[^]]*\]`)

// TestCoreDependsOnTheRest: all other keys are in the digest of core's inputs.
func TestCoreDependsOnTheRest(t *testing.T) {
	var c config.Cluster
	full(t, reflect.ValueOf(&c).Elem())
	was := digest(t, Inputs{Cluster: Content(c.ForCore())})
	seen := map[string]bool{}
	each(t, reflect.ValueOf(&c).Elem(), "", func(at string) {
		key := indexes.ReplaceAllString(at, "")
		i := slices.IndexFunc(notOfCore, func(other string) bool { return key == other || strings.HasPrefix(key, other+".") })
		if i >= 0 {
			seen[notOfCore[i]] = true
		}
		same := digest(t, Inputs{Cluster: Content(c.ForCore())}) == was
		assert.Check(t, is.Equal(same, i >= 0), "a change of %s has the same digest of core: %t", at, same)
	})
	assert.Check(t, is.Len(seen, len(notOfCore)), "%v", seen)
}

// TestEveryInputCounts: whichever input changes, the engine starts.
func TestEveryInputCounts(t *testing.T) {
	var in Inputs
	full(t, reflect.ValueOf(&in).Elem())
	was := digest(t, in)
	fields := map[string]bool{}
	each(t, reflect.ValueOf(&in).Elem(), "", func(at string) {
		fields[strings.Split(at, ".")[1]] = true
		assert.Check(t, digest(t, in) != was, "a change of %s has the same digest", at)
	})
	assert.Check(t, is.Len(fields, reflect.TypeFor[Inputs]().NumField()), "not all inputs were changed: %v", fields)
}

// TestAllSecretsAreFound by their type, wherever they are in the file.
func TestAllSecretsAreFound(t *testing.T) {
	var c config.Cluster
	full(t, reflect.ValueOf(&c).Elem())
	want := map[string]bool{}
	each(t, reflect.ValueOf(&c).Elem(), "", func(at string) {
		for _, field := range []string{".Env", ".File", ".Config"} {
			if ref, ok := strings.CutSuffix(at, field); ok && ref != "" {
				want[ref] = true
			}
		}
	})
	found := SecretRefs(&c)
	assert.Check(t, is.Len(found, len(want)), "found %v of %v", found, want)
	assert.Check(t, found["gitops.sealedSecrets.certificate"] != nil && found["gitops.auth.password"] != nil, "%v", found)
}

// TestDigestOfAState: a write that changes nothing but its time is none.
func TestDigestOfAState(t *testing.T) {
	of := func(text string) string {
		digest, err := OfState([]byte(text))
		assert.NilError(t, err)
		return digest
	}
	was := of(`{"manifest": {"time": "2026-11-25T14:40:00Z"}, "resources": [{"urn": "a"}]}`)
	assert.Check(t, is.Equal(of(`{"manifest": {"time": "2026-11-25T14:41:00Z", "magic": "}"}, "resources": [{"urn": "a"}]}`), was))
	for _, other := range []string{
		`{"manifest": {}, "resources": [{"urn": "b"}]}`, `{"manifest": {}, "resources": [{"urn": "a"}], "pending_operations": [{}]}`, `{"manifest": {}}`,
		`{"manifest": {}, "resources": [{"urn": "a"}], "manifest": {}}`,
	} {
		assert.Check(t, of(other) != was, other)
	}
	for text, want := range map[string]string{
		"":                               "no JSON object",
		"[]":                             "no JSON object",
		"{}":                             "does not begin with its manifest",
		`{"resources":[],"manifest":{}}`: "does not begin with its manifest",
		`{"manifest":{`:                  "read the manifest of a state: unexpected EOF",
	} {
		_, err := OfState([]byte(text))
		assert.Check(t, is.ErrorContains(err, want), text)
	}
}

func TestRecord(t *testing.T) {
	at := time.Date(2026, 11, 25, 14, 40, 0, 0, time.UTC)
	r := Record{Digest: strings.Repeat("d", 43), Core: strings.Repeat("c", 43), At: at, By: "alice@laptop"}
	got, ok := Parse(r.String())
	assert.Check(t, ok)
	assert.DeepEqual(t, got, r)
	r.By = strings.Repeat("ü", 300)
	assert.Check(t, len(r.String()) <= maxTag)
	got, ok = Parse(r.String())
	assert.Check(t, ok && got.Digest == r.Digest && strings.HasPrefix(got.By, "üü"), "%+v", got)
	_, ok = Parse(`{"core": "c", "at": "2026-11-25T14:40:00Z"}`)
	assert.Check(t, ok)
	for _, text := range []string{"", "{", `{"digest": "d"}`, `{"core": "c"}`, `{"at": "2026-11-25T14:40:00Z"}`} {
		_, ok := Parse(text)
		assert.Check(t, !ok, text)
	}
}

// TestSecretsAreKeyed: a digest of a secret says nothing to who has not the key, and the same
// secret of two clusters, or under two keys of the file, has two digests.
func TestSecretsAreKeyed(t *testing.T) {
	_, ok := Key{}.Digest("demo", "gitops.auth.password", "s3cr3t")
	assert.Check(t, !ok)
	one, err := NewKey("passphrase", "file:///a")
	assert.NilError(t, err)
	other, err := NewKey("passphrase", "file:///b")
	assert.NilError(t, err)
	seen := map[string]string{}
	for name, digest := range map[string]func() (string, bool){
		"a value":         func() (string, bool) { return one.Digest("demo", "gitops.auth.password", "s3cr3t") },
		"another value":   func() (string, bool) { return one.Digest("demo", "gitops.auth.password", "other") },
		"another key":     func() (string, bool) { return one.Digest("demo", "gitops.auth.privateKey", "s3cr3t") },
		"another cluster": func() (string, bool) { return one.Digest("prod", "gitops.auth.password", "s3cr3t") },
		"another backend": func() (string, bool) { return other.Digest("demo", "gitops.auth.password", "s3cr3t") },
	} {
		out, ok := digest()
		assert.Check(t, ok, name)
		assert.Check(t, seen[out] == "", "%s and %s have one digest", name, seen[out])
		seen[out] = name
	}
	again, err := NewKey("passphrase", "file:///a")
	assert.NilError(t, err)
	value, _ := again.Digest("demo", "gitops.auth.password", "s3cr3t")
	assert.Check(t, is.Equal(seen[value], "a value"), fmt.Sprint(seen))
}
