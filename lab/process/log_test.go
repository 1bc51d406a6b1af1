package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestLogExcerpt(t *testing.T) {
	for _, test := range []struct{ name, log, want string }{
		{"lines", "one\n\ntwo\n", "\n  the end of LOG:\n  one\n  two"},
		{"empty", "\n", "\n  its log LOG is empty"},
		{
			"a panic's cause, not its stack", "starting\npanic: no quorum\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1\n",
			"\n  the end of LOG:\n  starting\n  panic: no quorum",
		},
		{
			"full disk", "failed to create WAL: no space left on device\nbye\n",
			": the disk is full\n  the end of LOG:\n  failed to create WAL: no space left on device\n  bye",
		},
		{"the last lines", strings.Repeat("before\n", 20) + strings.Repeat("last\n", excerptLines), "\n  the end of LOG:" + strings.Repeat("\n  last", excerptLines)},
		{"a wide line", strings.Repeat("x", excerptWidth+1), "\n  the end of LOG:\n  " + strings.Repeat("x", excerptWidth) + "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "etcd.log")
			assert.NilError(t, os.WriteFile(file, []byte(test.log), 0o600))
			got, want := logExcerpt(file), strings.ReplaceAll(test.want, "LOG", file)
			assert.Check(t, got == want, "got  %q\nwant %q", got, want)
		})
	}
}
