module tombolo/tools/awsmodels

go 1.26
