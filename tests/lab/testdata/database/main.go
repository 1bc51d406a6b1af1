// Command database is a team's own Pulumi program, of which each cluster has a stack: it reads what core put
// out. A bucket stands for the database; the stand-in has no RDS.
package main

import (
	"errors"
	"os"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() { pulumi.Run(run) }

func run(ctx *pulumi.Context) error {
	cluster, settings := os.Getenv("TOMBOLO_CLUSTER"), config.New(ctx, "")
	core, err := pulumi.NewStackReference(ctx, "organization/tombolo/"+cluster+"-core", nil)
	if err != nil {
		return err
	}
	provider, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{Region: pulumi.String(os.Getenv("TOMBOLO_REGION"))})
	if err != nil {
		return err
	}
	bucket, err := s3.NewBucketV2(ctx, "data", &s3.BucketV2Args{Bucket: pulumi.String(cluster + "-database")}, pulumi.Provider(provider))
	if err != nil {
		return err
	}
	network := &ssm.ParameterArgs{Name: pulumi.String("/" + cluster + "/network"), Type: pulumi.String("String"), Value: core.GetStringOutput(pulumi.String("vpcId"))}
	if _, err := ssm.NewParameter(ctx, "network", network, pulumi.Provider(provider), pulumi.DependsOn([]pulumi.Resource{bucket})); err != nil {
		return err
	}
	ctx.Export("bucket", bucket.Bucket)
	ctx.Export("arn", bucket.Arn)
	ctx.Export("host", pulumi.String(settings.Require("host")))
	if settings.GetBool("broken") {
		return errors.New("no such version of the database")
	}
	return nil
}
