package rollout

import (
	"bufio"
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
)

const (
	// operationMemory is what one operation takes, in bytes. Measured while core of
	// a cluster in the lab was made (resident memory at its peak): the Pulumi CLI 124
	// MiB, the EKS provider 171 MiB, the Kubernetes provider 110 MiB, which core has
	// twice. The lab stands in for the AWS provider; its users report 300 to 430 MB
	// (github.com/pulumi/pulumi-aws/issues/5860). Bootstrap takes less.
	operationMemory = 1 << 30
	// operationsPerCore is how many operations share a processor. Most of the time
	// they wait for the cloud: with two, docs/performance.md's machine idles for a
	// third of a run even where the cloud takes a fiftieth of its usual time.
	operationsPerCore = 4
	// mostParallel keeps a large machine within the request rates that a cloud
	// allows to one account.
	mostParallel = 32
)

// DefaultParallel is how many clusters are worked on at a time by default:
// four for each processor, as long as half of the memory that is free has 1 GiB
// for each; at least one, and at most 32.
func DefaultParallel() int {
	return parallel(runtime.GOMAXPROCS(0), freeMemory(os.ReadFile))
}

// parallel judges by processors and bytes of free memory; 0 bytes are unknown.
func parallel(cores int, memory uint64) int {
	n := min(cores*operationsPerCore, mostParallel)
	if memory > 0 {
		n = min(n, int(memory/2/operationMemory))
	}
	return max(1, n)
}

// freeMemory is what Linux says that processes can take, in bytes, within the
// limit of a container; 0 where it is not known.
func freeMemory(read func(string) ([]byte, error)) uint64 {
	free := meminfo(read)
	limit, okLimit := number(read, "/sys/fs/cgroup/memory.max")
	used, okUsed := number(read, "/sys/fs/cgroup/memory.current")
	if okLimit && okUsed && limit > used && (free == 0 || limit-used < free) {
		return limit - used
	}
	return free
}

func meminfo(read func(string) ([]byte, error)) uint64 {
	text, err := read("/proc/meminfo")
	if err != nil {
		return 0
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != "MemAvailable:" {
			continue
		}
		if kib, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
			return kib * 1024
		}
	}
	return 0
}

func number(read func(string) ([]byte, error), path string) (uint64, bool) {
	text, err := read(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
