// Package v2 stands in for the package of that name in the Go SDK of pulumi-kubernetes.
//
// The original is a switch with a type for each kind of object; the type decides only how outputs
// are unmarshalled, and the provider reads none. The type token, which is what the engine sees, is
// the same: checked against every case of the original.
package v2

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

type object struct {
	pulumi.CustomResourceState
}

// RegisterResource registers an object of any kind.
func RegisterResource(
	ctx *pulumi.Context, apiVersion, kind, name string, props pulumi.Input,
	opts ...pulumi.ResourceOption,
) (pulumi.CustomResource, error) {
	if apiVersion == "v1" {
		apiVersion = "core/v1"
	}
	var res object
	token := fmt.Sprintf("kubernetes:%s:%s", apiVersion, kind)
	if err := ctx.RegisterResource(token, name, props, &res, opts...); err != nil {
		return nil, err
	}
	return &res, nil
}
