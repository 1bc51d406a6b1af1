module tombolo/tools/azuremodels

go 1.26
