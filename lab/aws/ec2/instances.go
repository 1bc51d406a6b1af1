package ec2

import (
	"slices"
	"strings"
)

// instanceFamilies of EC2 that EKS nodes commonly are, with memory per vCPU in
// GiB. A "g" after the generation means Graviton. Source:
// https://docs.aws.amazon.com/ec2/latest/instancetypes/
var instanceFamilies = map[string]int{
	"c5": 2, "c5a": 2, "c5d": 2, "c5n": 2, "c6a": 2, "c6g": 2, "c6gd": 2, "c6gn": 2, "c6i": 2, "c6id": 2, "c6in": 2,
	"c7a": 2, "c7g": 2, "c7gd": 2, "c7gn": 2, "c7i": 2, "c7i-flex": 2, "c8g": 2, "c8gd": 2,
	"g4dn": 4, "g5": 4, "g6": 4, "i3": 8, "i4i": 8, "i4g": 8,
	"m5": 4, "m5a": 4, "m5ad": 4, "m5d": 4, "m5n": 4, "m6a": 4, "m6g": 4, "m6gd": 4, "m6i": 4, "m6id": 4, "m6in": 4,
	"m7a": 4, "m7g": 4, "m7gd": 4, "m7i": 4, "m7i-flex": 4, "m8g": 4, "m8gd": 4, "p4d": 12, "p5": 10,
	"r5": 8, "r5a": 8, "r5d": 8, "r5n": 8, "r6a": 8, "r6g": 8, "r6gd": 8, "r6i": 8, "r6id": 8, "r7a": 8, "r7g": 8, "r7i": 8, "r7iz": 8, "r8g": 8,
	"t3": 4, "t3a": 4, "t4g": 4, "x2gd": 16,
}

// instanceSizes and their vCPUs.
var instanceSizes = map[string]int{
	"nano": 2, "micro": 2, "small": 2, "medium": 2, "large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16,
	"8xlarge": 32, "9xlarge": 36, "12xlarge": 48, "16xlarge": 64, "18xlarge": 72, "24xlarge": 96, "32xlarge": 128, "48xlarge": 192, "metal": 96,
}

// KnownInstance reports whether there is an instance type of a name.
func KnownInstance(typ string) bool {
	family, size, _ := strings.Cut(typ, ".")
	if instanceFamilies[family] == 0 || instanceSizes[size] == 0 {
		return false
	}
	small := slices.Contains([]string{"nano", "micro", "small"}, size)
	return strings.HasPrefix(family, "t") || !small && (size != "medium" || InstanceArch(typ) == "arm64" || strings.HasSuffix(family, "7a"))
}

// InstanceArch is the CPU architecture, as Kubernetes spells it.
func InstanceArch(typ string) string {
	family, _, _ := strings.Cut(typ, ".")
	if i := strings.IndexAny(family, "0123456789"); i >= 0 && i+1 < len(family) && family[i+1] == 'g' {
		return "arm64"
	}
	return "amd64"
}

// instanceCapacity is the number of vCPUs and the memory in MiB.
func instanceCapacity(typ string) (vcpus, memory int) {
	family, size, _ := strings.Cut(typ, ".")
	vcpus = instanceSizes[size]
	if strings.HasPrefix(family, "t") {
		small := map[string]int{"nano": 512, "micro": 1024, "small": 2048, "medium": 4096}
		if memory = small[size]; memory > 0 {
			return vcpus, memory
		}
	}
	if size == "medium" {
		vcpus = 1
	}
	return vcpus, vcpus * instanceFamilies[family] * 1024
}
