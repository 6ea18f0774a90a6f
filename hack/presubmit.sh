#!/usr/bin/env bash
# Copyright The karmada-compute Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Checks what a branch changes, committed or not, against the revision in $1: generated files, the linters' findings on changed
# packages, and the tests of changed packages and of the packages that import these.
set -euo pipefail
cd "$(dirname "$0")/.."
base=$(git merge-base "${1:-origin/main}" HEAD 2>/dev/null || git rev-parse HEAD)
mapfile -t changed < <({ git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } | sort -u)
echo "${#changed[@]} files differ from $(git rev-parse --short "$base")"

# in_module lists the changed packages of the module in folder $1, as paths relative to it.
in_module() {
	local file
	for file in "${changed[@]}"; do
		case $file in
		*.go | */testdata/*) ;;
		*) continue ;;
		esac
		local folder=${file%/*} module=.
		[[ $file == */* ]] || folder=.
		folder=${folder%%/testdata*}
		for nested in api test hack/tools/gitops hack/tools/images; do
			[[ $folder == "$nested" || $folder == "$nested"/* ]] && module=$nested
		done
		[ "$module" = "$1" ] && compgen -G "$folder/*.go" >/dev/null && echo "./$(realpath --relative-to="$1" "$folder")"
	done | sort -u
	return 0
}

# importers lists the packages of the module in folder $1 that depend, themselves or in their tests, on the import paths in $2.
importers() {
	(cd "$1" && go list -test -f '{{$p := .ImportPath}}{{with .ForTest}}{{$p = .}}{{end}}{{range .Deps}}{{$p}} {{.}}{{"\n"}}{{end}}' ./...) |
		sed 's/ \[.*\]$//' | awk 'NR == FNR { wanted[$1]; next } $2 in wanted { print $1 }' "$2" - | grep -v '\.test$' | sort -u
}

hack/verify.sh
paths=$(mktemp)
trap 'rm -f "$paths"' EXIT
for module in . api test; do
	mapfile -t packages < <(in_module "$module")
	if [ "${#packages[@]}" -gt 0 ]; then
		(cd "$module" && go list "${packages[@]}") >>"$paths"
		(cd "$module" && "$OLDPWD/bin/golangci-lint" run --allow-parallel-runners --config="$OLDPWD/.golangci.yaml" "${packages[@]}")
	fi
done
for module in . api test; do
	mapfile -t tested < <({ cat "$paths" && importers "$module" "$paths"; } | sort -u)
	mapfile -t tested < <(cd "$module" && comm -12 <(printf '%s\n' "${tested[@]}") <(go list ./... | grep -v /test/features | sort))
	[ "${#tested[@]}" -eq 0 ] || (cd "$module" && go test -vet=off -skip '^TestLong' "${tested[@]}")
done
