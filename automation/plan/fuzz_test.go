package plan

import (
	"encoding/json"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"

	"tombolo/tests/bounded"
)

// FuzzEvents gives a preview any stream of events, one on a line: what a provider says of
// resources of others is in them.
func FuzzEvents(f *testing.F) {
	for _, text := range []string{
		`{"resourcePreEvent":{"metadata":{"op":"update","urn":"urn:pulumi:a::b::c::d","type":"aws:ec2/vpc:Vpc","old":{"custom":true,"inputs":{"a":{"b":[1,null]}}},"new":{"custom":true,"inputs":{"a":{"b":[]}}},"diffs":["a.b[0]","a[\"b\"]","["],"detailedDiff":{"a.b[9]":{"diffKind":"update","inputDiff":true},"":{"diffKind":"?"}}}}}`,
		`{"resOutputsEvent":{"metadata":{"type":"pulumi:pulumi:Stack","old":{"outputs":{"values":1,"x":{"y":{}}}},"new":{"outputs":{"values":{"a":null},"x":[1]}}}}}`,
		`{"resourcePreEvent":{"metadata":{"op":"replace","new":{"custom":true,"inputs":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","data":{"values.yaml":"a: &a [*a]"}}}}}}`,
		`{"resourcePreEvent":{"metadata":{"op":"delete"}}}`, `{}`, `null`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e events.EngineEvent
		if json.Unmarshal(text, &e) != nil {
			return
		}
		bounded.Read(t, func() {
			var r Reader
			r.Read(e)
			r.Read(e)
			r.Stack(clusters{}, "demo-core", "core")
		})
	})
}
