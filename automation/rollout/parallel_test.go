package rollout

import (
	"io/fs"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestParallel(t *testing.T) {
	const gib = 1 << 30
	for _, test := range []struct {
		cores  int
		memory uint64
		want   int
	}{
		{2, 0, 8}, {2, 64 * gib, 8}, {2, 3 * gib, 1}, {1, gib / 2, 1}, {16, 20 * gib, 10}, {96, 512 * gib, 32},
	} {
		assert.Check(t, is.Equal(parallel(test.cores, test.memory), test.want), "%d cores, %d bytes", test.cores, test.memory)
	}
}

func TestFreeMemory(t *testing.T) {
	const meminfo = "MemTotal:       24000000 kB\nMemFree:         1000000 kB\nMemAvailable:    8000000 kB\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  uint64
	}{
		"nobody says":       {nil, 0},
		"a machine":         {map[string]string{"/proc/meminfo": meminfo}, 8000000 * 1024},
		"without a limit":   {map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory.max": "max\n", "/sys/fs/cgroup/memory.current": "5\n"}, 8000000 * 1024},
		"a small container": {map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory.max": "5000\n", "/sys/fs/cgroup/memory.current": "2000\n"}, 3000},
		"strange":           {map[string]string{"/proc/meminfo": "MemAvailable: many\n"}, 0},
	} {
		got := freeMemory(func(path string) ([]byte, error) {
			if text, ok := test.files[path]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		})
		assert.Check(t, got == test.want, "%s: got %d, want %d", name, got, test.want)
	}
}
