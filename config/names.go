package config

import "tombolo/config/field"

type (
	// Provider is a cloud.
	Provider = field.Provider
	// Effect is what a change of a key does to a cluster that lives.
	Effect = field.Effect
	// Case is a way in which a key can change, with what that does.
	Case = field.Case
)

// The clouds, and the effects of changes.
const (
	AWS               = field.AWS
	Azure             = field.Azure
	InPlace           = field.InPlace
	RollsNodes        = field.RollsNodes
	ReplacesNodeGroup = field.ReplacesNodeGroup
	NeedsRebuild      = field.NeedsRebuild
	Impossible        = field.Impossible
)

// SupportNotice is the warning of a version of Kubernetes, major.minor, whose standard
// support is over or ends soon; "" for any other. Support is that of the live cluster.
func SupportNotice(minor string, support Support) string { return NoticeOn(minor, support, today()) }
