module frontdeskmock

go 1.24
