#!/usr/bin/env bash
# Copyright The karmada-compute Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Fails when git has a large file, when the product, its tests and the federation's binaries compile different versions of a
# module, and when generated files differ from what `make generate` makes in a copy of the tree.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

# versions lists the modules that packages are compiled from, with their versions.
versions() {
	go list -deps -f '{{with .Module}}{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}{{end}}' "$@" | grep ' v' | sort -u
}
product=$(cd "$root" && versions ./cmd/...)
for module in test hack/tools/federation; do
	packages=./cmd/...
	[ "$module" = test ] || packages=$(cd "$root/$module" && go list -f '{{.ImportPath}}' tool)
	differing=$(join <(echo "$product") <(cd "$root/$module" && versions $packages) | awk '$2 != $3')
	if [ -n "$differing" ]; then
		echo "go.mod and $module/go.mod require different versions, so that a first build compiles these modules twice:" >&2
		echo "$differing" >&2
		exit 1
	fi
done

large=$(cd "$root" && git ls-files -z | xargs -0 sh -c 'find "$@" -maxdepth 0 -size +2048' sh 2>/dev/null || true)
if [ -n "$large" ]; then
	echo "git has files of more than 1 MiB, which stay in its history for ever; remove them and their commit: $large" >&2
	exit 1
fi

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
generated=(api milo hub/access cell/access interpreter/customization
	charts/karmada-compute/files charts/karmada-compute/README.md charts/karmada-compute/values.schema.json docs/reference)
tools=(bin/controller-gen bin/client-gen bin/crd-ref-docs)
make --no-print-directory -C "$root" "${tools[@]}"
mkdir "$copy/tree"
(cd "$root" && tar --exclude=./.git --exclude=./bin -cf - .) | tar -xf - -C "$copy/tree"
mkdir -p "$copy/tree/bin"
for tool in "${tools[@]}"; do
	cp "$root/$tool" "$copy/tree/$tool"
	touch "$copy/tree/$tool"
done
make --no-print-directory -C "$copy/tree" generate >"$copy/log" || { cat "$copy/log"; exit 1; }
status=0
for path in "${generated[@]}"; do
	diff -ru "$root/$path" "$copy/tree/$path" || status=1
done
if [ "$status" -ne 0 ]; then
	echo "Generated files are out of date: run 'make generate' and commit the result." >&2
	exit 1
fi
echo "generated files are up to date"
