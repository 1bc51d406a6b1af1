package promote

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/host"
	"tombolo/cmd/tombolo/render"
	"tombolo/tests/azurerepos"
	"tombolo/tests/files"
)

// The accounts: the build service opens requests, the promoter moves branches, people vote.
var (
	builds   = azurerepos.Account{ID: "build", Kind: "Microsoft.TeamFoundation.ServiceIdentity", Rights: azurerepos.Rights{PullRequests: true}}
	promoter = azurerepos.Account{ID: "promoter", Kind: "Microsoft.VisualStudio.Services.Claims.AadServicePrincipal", Rights: azurerepos.Rights{PullRequests: true, Push: true, Bypass: true}}
	pushes   = azurerepos.Account{ID: "pushes", Rights: azurerepos.Rights{PullRequests: true, Push: true}}
	reads    = azurerepos.Account{ID: "reads"}
	ada      = azurerepos.Account{ID: "ada", Rights: azurerepos.Rights{Push: true}}
	bobo     = azurerepos.Account{ID: "bobo", Rights: azurerepos.Rights{Push: true}}
)

// fixture is a project whose clusters follow dev, test and main, and a clone of their repository.
type fixture struct {
	*azurerepos.Server
	project, clone string
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	f := fixture{project: clitest.Project(t, map[string]string{}), clone: t.TempDir()}
	for i, branch := range []string{"dev", "test", "main"} {
		text := strings.Replace(clitest.ClusterFile(branch, branch, i), "  path:", "  branch: "+branch+"\n  path:", 1)
		files.Write(t, filepath.Join(f.project, "clusters", branch+".yaml"), text)
	}
	bare := t.TempDir()
	files.Git(t, bare, "init", "--quiet", "--bare", "--initial-branch", "main")
	files.Git(t, f.clone, "init", "--quiet", "--initial-branch", "dev")
	files.Git(t, f.clone, "remote", "add", "origin", bare)
	f.commit(t, "addons/istio/release.yaml", "1\n")
	f.push(t, "dev", "test", "main")
	f.Server = azurerepos.New(t, bare, map[string]azurerepos.Account{"builds": builds, "promoter": promoter, "pushes": pushes, "reads": reads})
	return f
}

// commit makes a commit in the clone.
func (f fixture) commit(t *testing.T, file, text string) {
	t.Helper()
	files.Write(t, filepath.Join(f.clone, file), text)
	files.Git(t, f.clone, "add", "--all")
	files.Git(t, f.clone, "commit", "--quiet", "--message", "change "+file)
}

// push puts branches where the clone is.
func (f fixture) push(t *testing.T, branches ...string) {
	t.Helper()
	for _, b := range branches {
		files.Git(t, f.clone, "push", "--quiet", "origin", "HEAD:refs/heads/"+b)
	}
}

// promote runs the command after a fetch, with the token of an account.
func (f fixture) promote(t *testing.T, token string, args ...string) (status string, err error) {
	t.Helper()
	files.Git(t, f.clone, "fetch", "--quiet", "origin")
	return f.run(t, token, args...)
}

func (f fixture) run(t *testing.T, token string, args ...string) (string, error) {
	t.Helper()
	out, _, err := f.both(t, token, args...)
	return out, err
}

func (f fixture) both(t *testing.T, token string, args ...string) (status, documents string, err error) {
	t.Helper()
	c := clitest.At(f.project, render.Plain)
	c.In.WriteString("promoter\n")
	env := map[string]string{"SYSTEM_ACCESSTOKEN": token, "SYSTEM_COLLECTIONURI": f.URL + "/", "SYSTEM_TEAMPROJECTID": azurerepos.ProjectID, "BUILD_REPOSITORY_ID": azurerepos.RepositoryID}
	c.Lookup = clitest.Env(env)
	for i, a := range args {
		if a == "json" {
			c.Globals.Output, args = render.JSON, append(args[:i:i], args[i+1:]...)
			break
		}
	}
	err = clitest.Execute(t, NewCmdPromote(c.Factory), append([]string{f.clone}, args...)...)
	return c.ErrOut.String(), c.Out.String(), err
}

// TestPromotion takes a change from dev to test to main by two requests, each of them approved.
func TestPromotion(t *testing.T) {
	f := newFixture(t)
	f.Policies = []azurerepos.Policy{{Branch: "test", Name: "Minimum number of reviewers", Blocking: true, Status: "approved"}, {Branch: "main", Name: "Build", Blocking: true, Status: "notApplicable"}}
	status, err := f.promote(t, "builds")
	assert.NilError(t, err)
	assert.Equal(t, status, "✔ dev and test are at the same commit\n✔ test and main are at the same commit\n")
	f.commit(t, "addons/istio/release.yaml", "2\n")
	f.commit(t, "systems/shop.yaml", "1\n")
	f.push(t, "dev")
	tip := f.Tip(t, "dev")
	for i, step := range [][2]string{{"dev", "test"}, {"test", "main"}} {
		from, to := step[0], step[1]
		before := f.Tip(t, to)
		status, err := f.promote(t, "builds")
		assert.NilError(t, err)
		assert.Check(t, is.Contains(status, "from "+from+" to "+to+": opened, "+f.URL+"/"+azurerepos.ProjectID+"/_git/"+azurerepos.RepositoryID+"/pullrequest/"))
		_, texts := f.Pulls()
		for _, want := range []string{"<!-- tombolo:preview:promotion -->\n", "change systems/shop.yaml", "**addon istio**", "**system shop**", "2 | 2 | a fast-forward |", "promote --complete"} {
			assert.Check(t, is.Contains(texts[i], want))
		}
		status, err = f.promote(t, "promoter", "--complete")
		assert.NilError(t, err)
		assert.Check(t, is.Contains(status, "waits: 0 approvals of 1\n"))
		assert.Equal(t, f.Tip(t, to), before)
		f.Vote(t, ada, from, to, 10)
		status, err = f.run(t, "builds", "--complete", "--token-stdin")
		assert.NilError(t, err)
		assert.Check(t, is.Contains(status, "✔ "+to+" is at commit "+tip+" of "+from))
		assert.Equal(t, f.Tip(t, to), tip)
	}
	_, err = f.promote(t, "builds")
	assert.NilError(t, err)
	all, _ := f.Pulls()
	assert.DeepEqual(t, all, []string{"1 abandoned dev test", "2 abandoned test main"})

	// Where Azure Repos completes what was pushed, nothing is abandoned.
	f.Completes = true
	f.commit(t, "systems/shop.yaml", "2\n")
	f.push(t, "dev")
	for range 2 {
		_, err = f.promote(t, "builds")
		assert.NilError(t, err)
		_, err = f.run(t, "promoter", "--complete", "--approvals", "0")
		assert.NilError(t, err)
	}
	_, err = f.promote(t, "builds")
	assert.NilError(t, err)
	all, _ = f.Pulls()
	assert.DeepEqual(t, all[2:], []string{"3 completed dev test", "4 completed test main"})
}

// TestASecondRunChangesTheSameRequest: nothing is sent while nothing has changed; a change of the
// branch changes the description, unless a person has written another one.
func TestASecondRunChangesTheSameRequest(t *testing.T) {
	f := newFixture(t)
	f.commit(t, "apps/hello/a.yaml", "1\n")
	f.push(t, "dev")
	_, err := f.promote(t, "builds")
	assert.NilError(t, err)
	assert.Equal(t, len(f.Changes()), 1)
	status, err := f.promote(t, "builds")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(status, "pull request 1 from dev to test: unchanged"))
	assert.Equal(t, len(f.Changes()), 0)

	f.commit(t, "apps/hello/b.yaml", "1\n")
	f.push(t, "dev")
	status, err = f.promote(t, "builds")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(status, "pull request 1 from dev to test: updated"))
	all, texts := f.Pulls()
	assert.DeepEqual(t, all, []string{"1 active dev test"})
	assert.Check(t, is.Contains(texts[0], "apps/hello/b.yaml"))

	f.Describe("dev", "test", "By hand")
	f.Changes()
	_, err = f.promote(t, "builds")
	assert.NilError(t, err)
	assert.Equal(t, len(f.Changes()), 0)
}

// TestWhatIsNotApproved: each lack keeps the branch where it is, and is said.
func TestWhatIsNotApproved(t *testing.T) {
	f := newFixture(t)
	f.commit(t, "apps/hello/a.yaml", "1\n")
	f.push(t, "dev")
	_, err := f.promote(t, "builds")
	assert.NilError(t, err)
	before := f.Tip(t, "test")
	waits := func(want ...string) {
		t.Helper()
		_, documents, err := f.both(t, "promoter", "--complete", "--approvals", "2", "json")
		assert.NilError(t, err)
		var got result
		assert.NilError(t, json.NewDecoder(strings.NewReader(documents)).Decode(&got))
		assert.Check(t, got.State == "waiting" && got.Type == "promoted" && got.Number == 1, documents)
		assert.DeepEqual(t, got.Waits, want)
		assert.Equal(t, f.Tip(t, "test"), before)
	}
	f.Vote(t, ada, "dev", "test", 10)
	f.Vote(t, azurerepos.Account{ID: "reader"}, "dev", "test", 10)
	f.Vote(t, promoter, "dev", "test", 10)
	waits("1 approval of 2")
	f.Vote(t, bobo, "dev", "test", 5)
	f.Policies = []azurerepos.Policy{{Branch: "test", Name: "Build", Blocking: true, Status: "running"}, {Branch: "test", Name: "Work items", Status: "rejected"}, {Branch: "main", Name: "Comments", Blocking: true, Status: "rejected"}}
	waits("the policy Build (running)")
	f.Policies[0].Status = "approved"
	f.Vote(t, azurerepos.Account{ID: "carol"}, "dev", "test", -5)
	waits("carol@acme.example is against it")
	f.Vote(t, azurerepos.Account{ID: "carol"}, "dev", "test", 0)
	f.Draft("dev", "test", true)
	waits("it is a draft")
	f.Draft("dev", "test", false)

	// Votes are for the commit that they were given for, and not for a later one.
	f.commit(t, "apps/hello/b.yaml", "1\n")
	other := files.Git(t, f.clone, "rev-parse", "refs/remotes/origin/dev")
	f.push(t, "dev")
	files.Git(t, f.clone, "update-ref", "refs/remotes/origin/dev", other)
	waits("dev has moved on since it was fetched", "0 approvals of 2")

	f.Vote(t, ada, "dev", "test", 10)
	f.Vote(t, bobo, "dev", "test", 10)
	files.Git(t, f.clone, "fetch", "--quiet", "origin")
	_, err = f.run(t, "promoter", "--complete", "--approvals", "2")
	assert.NilError(t, err)
	assert.Equal(t, f.Tip(t, "test"), f.Tip(t, "dev"))
}

// TestABranchThatIsNotMoved: what Azure Repos refuses is an error with what to do.
func TestABranchThatIsNotMoved(t *testing.T) {
	f := newFixture(t)
	f.commit(t, "apps/hello/a.yaml", "1\n")
	f.push(t, "dev")
	_, err := f.promote(t, "builds")
	assert.NilError(t, err)
	f.Policies = []azurerepos.Policy{{Branch: "test", Name: "Build", Blocking: true, Status: "approved"}}
	before := f.Tip(t, "test")
	for token, want := range map[string]string{
		"builds": `promote dev to test: Azure Repos answers writePermissionRequired; allow "Contribute" on the branch`,
		"pushes": `rejectedByPolicy: TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch.; allow "Bypass policies when pushing"`,
		"nobody": "the host answers 203",
	} {
		_, err := f.run(t, token, "--complete", "--approvals", "0")
		assert.Check(t, is.ErrorContains(err, want))
		assert.Equal(t, f.Tip(t, "test"), before)
	}
	_, err = f.run(t, "reads")
	assert.NilError(t, err, "it is open, and says what it brings")

	// Somebody has pushed to test since the fetch: it stays, and so does their commit.
	files.Git(t, f.clone, "checkout", "--quiet", "--detach", before)
	f.commit(t, "fix", "1\n")
	f.push(t, "test")
	fix := f.Tip(t, "test")
	files.Git(t, f.clone, "update-ref", "refs/remotes/origin/test", before)
	_, err = f.run(t, "promoter", "--complete", "--approvals", "0")
	assert.ErrorContains(t, err, "staleOldObjectId; somebody has pushed to the branch meanwhile: fetch it, and promote again")
	assert.Equal(t, f.Tip(t, "test"), fix)

	// After a fetch they have diverged: the other promotions are made, and the error says it.
	_, err = f.promote(t, "builds")
	assert.ErrorContains(t, err, "origin/dev cannot be promoted to origin/test: origin/test has 1 commit")
	all, _ := f.Pulls()
	assert.DeepEqual(t, all, []string{"1 active dev test", "2 active test main"})
}

// TestTheDescriptionFits: however much a promotion brings, Azure Repos takes its description.
func TestTheDescriptionFits(t *testing.T) {
	f := newFixture(t)
	for i := range 60 {
		files.Write(t, filepath.Join(f.clone, "addons", strings.Repeat("x", 150)+string(rune('A'+i)), "a.yaml"), "1\n")
	}
	f.commit(t, "a", "1\n")
	f.push(t, "dev")
	_, err := f.promote(t, "builds")
	assert.NilError(t, err)
	_, texts := f.Pulls()
	assert.Check(t, len(texts[0]) < host.AzureText && strings.HasSuffix(texts[0], completion), "%d", len(texts[0]))
	assert.Check(t, is.Contains(texts[0], "| 1 | 61 | a fast-forward |"))
}

func TestRefused(t *testing.T) {
	f := newFixture(t)
	for want, args := range map[string][]string{
		"--approvals needs --complete": {"--approvals", "2"},
		"--approvals is -1":            {"--complete", "--approvals", "-1"},
		`the repository is "tree"`:     {"--repository", "tree"},
	} {
		_, err := f.run(t, "builds", args...)
		assert.Check(t, is.ErrorContains(err, want))
	}
	_, err := f.run(t, "", "--complete")
	assert.ErrorContains(t, err, "SYSTEM_ACCESSTOKEN is not set; give the step the job's token")
}
