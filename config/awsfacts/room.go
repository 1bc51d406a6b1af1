package awsfacts

import (
	"regexp"
	"strconv"
)

// Room is what pods may take of a node: the number of them, mCPU and MiB of memory.
type Room struct{ Pods, CPU, Memory int }

// sized is a type of a family whose memory follows from its size.
var sized = regexp.MustCompile(`^(t3a?|t4g|([cmr])[5-9][a-z]*(-flex)?)\.(nano|micro|small|medium|large|([0-9]*)xlarge)$`)

// smallest sizes, which have their own memory and network interfaces.
var (
	memoryOfT = map[string]int{"nano": 512, "micro": 1024, "small": 2048, "medium": 4096, "large": 8192}
	podsOfT   = map[string]int{"nano": 4, "micro": 4, "small": 11, "medium": 17, "large": 35}
)

// RoomOf is what the pods of a cluster may take of a node of an instance type, with the image of EKS:
// of the current families t, c, m and r, whose sizes decide. ok is false for others.
//
// The memory, the vCPUs and the pods (interfaces × (addresses − 1) + 2; c, m and r have at least these) are those of
// https://docs.aws.amazon.com/ec2/latest/instancetypes/ and of nodeadm/internal/kubelet/instance-info.jsonl of
// https://github.com/awslabs/amazon-eks-ami at 160ce80. Of the memory, 7.5% are the machine's own
// (vmMemoryOverheadPercent in charts/karpenter/values.yaml of aws/karpenter-provider-aws), 255 MiB and 11 for
// each pod the kubelet's, 100 MiB the threshold of evictions; of the CPU 6% of the first core,
// 1% of the second, 0.5% of the next two and 0.25% of others (nodeadm/internal/kubelet/config.go).
func RoomOf(instanceType string) (r Room, ok bool) {
	m := sized.FindStringSubmatch(instanceType)
	if m == nil {
		return Room{}, false
	}
	class, size, times := m[2], m[4], m[5]
	cores, memory := 2, memoryOfT[size]
	r.Pods = podsOfT[size]
	switch {
	case size == "nano" || size == "micro" || size == "small":
		if class != "" {
			return Room{}, false
		}
	case size == "medium" && class != "":
		cores, r.Pods = 1, 8
	case size == "large" && class != "":
		r.Pods = 29
	case size != "medium" && size != "large":
		n := 1
		if times != "" {
			n, _ = strconv.Atoi(times)
		}
		cores, r.Pods = 4*n, 58
		memory = 4 * cores << 10
	}
	if class != "" {
		memory = map[string]int{"c": 2, "m": 4, "r": 8}[class] * cores << 10
	}
	r.CPU = 1000*cores - kubeletCPU(cores)
	r.Memory = memory*925/1000 - (255 + 11*r.Pods) - 100
	return r, true
}

// kubeletCPU is what the kubelet keeps of so many cores, in mCPU.
func kubeletCPU(cores int) int {
	out := 600
	for n := 2; n <= cores; n++ {
		switch {
		case n == 2:
			out += 100
		case n <= 4:
			out += 50
		default:
			out += 25
		}
	}
	return out / 10
}
