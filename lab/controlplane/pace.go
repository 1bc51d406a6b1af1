package controlplane

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"gopkg.in/yaml.v3"
)

// How long what is not the cloud's own takes, at a pace of 1.
const (
	// imageBytes of an image, as a registry has it. It is assumed: no published list has the sizes of all that the
	// platform trees name, most of which are one Go program on a small base.
	imageBytes = 120_000_000
	// pullRate of one image in bytes a second, until its files are there: what a node of EKS reads of a registry for
	// each layer. Source: https://github.com/containerd/containerd/issues/8160
	pullRate = 25_000_000
	// nodeBoot is from the request of an instance until Kubernetes has the node ready, where no node group waits for
	// it. Source, of Bottlerocket: https://github.com/keikoproj/instance-manager/pull/290; of Amazon Linux it was
	// 100 s (https://github.com/aws/karpenter-provider-aws/issues/3102) and less than 60 s
	// (https://github.com/awslabs/amazon-eks-ami/issues/1099).
	nodeBoot = 71 * time.Second
)

// pullTime of an image.
const pullTime = imageBytes * time.Second / pullRate

// karpenterNodes are nodes that no node group has: the stand-in's groups take as long as their nodes, too.
const karpenterNodes = `.metadata.labels["karpenter.sh/nodepool"]`

// kwokConfigs are kwok's stages: its own, which make nodes and pods ready at once, or at a pace the same with the
// time that nodes take to boot and pods to have their images.
func (c *cluster) kwokConfigs() ([]string, error) {
	share := filepath.Join(filepath.Dir(c.tools), "share")
	own := []string{filepath.Join(share, "kwok-nodes.yaml"), filepath.Join(share, "kwok-pods.yaml")}
	if c.pace <= 0 {
		return own, nil
	}
	var all []map[string]any
	for _, file := range own {
		stages, err := readStages(file)
		if err != nil {
			return nil, err
		}
		all = append(all, stages...)
	}
	text, err := encodeStages(paced(all, c.pace))
	if err != nil {
		return nil, err
	}
	file := c.file("kwok-stages.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, fmt.Errorf("write kwok's stages: %w", err)
	}
	return []string{file}, nil
}

func readStages(file string) ([]map[string]any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read kwok's stages: %w", err)
	}
	var all []map[string]any
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var stage map[string]any
		if err := decoder.Decode(&stage); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read kwok's stages in %s: %w", file, err)
		}
		all = append(all, stage)
	}
}

func encodeStages(stages []map[string]any) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	for _, stage := range stages {
		if err := encoder.Encode(stage); err != nil {
			return nil, fmt.Errorf("write kwok's stages: %w", err)
		}
	}
	return out.Bytes(), nil
}

// paced has the stages take their time. The images of a pod are pulled one after the other, and those of several pods
// side by side; an image that the node has already is counted again.
func paced(stages []map[string]any, pace float64) []map[string]any {
	milliseconds := func(d time.Duration) int64 { return int64(float64(d.Milliseconds()) * pace) }
	for _, stage := range stages {
		metadata, _ := stage["metadata"].(map[string]any)
		spec, _ := stage["spec"].(map[string]any)
		switch metadata["name"] {
		case "pod-ready":
			spec["delay"] = map[string]any{"durationFrom": map[string]any{"expressionFrom": fmt.Sprintf(
				`([.spec.initContainers[]?, .spec.containers[]] | map(.image) | unique | length) * %d | tostring + "ms"`, milliseconds(pullTime))}}
		case "node-initialize":
			spec["delay"] = map[string]any{"durationFrom": map[string]any{"expressionFrom": fmt.Sprintf(
				`if %s then "%dms" else "0s" end`, karpenterNodes, milliseconds(nodeBoot))}}
		}
	}
	return stages
}
