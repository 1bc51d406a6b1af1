package main

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// externalSecretsModule is what the controller of External Secrets is built from. This is
// the newest release that is one module: those after it need modules that are published
// nowhere.
const externalSecretsModule = "github.com/external-secrets/external-secrets"

// vaultSDK has what Vault's plugins are made with.
const vaultSDK = "github.com/hashicorp/vault/sdk"

// externalSecretsGroup builds the controller from a copy of its module that lacks three
// things. It would register every provider and generator, which takes the SDKs of forty
// vendors; the lab's main registers those of AWS, Azure and Vault. Vault's would log in by IAM and
// LDAP, too. And its webhooks are of an older controller-runtime than everything else is compiled
// with. The server of Vault's API beside it is made of Vault's plugins (ADR 79), without what the
// SDK has for databases.
func externalSecretsGroup() group {
	return group{name: "externalsecrets", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		trimmed := changed{module: externalSecretsModule, copyTo: copyTrimmed}
		sdk := cut{module: vaultSDK, edits: []edit{lines("framework/backend.go", "connutil", 2)}}
		return goBuildChanged(ctx, src, []changed{trimmed, sdk.change()}, filepath.Join(out, "bin"), "", p, "./cmd/external-secrets", "./cmd/vault-server")
	}}
}

// copyTrimmed copies what the controller is built from. What that requires is in the
// go.mod of tools/externalsecrets.
func copyTrimmed(controller module, to string) error {
	files := map[string]string{"go.mod": "module " + externalSecretsModule + "\n\ngo 1.25\n"}
	for _, dir := range []string{"apis", "pkg"} {
		err := fs.WalkDir(os.DirFS(controller.Dir), dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") {
				return err
			}
			content, err := os.ReadFile(filepath.Join(controller.Dir, filepath.FromSlash(name)))
			if err == nil && !leftOut(name) {
				files[name] = string(content)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, registers := range []string{"pkg/provider/register", "pkg/generator/register"} {
		files[registers+"/register.go"] = "// Package register registers nothing here.\npackage register\n"
	}
	files[vaultProvider+"iamauth/left_out.go"] = "package iamauth\n\nfunc DefaultJWTProvider() {}\n\nfunc DefaultSTSProvider() {}\n"
	files[vaultProvider+"left_out.go"] = "package vault\n\nimport \"context\"\n\n" +
		"func setIamAuthToken(context.Context, *client, ...func()) (bool, error) { return false, nil }\n\n" +
		"func setLdapAuthToken(context.Context, *client) (bool, error) { return false, nil }\n"
	for name, content := range files {
		file := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// vaultProvider begins the paths of the provider of Vault.
const vaultProvider = "pkg/provider/vault/"

// leftOut says that a file of the module is not copied.
func leftOut(name string) bool {
	ways := name == vaultProvider+"auth_iam.go" || name == vaultProvider+"auth_ldap.go" || path.Dir(name) == vaultProvider+"iamauth"
	return ways || strings.HasSuffix(name, "_test.go") || path.Base(path.Dir(name)) == "register" ||
		strings.HasPrefix(name, "apis/externalsecrets/") && strings.HasSuffix(name, "_webhook.go")
}
