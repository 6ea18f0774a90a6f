module github.com/karmada-compute/karmada-compute/hack/tools/cert-manager

go 1.26.0

require github.com/cert-manager/cert-manager v1.20.2
