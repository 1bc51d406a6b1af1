module tombolo/tools/pulumi/strength

go 1.26
