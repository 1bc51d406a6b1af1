package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/golden"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/gitops"
	"tombolo/config/identity"
	"tombolo/tests/files"
)

func TestGoodFiles(t *testing.T) {
	for _, file := range goodFiles(t) {
		c, err := Load(file)
		if err != nil {
			t.Errorf("Load(%s): %v", file, err)
			continue
		}
		assert.Check(t, c.File == file, "File = %q; expected %q", c.File, file)
	}
}

func TestLoadFull(t *testing.T) {
	c := loadGood(t, "full.yaml")
	velero := c.Services[1].Identity
	assert.Check(t, velero.ServiceAccount == "velero-server" && velero.Mode == identity.PodIdentity, "velero's identity = %+v", velero)
	wantValues := map[string]any{
		"policy": "upsert-only", "domainFilters": []any{"example.com"},
		"interval": "1m", "since": "2025-11-01", "serviceMonitor": nil, "zone": map[string]any{"fromSsm": "/shop/zone"},
		"database": map[string]any{
			"host":     map[string]any{"fromStack": "data/prod", "output": "db.host"},
			"replicas": []any{map[string]any{"fromStack": "data/prod", "output": `replicas["eu-1"]`}},
		},
	}
	assert.Check(t, is.DeepEqual(c.Services[0].Values, wantValues))
	wantLabels := map[string]string{"example.com/pool": "batch", "example.com/team": "storage"}
	assert.Check(t, is.DeepEqual(c.Namespaces[2].Labels, wantLabels))
	wantEnv := map[string]any{"env": map[string]any{"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": int64(1)}}
	assert.Check(t, is.DeepEqual(c.Kubernetes.Addons[0].Configuration, wantEnv))
}

func TestDefaults(t *testing.T) {
	c := loadGood(t, "minimal.yaml")
	size := c.Kubernetes.NodeGroups[0].Size
	assert.Check(t, *size.Min == 1 && *size.Max == 1 && *size.Desired == 1, "size = %d, %d, %d; expected 1, 1, 1", *size.Min, *size.Max, *size.Desired)
	if want := "https://github.com/fluxcd/flux2/releases/download/v2.7.5/install.yaml"; c.GitOps.Distribution.URL != want {
		t.Errorf("distribution url = %q; expected %q", c.GitOps.Distribution.URL, want)
	}
	c = loadGood(t, "ssh-auth.yaml")
	size = c.Kubernetes.NodeGroups[0].Size
	assert.Check(t, *size.Min == 1 && *size.Max == 3 && *size.Desired == 3, "size with desired: 3 = %d, %d, %d; expected 1, 3, 3", *size.Min, *size.Max, *size.Desired)
	c = loadGood(t, "private-only.yaml")
	assert.Check(t, c.Kubernetes.Logs != nil && len(c.Kubernetes.Logs) == 0, "logs: [] = %v; an empty list must stay empty", c.Kubernetes.Logs)
	c = loadGood(t, "existing-network.yaml")
	assert.Check(t, c.Network.NAT == "" && c.Network.Endpoints == nil && c.GitOps.Distribution.URL == "", "defaults that do not apply are set: %+v, %+v", c.Network, c.GitOps.Distribution)
	if c.GitOps.Auth.Username != "git" {
		t.Errorf("username = %q; expected git", c.GitOps.Auth.Username)
	}
}

func TestByteOrderMark(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "minimal.yaml", "\xef\xbb\xbf"+readGood(t, "minimal.yaml"))
	if _, err := Load(filepath.Join(dir, "minimal.yaml")); err != nil {
		t.Errorf("Load with a byte order mark: %v", err)
	}
}

func TestLoadMissingFile(t *testing.T) {
	_, err := Load("testdata/nowhere.yaml")
	want := "read cluster file testdata/nowhere.yaml: file does not exist; check the path, or name the cluster"
	if err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load = %v; expected %s", err, want)
	}
}

func TestLoadHugeFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "huge.yaml")
	write(t, dir, "huge.yaml", strings.Repeat("\x00", 256<<10+1))
	_, err := Load(file)
	want := file + ":1:1: has 262145 bytes; a cluster file has at most 262144; move long values to the GitOps repository"
	assert.Check(t, is.Error(err, want))
}

func TestLoadDir(t *testing.T) {
	dir := t.TempDir()
	minimal := readGood(t, "minimal.yaml")
	write(t, dir, "b.yaml", strings.Replace(minimal, "name: minimal", "name: b", 1))
	write(t, dir, "a.yaml", strings.Replace(minimal, "name: minimal", "name: a", 1))
	write(t, dir, "Pulumi.a-core.yaml", "encryptionsalt: v1")
	write(t, dir, "README.md", "cluster files")
	clusters, err := LoadDir(dir)
	assert.NilError(t, err)
	var names []string
	for _, c := range clusters {
		names = append(names, c.Name)
	}
	assert.Check(t, reflect.DeepEqual(names, []string{"a", "b"}), "names = %v; expected a, b", names)
}

func TestLoadDirFileNames(t *testing.T) {
	dir := t.TempDir()
	minimal := readGood(t, "minimal.yaml")
	write(t, dir, "minimal.yaml", minimal)
	write(t, dir, "copy.yaml", minimal)
	write(t, dir, "old.yaml", strings.Replace(minimal, "name: minimal", "name: new", 1))
	write(t, dir, "short.yml", strings.Replace(minimal, "name: minimal", "name: short", 1))
	write(t, dir, "wrong.yaml", strings.Replace(minimal, "name: minimal", "name: wrong\nnmae: wrong", 1))
	_, err := LoadDir(dir)
	if err == nil {
		t.Fatal("LoadDir accepts it")
	}
	got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	golden.Assert(t, got+"\n", "dir.golden")
}

// TestHubsOfSpokes expects a problem between two files to be reported at the
// spoke, both when all files are read and when only the spoke is.
func TestHubsOfSpokes(t *testing.T) {
	dir := t.TempDir()
	hub, spoke := readGood(t, "mgmt.yaml"), readGood(t, "spoke.yaml")
	write(t, dir, "mgmt.yaml", hub)
	write(t, dir, "flux.yaml", strings.Replace(readGood(t, "minimal.yaml"), "name: minimal", "name: flux", 1))
	of := func(name string, changes ...string) {
		changes = append(changes, "name: spoke", "name: "+name)
		write(t, dir, name+".yaml", strings.NewReplacer(changes...).Replace(spoke))
	}
	of("fine")
	of("absent", "hub: mgmt", "hub: mgnt")
	of("of-flux", "hub: mgmt", "hub: flux")
	of("of-spoke", "hub: mgmt", "hub: fine")
	of("turn-a", "hub: mgmt", "hub: turn-b")
	of("turn-b", "hub: mgmt", "hub: turn-a")
	of("far", "222233334444", "333344445555")
	of("china", "eu-central-1", "cn-north-1")
	of("early", "environment: dev", "environment: dev\nwave: 0")
	_, err := LoadDir(dir)
	if err == nil {
		t.Fatal("LoadDir accepts it")
	}
	strip := func(err error) string { return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "") }
	golden.Assert(t, strip(err)+"\n", "hubs.golden")

	var alone []string
	for _, name := range []string{"absent", "china", "early", "far", "of-flux", "of-spoke", "turn-a", "turn-b"} {
		_, err := Load(filepath.Join(dir, name+".yaml"))
		assert.Assert(t, err != nil, "Load accepts %s", name)
		alone = append(alone, strip(err))
	}
	assert.Check(t, is.DeepEqual(strings.Join(alone, "\n"), strip(err)))
}

func TestLoadHub(t *testing.T) {
	spoke := loadGood(t, "spoke.yaml")
	if spoke.Wave != 1 || spoke.GitOps.ArgoCD.Credentials != gitops.CredentialsAWS || spoke.GitOps.Branch != "" || spoke.EngineNamespace() != "tombolo" {
		t.Errorf("the spoke has wave %d, credentials %q, branch %q, namespace %s", spoke.Wave,
			spoke.GitOps.ArgoCD.Credentials, spoke.GitOps.Branch, spoke.EngineNamespace())
	}
	hub, err := LoadHub(spoke)
	assert.NilError(t, err)
	if want := "https://raw.githubusercontent.com/argoproj/argo-cd/v3.2.1/manifests/ha/install.yaml"; hub.Name != "mgmt" || hub.GitOps.Distribution.URL != want {
		t.Errorf("the hub is %s with %s", hub.Name, hub.GitOps.Distribution.URL)
	}
	if again, err := LoadHub(hub); err != nil || again != hub || !hub.IsHub() || hub.EngineNamespace() != "argocd" {
		t.Errorf("the hub of the hub is %v, %v", again, err)
	}
	broken := filepath.Join(t.TempDir(), "spoke.yaml")
	write(t, filepath.Dir(broken), "spoke.yaml", readGood(t, "spoke.yaml"))
	write(t, filepath.Dir(broken), "mgmt.yaml", strings.Replace(readGood(t, "mgmt.yaml"), "wave: 1", "wave: 100", 1))
	if _, err := Load(broken); err == nil || !strings.Contains(err.Error(), "mgmt.yaml:4:7: wave: 100 is too large; use a number from 0 to 99") {
		t.Errorf("with a broken hub: %v", err)
	}
}

func TestInOrder(t *testing.T) {
	cluster := func(name, hub string, wave int) *Cluster {
		return &Cluster{Name: name, Wave: wave, GitOps: gitops.GitOps{Engine: gitops.ArgoCD, Hub: hub}}
	}
	flux := &Cluster{Name: "old", GitOps: gitops.GitOps{Engine: gitops.Flux}}
	clusters := []*Cluster{
		cluster("later", "mgmt", 2), cluster("a", "mgmt", 1), cluster("mgmt", "mgmt", 1), cluster("b", "elsewhere", 1), flux,
	}
	sorted, err := InOrder(clusters)
	assert.NilError(t, err)
	var names []string
	for _, c := range sorted {
		names = append(names, c.Name)
	}
	if want := []string{"old", "mgmt", "a", "b", "later"}; !reflect.DeepEqual(names, want) {
		t.Errorf("order %v; expected %v", names, want)
	}
	_, err = InOrder(append(clusters, cluster("early", "mgmt", 0)))
	if want := "cluster early is in wave 0, before its hub mgmt in wave 1; give it wave 1 or a later one"; err == nil || err.Error() != want {
		t.Errorf("InOrder = %v; expected %s", err, want)
	}
}

func TestLoadDirMissing(t *testing.T) {
	_, err := LoadDir("testdata/nowhere")
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "read directory of cluster files testdata/nowhere: ") {
		t.Errorf("LoadDir = %v", err)
	}
	if clusters, err := LoadDir(t.TempDir()); err != nil || len(clusters) != 0 {
		t.Errorf("LoadDir of an empty directory = %v, %v; expected nothing", clusters, err)
	}
}

// loadGood loads a good file.
func loadGood(t *testing.T, name string) *Cluster {
	t.Helper()
	return loadFile(t, filepath.Join("testdata/good", name))
}

// loadText loads a file of this text.
func loadText(t *testing.T, text string) *Cluster {
	t.Helper()
	file := filepath.Join(t.TempDir(), "base.yaml")
	files.Write(t, file, text)
	return loadFile(t, file)
}

func loadFile(t *testing.T, file string) *Cluster {
	t.Helper()
	c, err := Load(file)
	assert.NilError(t, err)
	return c
}

func readGood(t testing.TB, name string) string {
	t.Helper()
	return files.Read(t, filepath.Join("testdata/good", name))
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
}

// FuzzLoad expects any content to be read or refused with complete problems.
func FuzzLoad(f *testing.F) {
	for _, file := range goodFiles(f) {
		content, err := os.ReadFile(file)
		assert.NilError(f, err)
		f.Add(content)
	}
	for _, archive := range badArchives(f) {
		for _, c := range badCases(f, archive) {
			f.Add(c.content)
		}
	}
	for _, text := range largest(f) {
		f.Add([]byte(text))
	}
	f.Fuzz(readAny)
}
