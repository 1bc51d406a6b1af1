package rollout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"tombolo/config"
)

// Selection says which clusters an operation is about.
type Selection struct {
	// Names of clusters; with none of them, All, Selector or Waves choose among
	// all that there are.
	Names []string `json:"names,omitempty"`
	// All chooses every cluster.
	All bool `json:"all,omitempty"`
	// Selector narrows the choice by labels, in the syntax of Kubernetes, such as
	// "environment=prod,logging!=off". A cluster's labels are those of its
	// registration: the file's, environment, wave, tombolo/cluster, and
	// addon-<name>=on.
	Selector string `json:"selector,omitempty"`
	// Waves narrows the choice to clusters of these waves.
	Waves []int `json:"waves,omitempty"`
	// Status narrows the choice to clusters with one of these statuses: see Statuses.
	Status []string `json:"status,omitempty"`
}

// Empty says that nothing was chosen, and that nothing narrows a choice.
func (s Selection) Empty() bool {
	return !s.All && s.Everything()
}

// Everything says that no cluster is left out, by a command that takes all of
// them when nothing is chosen.
func (s Selection) Everything() bool {
	return len(s.Names) == 0 && s.Selector == "" && len(s.Waves) == 0 && len(s.Status) == 0
}

// String is the selection as it stands on a command line.
func (s Selection) String() string {
	var parts []string
	if s.All {
		parts = append(parts, "--all")
	}
	parts = append(parts, s.Names...)
	if s.Selector != "" {
		parts = append(parts, "--selector "+s.Selector)
	}
	for _, wave := range s.Waves {
		parts = append(parts, "--wave "+strconv.Itoa(wave))
	}
	if len(s.Status) > 0 {
		parts = append(parts, "--status "+strings.Join(s.Status, ","))
	}
	return strings.Join(parts, " ")
}

// Check says what is wrong with the selection itself; nil when nothing is.
func (s Selection) Check() error {
	if s.All && len(s.Names) > 0 {
		return fmt.Errorf("--all and %s: name clusters, or take all", strings.Join(s.Names, " "))
	}
	for _, status := range s.Status {
		if !slices.Contains(Statuses(), status) {
			return fmt.Errorf("--status %s: it is one of %s", status, strings.Join(Statuses(), ", "))
		}
	}
	_, err := s.selector()
	return err
}

// Filter returns the clusters that the selector and the waves leave of those
// given, in their order. Names and statuses are not looked at: the caller that loads
// clusters by name, and the records, knows them.
func (s Selection) Filter(clusters []*config.Cluster) ([]*config.Cluster, error) {
	selector, err := s.selector()
	if err != nil {
		return nil, err
	}
	var out []*config.Cluster
	for _, c := range clusters {
		if len(s.Waves) > 0 && !slices.Contains(s.Waves, c.Wave) {
			continue
		}
		if selector.Matches(labels.Set(c.RegistrationLabels())) {
			out = append(out, c)
		}
	}
	return out, nil
}

func (s Selection) selector() (labels.Selector, error) {
	selector, err := labels.Parse(s.Selector)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", s.Selector, err)
	}
	return selector, nil
}
