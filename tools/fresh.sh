#!/usr/bin/env bash
# Clones a commit into a directory of its own, with an empty home and no caches, and runs
# the README's commands and the linter there, as on a new machine.
#
#   tools/fresh.sh [-commit HEAD] [-all] [-table docs/guide/lab.md] [-steps 99]
#
# It ends with what each step took, and writes that into the page with the table. -all has
# the long tests run too, -steps runs only the first so many. When a step fails, the
# directory is kept and the page stays as it was.
set -euo pipefail

commit=HEAD all= page= most=99
while [ $# -gt 0 ]; do
	case $1 in
	-all) all=1; shift ;;
	-commit | -table | -steps)
		[ $# -gt 1 ] || { echo "✗ $1 needs a value" >&2; exit 1; }
		case $1 in -commit) commit=$2 ;; -table) page=$2 ;; -steps) most=$2 ;; esac
		shift 2
		;;
	*) echo "✗ $1: expected -commit, -all, -table or -steps" >&2; exit 1 ;;
	esac
done

# The demo runs twice, and the second time there is nothing to change; plain pulumi agrees,
# from source alone. Then it runs from an empty lab with all that is built.
names=() commands=()
step() {
	names+=("$1") commands+=("$2")
}
step "make demo" "make demo"
step "make demo, again" "make demo"
step "nothing left to change" "bin/tombolo preview demo --lab --exit-code"
step "go run ./cmd/tombolo" 'eval "$(make env)" && go run ./cmd/tombolo status --lab'
step "plain pulumi" 'eval "$(make env)" && eval "$(go run ./cmd/tombolo lab env)" && rm -f bin/program &&
	pulumi preview --stack demo-core --non-interactive --expect-no-changes'
step "make demo-down" "make demo-down"
step "make demo, all built" "make demo"
step "make demo-down, again" "make demo-down"
step "make test" "make test"
[ -z "$all" ] || step "make test-all, of which make test was a part" "make test-all"
step "make lint" "make lint"
# To open /dev/stderr by its name would empty the file that a caller keeps it in.
step "no file left behind" 'left="$(git status --porcelain)"; test -z "$left" || { printf "%s\n" "$left" >&2; exit 1; }'

id=$(git rev-parse --verify "$commit^{commit}")
dir=$(mktemp -d -t tombolo-fresh-XXXXXX)
home=$dir/home checkout=$dir/tombolo
mkdir -m 700 "$home"

# Where modules and packages come from is the machine's, also when `go env -w` and npm have
# it in the home. What names a place of the user's or of an earlier run's, or changes what
# commands do, a new machine has not.
for name in GOPROXY GONOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOINSECURE GOFLAGS GOTOOLCHAIN; do
	export "$name=$(go env "$name")"
done
registry=$(npm config get registry)
for name in $(compgen -e); do
	case $name in
	XDG_* | TOMBOLO_* | PULUMI_* | AWS_* | HELM_* | GIT_* | GOCACHE | GOMODCACHE | GOPATH | GOBIN | GOENV | GOTMPDIR | \
		GOLANGCI_LINT_CACHE | npm_config_* | NPM_CONFIG_* | KUBECONFIG | DOCKER_CONFIG | MAKEFLAGS | MFLAGS | MAKELEVEL)
		unset "$name"
		;;
	esac
done
export HOME=$home npm_config_registry=$registry

# As from afar: no file is shared.
git clone --quiet --no-local --no-checkout . "$checkout"
git -C "$checkout" -c advice.detachedHead=false checkout --quiet "$id"
echo "► commit $id in $dir, with an empty home" >&2

# The CPU time is that of the commands and what they waited for; the lab's own processes
# outlive a command.
spoken() {
	awk -v t="$1" 'BEGIN { t = int(t + 0.5); if (t < 60) print t " s"; else print int(t / 60) " min " t % 60 " s" }'
}
rows=$(mktemp "$dir/rows-XXXXXX")
failed=
TIMEFORMAT='%R %U %S'
for i in "${!names[@]}"; do
	[ "$i" -lt "$most" ] || break
	echo "► ${names[i]}" >&2
	{ time bash -euc 'cd "$1"; eval "$2"' step "$checkout" "${commands[i]}" 2>&3; } 3>&2 2>"$dir/took" || failed=${names[i]}
	read -r wall user system <"$dir/took"
	echo "| \`${names[i]}\` | $(spoken "$wall") | $(spoken "$(awk "BEGIN { print $user + $system }")") |${failed:+ failed}" >>"$rows"
	[ -z "$failed" ] || break
done

{
	printf '\nCommit %.8s, %s, %s processors, nothing cached before the first step:\n\n' "$id" "$(go env GOVERSION)" "$(getconf _NPROCESSORS_ONLN)"
	printf '| step | time | CPU |\n|---|---|---|\n'
	cat "$rows"
	echo
} >"$dir/table"
cat "$dir/table"
if [ -n "$failed" ]; then
	echo "✗ $failed failed; what it did is in $dir" >&2
	exit 1
fi
if [ -n "$page" ]; then
	grep -q '^<!-- The table is written by make fresh. -->$' "$page" && grep -q '^<!-- The table ends. -->$' "$page" ||
		{ echo "✗ $page has no lines around its table" >&2; exit 1; }
	awk -v table="$dir/table" '
		/^<!-- The table ends. -->$/ { inside = 0 }
		!inside
		/^<!-- The table is written by make fresh. -->$/ { inside = 1; while ((getline line < table) > 0) print line }' "$page" >"$dir/page"
	cat "$dir/page" >"$page"
fi
(cd "$checkout" && go clean -modcache) # its files are read-only
rm -rf "$dir"
