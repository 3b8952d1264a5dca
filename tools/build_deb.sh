#!/usr/bin/env bash
# Makes the Debian packages libprobity0, libprobity-dev and probity from a build, using only the
# tools of dpkg-dev. `make deb` calls it. The result depends only on the build: times are those of
# packaging/debian/changelog. Usage: tools/build_deb.sh BUILD OUT
set -eu
export LC_ALL=C
umask 022
cd "$(dirname "$0")/.."
tree=$PWD
build=${1:?usage: build_deb.sh BUILD OUT} # spelled as in make, or flags would differ
mkdir -p "${2:?usage: build_deb.sh BUILD OUT}"
out=$(realpath "$2")
work=$out/work
rm -rf "$work" "$out"/*.deb
mkdir -p "$work/debian"
cp "$tree/packaging/debian/control" "$tree/packaging/debian/changelog" "$work/debian/"
cd "$work"

field() {
    dpkg-parsechangelog --show-field "$1"
}

architecture=$(dpkg --print-architecture)
machine=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
version=$(field Version)
SOURCE_DATE_EPOCH=$(date -d "$(field Date)" +%s)
export SOURCE_DATE_EPOCH
library=usr/lib/$machine

# $1 package, then the parts of the installed tree that it contains
take() {
    local package=$1 path
    shift
    for path in "${@#installed/}"; do
        mkdir -p "$package/$(dirname "$path")"
        mv "installed/$path" "$package/$path"
    done
}

split_installation() {
    make -s -C "$tree" BUILD="$build" PREFIX=/usr LIBDIR="/$library" \
        DESTDIR="$work/installed" install
    mkdir -p installed/usr/share/zsh/vendor-completions
    mv installed/usr/share/zsh/site-functions/_probity installed/usr/share/zsh/vendor-completions/
    rmdir installed/usr/share/zsh/site-functions
    find installed/usr/share/man -type f -exec gzip -9n {} +
    take libprobity0 installed/"$library"/libprobity{,-print,-functions,-calls}.so.*
    take libprobity-dev usr/include/probity "$library" usr/share/man/man3 \
        usr/share/man/man7
    take probity usr/bin usr/share
    strip --strip-unneeded -R .comment -R .note "libprobity0/$library"/lib*.so.*.*.*
    strip --strip-unneeded -R .comment -R .note probity/usr/bin/probity
    strip --strip-debug -R .comment -R .note -D "libprobity-dev/$library"/lib*.a
    chmod 644 "libprobity0/$library"/lib*.so.*.*.*
}

# Adds what every package has: copyright, changes, checksums, and a control file with its
# dependencies. $1 package
add_metadata() {
    local package=$1
    mkdir -p "$package/DEBIAN" "$package/usr/share/doc/$package"
    cp "$tree/packaging/debian/copyright" "$package/usr/share/doc/$package/"
    gzip -9nc debian/changelog > "$package/usr/share/doc/$package/changelog.Debian.gz"
    install -D -m 644 "$tree/packaging/debian/lintian-overrides" \
        "$package/usr/share/lintian/overrides/$package"
    (cd "$package" && find usr -type f | sort | xargs md5sum) > "$package/DEBIAN/md5sums"
    : > debian/files
    dpkg-gencontrol -p"$package" -P"$package" -Tdebian/substvars
}

# An object that refers to the functions of the libraries that the tool loads on first use.
# dpkg-shlibdeps does not find these libraries in the tool.
make_loaded() {
    printf '%s\n' '#include "store/sqlite.h"' '#include "symbols/elfutils.h"' \
        '#define ADDRESS(name) (void *)name,' \
        'void *const loaded[] = {PROBITY_SQLITE_FUNCTIONS(ADDRESS) SYMBOLS_ELF_FUNCTIONS(ADDRESS)' \
        'SYMBOLS_DWARF_FUNCTIONS(ADDRESS)};' |
        "${CC:-gcc}" -shared -fPIC -DPROBITY_WITHOUT_DLOPEN -I"$tree/src" -o loaded.so -xc - \
            -lsqlite3 -ldw -lelf
}

split_installation
make_loaded
mkdir -p libprobity0/DEBIAN
printf '%s 0 libprobity0 (>= %s)\n' libprobity "${version%-*}" libprobity-print "${version%-*}" \
    libprobity-functions "${version%-*}" libprobity-calls "${version%-*}" \
    > libprobity0/DEBIAN/shlibs
echo 'activate-noawait ldconfig' > libprobity0/DEBIAN/triggers
for package in libprobity0 libprobity-dev probity; do
    : > debian/substvars
    case $package in
        libprobity0) dpkg-shlibdeps -Tdebian/substvars "libprobity0/$library"/lib*.so.*.*.* ;;
        probity) dpkg-shlibdeps -Tdebian/substvars probity/usr/bin/probity loaded.so ;;
    esac
    add_metadata $package
    find $package -newermt "@$SOURCE_DATE_EPOCH" -print0 |
        xargs -0r touch --no-dereference --date="@$SOURCE_DATE_EPOCH"
    dpkg-deb --root-owner-group --build $package "$out/${package}_${version}_$architecture.deb"
done
cd "$out"
rm -rf "$work"
