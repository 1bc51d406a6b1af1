package config

import (
	"slices"

	"tombolo/config/awsfacts"
	"tombolo/config/strict"
)

// inAutoMode are the managed addons whose work EKS Auto Mode does itself: "Considerations for
// Amazon EKS Auto Mode" in https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html
var inAutoMode = []string{"vpc-cni", "kube-proxy", "coredns", awsfacts.PodIdentityAgent, "aws-ebs-csi-driver"}

// checkAutoMode refuses what says how nodes are that EKS Auto Mode makes, and what it does itself.
func checkAutoMode(v *File, k Kubernetes) {
	for key, reason := range map[strict.Path]string{
		"kubernetes.nodeGroups":  "EKS Auto Mode makes the nodes",
		"kubernetes.nodeVersion": "the nodes of EKS Auto Mode follow the control plane",
		// They are in a NodeClass: https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html
		"egress":                    "the nodes of EKS Auto Mode take a proxy and authorities from a NodeClass of the platform tree",
		"addons.karpenter":          "EKS Auto Mode makes the nodes, with definitions of Karpenter's of its own",
		"addons.aws-ebs-csi-driver": "EKS Auto Mode has a driver of its own, whose StorageClasses have the provisioner ebs.csi.eks.amazonaws.com",
	} {
		if v.Doc.Has(key) {
			v.KeyProblem(key, "remove it, or remove compute: auto", "does not go with compute: auto, at line %d: %s", v.Line("kubernetes.compute"), reason)
		}
	}
	for i, a := range k.Addons {
		if slices.Contains(inAutoMode, a.Name) {
			v.Problem(strict.Path("kubernetes.addons").Index(i).Field("name"), "remove the addon, or remove compute: auto",
				"does not go with compute: auto, at line %d: EKS Auto Mode does the work of %s itself", v.Line("kubernetes.compute"), a.Name)
		}
	}
}
