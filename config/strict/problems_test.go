package strict

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestOnce(t *testing.T) {
	of := func(with, message string) Problem {
		return Problem{File: "_prod.yaml", Line: 1, Column: 1, Message: message, Remedy: "mend it", With: with}
	}
	got := Problems{
		of("a.yaml", "is bad"), of("edge-1.yaml", "is bad"), of("edge-1.yaml", "is bad"), of("edge-2.yaml", "is bad"), of("edge-3.yaml", "is bad"),
		of("edge-1.yaml", "edge-1-role is long"), of("edge-2.yaml", "edge-2-role is long"),
		of("edge-1.yaml", "is of the file"), of("", "is of the file"),
	}.Once()
	want := `_prod.yaml:1:1: is bad, together with a.yaml, edge-1.yaml and 2 other files; mend it
_prod.yaml:1:1: edge-1-role is long, together with edge-1.yaml and edge-2.yaml; mend it
_prod.yaml:1:1: is of the file; mend it`
	assert.Check(t, got.Error() == want, "got\n%s\nwant\n%s", got.Error(), want)
}

func TestProblemString(t *testing.T) {
	p := Problem{
		File: "clusters/x.yaml", Line: 12, Column: 9, Path: "kubernetes.nodeGroups[1].name",
		Message: `"system" is already used at line 8`, Remedy: "give each node group its own name",
	}
	want := `clusters/x.yaml:12:9: kubernetes.nodeGroups[1].name: "system" is already used at line 8; give each node group its own name`
	assert.Check(t, is.Equal(p.String(), want))
	p.Path, p.Remedy = "", ""
	if got, want := p.String(), `clusters/x.yaml:12:9: "system" is already used at line 8`; got != want {
		t.Errorf("String = %s; expected %s", got, want)
	}
}

func TestProblemsInOrder(t *testing.T) {
	a1, a2, b := Problem{File: "a", Line: 2, Column: 1}, Problem{File: "a", Line: 2, Column: 7}, Problem{File: "b", Line: 1}
	got := Problems{b, a2, a1, a1}.InOrder()
	assert.Check(t, is.DeepEqual(got, Problems{a1, a2, b}))
	if err := (Problems{}).Err(); err != nil {
		t.Errorf("err of no problems = %v", err)
	}
}

func TestPathParent(t *testing.T) {
	for p, want := range map[Path]Path{
		"name":                          "",
		"cloud.region":                  "cloud",
		"kubernetes.nodeGroups[1]":      "kubernetes.nodeGroups",
		"kubernetes.nodeGroups[1].name": "kubernetes.nodeGroups[1]",
		Path("labels").Key("a.b/c[0]"):  "labels",
		Path("labels").Key("team"):      "labels",
	} {
		assert.Check(t, is.Equal(p.parent(), want), "%v", p)
	}
}

func TestSound(t *testing.T) {
	d := NewDocument("a.yaml")
	d.broken["a"] = true
	for p, want := range map[Path]bool{"a": false, "a.b": false, "a[0].b": false, Path("a").Key("x.y"): false, "ab": true, "": true, "b.a": true} {
		assert.Check(t, d.Sound(p) == want, "%q is sound: %v", p, !want)
	}
	assert.Check(t, !d.Sound("b", "a.b"), "one of two is broken")
	if d.broken[""] = true; d.Sound("b") {
		t.Error("the whole is broken")
	}
}
