//go:build tools

// Package main has the module of the models in go.mod, which reads its files only.
package main

import _ "github.com/aws/aws-sdk-go/aws/awserr"
