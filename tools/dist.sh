#!/usr/bin/env bash
# Makes the release tarball: the files of the tree, and the page of `probity view`, so that nothing
# requires Node.js. Called by `make dist`. The same tree gives the same bytes: names are sorted,
# times are SOURCE_DATE_EPOCH or that of the release in packaging/debian/changelog.
# Usage: tools/dist.sh VERSION PAGE TARBALL
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
version=${1:?usage: dist.sh VERSION PAGE TARBALL} page=$2 tarball=$(realpath "$3")
top=probity-$version
epoch=${SOURCE_DATE_EPOCH:-$(date -d "$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog |
    head -n 1)" +%s)}

fail() {
    echo "dist: $1" >&2
    exit 1
}

# The files that git tracks; in an unpacked tarball, all files except builds.
list_files() {
    if [ -e .git ]; then
        git ls-files
    else
        find . \( -name 'build' -o -name 'build-*' -o -name node_modules \) -prune -o \
            \( -type f -o -type l \) -print | sed 's,^\./,,'
    fi | grep -vE '^(\.ci/|\.git)' | sort
}

[ -s "$page" ] || fail "$page is empty: there is no page without Node.js"
head -n 1 packaging/debian/changelog | grep -qF "($version-" ||
    fail "packaging/debian/changelog does not describe $version"
# The page is stored under its path in the tree, wherever it was built.
kept_page=view/dist/page.html
list_files | while read -r file; do
    if [ -e "$file" ] && [ "$file" != $kept_page ]; then printf '%s\n' "$file"; fi
done | tar --create --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX,a-s \
    --format=gnu --transform="s,^${page#/}\$,$kept_page,;s,^,$top/,rSH" --files-from=- -P "$page" |
    gzip -9n > "$tarball.new"
mv "$tarball.new" "$tarball"
