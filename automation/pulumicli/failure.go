package pulumicli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"

	"tombolo/automation/fault"
)

// Failed is a failed call of the SDK.
type Failed struct {
	// Stack and Operation as an error names them.
	Stack, Operation string
	// Err as the SDK returned it. Its text holds all the CLI wrote, so it
	// must not reach a reader.
	Err error
	// Record of the engine's events; nil when there were none.
	Record *Recorder
	// Program is the error the program itself returned, if it did.
	Program error
}

// maxReasons is how many of the engine's errors are shown: the first ones are
// the causes, the rest mostly follow from them.
const maxReasons = 3

// maxReason bounds the length of one reason, in bytes; providers quote whole
// documents.
const maxReason = 1500

// Failure turns a failed call into an error for people.
func (p *CLI) Failure(ctx context.Context, f Failed) error {
	if precondition := new(fault.Error); errors.As(f.Err, &precondition) {
		return precondition
	}
	if cause := ctx.Err(); cause != nil {
		return Interrupted(f, cause)
	}
	// The SDK's errors have no Unwrap: its tests come before any wrapping.
	if auto.IsConcurrentUpdateError(f.Err) {
		return p.LockedBy(f.Stack, f.Err.Error())
	}
	// A program that gives up before anything was made found that something
	// it needs is missing: the right account, core's outputs, a secret.
	if f.Program != nil && (f.Record == nil || !f.Record.touched) {
		return &fault.Error{What: f.Program.Error(), Err: f.Program}
	}
	reasons := f.reasons()
	failure := &Error{
		Stack: f.Stack, Operation: f.Operation, Reasons: reasons,
		Remedy: remedyFor(strings.Join(reasons, "\n")), Err: f.Program,
	}
	if f.Record != nil {
		failure.Causes = f.Record.Errors
	}
	return failure
}

// Interrupted is the error of an operation whose context has ended, for the cause.
func Interrupted(f Failed, cause error) error {
	what := "interrupted"
	if f.Record != nil {
		if names := f.Record.underWay(); len(names) > 0 {
			what += " during " + strings.Join(names, ", ")
		}
	}
	return &Error{
		Stack: f.Stack, Operation: f.Operation, Reasons: []string{what},
		Remedy: "run the same command again to go on from there", Err: cause,
	}
}

// reasons are the engine's first errors; without any, what the CLI itself
// wrote as an error.
func (f Failed) reasons() []string {
	var all []string
	if f.Record != nil {
		all = f.Record.Errors
	}
	if len(all) == 0 {
		all = cliErrors(f.Err.Error())
	}
	if causes := slices.DeleteFunc(slices.Clone(all), Followed); len(causes) > 0 {
		all = causes
	}
	out := make([]string, 0, maxReasons)
	for _, r := range all {
		if len(out) == maxReasons {
			return append(out, fmt.Sprintf("and %d more", len(all)-maxReasons))
		}
		out = append(out, Reason(r))
	}
	return out
}

// Reason is one of the engine's errors as it is shown: passwords in URLs, such as the
// backend's, are not.
func Reason(raw string) string {
	return shortened(unlisted(password.ReplaceAllString(raw, "$1:xxxxx@")))
}

// password is one in a URL, after its user.
var password = regexp.MustCompile(`(://[^/\s:@]*):[^/\s@]+@`)

// Followed says that a reason is no cause: a component's provider reports that
// the engine closed its connection, because something else had failed.
func Followed(reason string) bool {
	return strings.Contains(reason, "grpc: the client connection is closing")
}

// errorList is the heading that the engine and its providers give to their errors.
var errorList = regexp.MustCompile(`(?:an unhandled error occurred: )?\d+ errors? occurred:\s*\* `)

// deadProvider is how the engine reports a provider that ended at its start.
var deadProvider = regexp.MustCompile(`(?s)Detected that (\S+) exited prematurely\..*streams of the plugin:\s*`)

// unlisted is a reason without what the engine puts around it.
func unlisted(reason string) string {
	reason = deadProvider.ReplaceAllString(reason, "the provider $1 ended at its start: ")
	if !errorList.MatchString(reason) {
		return reason
	}
	return strings.ReplaceAll(errorList.ReplaceAllString(reason, ""), "\n\t* ", "; ")
}

// shortened leaves out the middle of a long reason: what failed is at its beginning,
// and why is at its end, which often is the end of a log.
func shortened(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	const head = maxReason / 3
	return strings.ToValidUTF8(reason[:head]+"…"+reason[len(reason)-maxReason+head:], "")
}

// listItem is one of several errors, in the CLI's form or its providers'.
var listItem = regexp.MustCompile(`^\s+(?:\*|\d+\)) (.*\S)`)

// cliErrors picks the error lines out of an SDK error's text.
func cliErrors(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		// Several errors in one are a heading and a list.
		if item := listItem.FindStringSubmatch(line); item != nil && len(out) > 0 {
			if item[1] != "Unknown" {
				out[len(out)-1] += "\n\t* " + item[1]
			}
			continue
		}
		if message, ok := strings.CutPrefix(strings.TrimSpace(line), "error: "); ok {
			out = append(out, message)
			continue
		}
		if _, message, ok := strings.Cut(line, "stderr: error: "); ok {
			out = append(out, strings.TrimSpace(message))
		}
	}
	if len(out) == 0 {
		line := FirstLine(text)
		if i := strings.LastIndex(line, "failed to "); i >= 0 {
			if _, cause, ok := strings.Cut(line[i:], ": "); ok {
				return []string{"the Pulumi CLI ended with " + cause}
			}
		}
		out = []string{line}
	}
	return out
}

const (
	quotaRemedy     = "ask the cloud for a higher quota or delete what is not needed, and run the same command again"
	throttledRemedy = "too many requests are made to the cloud at once: wait a few minutes, or work on fewer clusters in parallel, and run the same command again"
)

// remedies are what to do about failures that people meet often. The first
// that matches wins.
var remedies = []struct {
	match  *regexp.Regexp
	remedy string
}{
	{
		regexp.MustCompile(`did not end within \S+, and was ended`),
		"look whether the state backend, the cloud and the disk answer, and run the same command again: it goes on where it stopped",
	},
	{
		regexp.MustCompile(`(?i)incorrect passphrase|passphrase must be set`),
		"set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the passphrase the stack was made with; preview and drift need none with --without-secrets",
	},
	{
		regexp.MustCompile(`unknown secrets provider type`),
		"give --secrets-provider passphrase, or the URL of a key, such as awskms://alias/<name>?region=<region>",
	},
	{
		regexp.MustCompile(`NoSuchBucket|unable to open bucket|has an illegal prefix`),
		"make the bucket, or correct its URL in --backend or PULUMI_BACKEND_URL, and run the same command again",
	},
	{
		regexp.MustCompile(`operation error KMS: (?:En|De)crypt`),
		"make sure that the key which --secrets-provider names exists, and that the credentials in use may encrypt and decrypt with it; preview and drift need none with --without-secrets",
	},
	{
		regexp.MustCompile(`(?i)no resource plugin|could not find plugin|failed to load plugin`),
		"build the plugins with `make tools`, or install them with `pulumi plugin install`",
	},
	{
		regexp.MustCompile(`\bnode: not found|no such file or directory: node`),
		"install Node.js 20 or newer, and run the same command again",
	},
	{
		regexp.MustCompile(`configured Kubernetes cluster is unreachable|due to unreachable cluster`),
		"bring the cluster back and run the same command again; if it is gone for good, set PULUMI_K8S_DELETE_UNREACHABLE=true before",
	},
	{
		regexp.MustCompile(`error reading from server: EOF|code = Unavailable`),
		"a provider ended while it was asked (in the lab, look at `tombolo lab status`); run the same command again: what was done so far is kept",
	},
	{
		regexp.MustCompile(`failed to load checkpoint: EOF`),
		"a pulumi that was killed left an unfinished file beside the state: the next up or destroy removes it",
	},
	{
		regexp.MustCompile(`(?i)no space left on device|disk is full|file too large|disk quota exceeded`),
		"free space on the disk, and run the same command again: it goes on where it stopped",
	},
	{
		regexp.MustCompile(`failed to load checkpoint: .*unexpected end of JSON input`),
		"the file of the state is cut short, as a full disk leaves it: the next up or destroy of its cluster puts its newest whole copy back",
	},
	{
		regexp.MustCompile(`(?i)ExpiredToken|security token included in the request is expired`),
		"renew the cloud credentials and run the same command again",
	},
	{
		regexp.MustCompile(`(?i)No valid credential sources|NoCredentialProviders|failed to refresh cached credentials`),
		"set cloud credentials, for instance by AWS_PROFILE, and run the same command again",
	},
	{
		regexp.MustCompile(`(?i)AccessDenied|UnauthorizedOperation|is not authorized to perform`),
		"allow the action to the credentials in use, and run the same command again",
	},
	{
		regexp.MustCompile(`RequestLimitExceeded: |Throttl\w+: |SlowDown: |TooManyRequestsException: `),
		throttledRemedy,
	},
	{
		regexp.MustCompile(`LimitExceeded(?:Exception)?: |Cannot exceed quota`),
		quotaRemedy,
	},
	{
		regexp.MustCompile(`(?i)Please run 'az login'|AADSTS\d+|AzureCLICredential|DefaultAzureCredential: failed`),
		"sign in with `az login`, or set ARM_ variables of credentials that work without a question, and run the same command again",
	},
	{
		regexp.MustCompile(`\b(?:Linked)?AuthorizationFailed\b`),
		"give the identity in use a role that allows the action, wait some minutes until it has reached Azure, and run the same command again",
	},
	{
		regexp.MustCompile(`\bAzureKeyVaultKmsValidateIdentityPermissionCustomerError\b`),
		"wait some minutes until the role of the control plane's identity on the vault has reached Azure, and run the same command again",
	},
	{
		regexp.MustCompile(`MissingSubscriptionRegistration|\bSubscriptionNotRegistered\b`),
		"register the resource provider with `az provider register --namespace <namespace>`, wait some minutes, and run the same command again",
	},
	{
		regexp.MustCompile(`\bQuotaExceeded\b|exceeding approved .* quota|\bPublicIPCountLimitReached\b`),
		quotaRemedy,
	},
	{
		regexp.MustCompile(`exists in deleted state`),
		"bring the vault back with what is in it by addons.external-secrets.recoverVault: true in the cluster file, and run the same command again",
	},
	{
		regexp.MustCompile(`\bSoftDeletedVaultDoesNotExist\b`),
		"take recoverVault out of the cluster file, and run the same command again: there is no deleted vault to bring back",
	},
	{
		regexp.MustCompile(`\bStorageAccount(?:AlreadyTaken|InAnotherResourceGroup)\b`),
		"rename the cluster, or set cloud.resourceGroup to another one: the name of the storage account comes from both, and another account in Azure has it; one that was deleted may keep it for 14 days",
	},
	{
		// https://github.com/Azure/azure-rest-api-specs/issues/11143
		regexp.MustCompile(`\bSubnetsNotProvisioned\b`),
		"run the same command again: Azure was changing the subnet at that moment",
	},
	{
		regexp.MustCompile(`\bTooManyRequests\b|\b(?:Status=|RESPONSE )429\b`),
		throttledRemedy,
	},
	{
		regexp.MustCompile(`UpgradeBlockedOnDeprecatedAPIUsage`),
		"have what uses the deprecated APIs use their successors, wait until AKS has seen none for 12 hours, and run the same command again",
	},
	{
		regexp.MustCompile(`\bInUse\w*CannotBe(?:Deleted|Updated)\b`),
		"remove what still uses the resource, and run the same command again",
	},
	{
		regexp.MustCompile(`(?i)DependencyViolation|DeleteConflict|ResourceInUse`),
		"remove what still uses the resource, and run the same command again",
	},
	{
		regexp.MustCompile(`MountTargetConflict`),
		"a run that was killed may have left that mount target: find it with `aws efs describe-mount-targets --file-system-id <id>`, " +
			"delete it with `aws efs delete-mount-target --mount-target-id <id>`, and run the same command again",
	},
	{
		regexp.MustCompile(`(?i)PULUMI_ACCESS_TOKEN|not logged in`),
		"log in to the state backend with `pulumi login`, or set PULUMI_BACKEND_URL",
	},
}

func remedyFor(reason string) string {
	for _, r := range remedies {
		if r.match.MatchString(reason) {
			return r.remedy
		}
	}
	return "resolve the cause and run the same command again: what was done so far is kept"
}
