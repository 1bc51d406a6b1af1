// Command data is a Pulumi program as another team has one: a bucket, a queue and
// parameters of Parameter Store. Its outputs are what a cluster's services need. The
// database is described only: the stand-in has no RDS.
package main

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/sqs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() { pulumi.Run(run) }

func run(ctx *pulumi.Context) error {
	settings := config.New(ctx, "")
	provider, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{Region: pulumi.String("eu-central-1")})
	if err != nil {
		return err
	}
	in := pulumi.Provider(provider)
	bucket, err := s3.NewBucketV2(ctx, "orders", &s3.BucketV2Args{Bucket: pulumi.String("shop-orders")}, in)
	if err != nil {
		return err
	}
	queue, err := sqs.NewQueue(ctx, "orders", &sqs.QueueArgs{Name: pulumi.String("shop-orders")}, in)
	if err != nil {
		return err
	}
	password := settings.RequireSecret("password")
	for _, p := range []struct {
		name, kind string
		value      pulumi.StringInput
	}{
		{"/shop/tier", "String", pulumi.String(settings.Require("tier"))},
		{"/shop/zones", "StringList", pulumi.String("eu-central-1a,eu-central-1b")},
		{"/shop/password", "SecureString", password},
	} {
		args := &ssm.ParameterArgs{Name: pulumi.String(p.name), Type: pulumi.String(p.kind), Value: p.value}
		if _, err := ssm.NewParameter(ctx, p.name, args, in); err != nil {
			return err
		}
	}
	ctx.Export("bucket", bucket.Bucket)
	ctx.Export("queue", pulumi.Map{"url": queue.Url, "arn": queue.Arn})
	ctx.Export("database", pulumi.Map{"host": pulumi.String(settings.Require("host")), "port": pulumi.Int(settings.RequireInt("port"))})
	ctx.Export("password", password)
	return nil
}
