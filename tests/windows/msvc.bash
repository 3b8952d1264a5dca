# Sourced by the scripts that use clang as MSVC: clang-cl, with the standard headers of mingw-w64.
# shellcheck shell=bash

# $1 a standard, the rest: options of MSVC and files
msvc() {
    local standard=$1 library
    shift
    library=$(dirname "$(x86_64-w64-mingw32-g++ -print-libgcc-file-name)")/include/c++
    clang --driver-mode=cl --target=x86_64-pc-windows-msvc -Qunused-arguments "/std:$standard" \
        /W4 /WX /EHsc "/I$SOURCE/include" "/I$SOURCE/tests/windows" "/FI$SOURCE/tests/windows/msvc_std.h" \
        -imsvc "$library" -imsvc "$library/x86_64-w64-mingw32" \
        -imsvc /usr/x86_64-w64-mingw32/include "$@"
}

# Clang's mode for MSVC passes __VA_ARGS__ on as one argument, as MSVC's traditional preprocessor
# does; without that mode, it behaves as with MSVC's /Zc:preprocessor.
# shellcheck disable=SC2034 # for the scripts
PREPROCESSORS=(-fms-compatibility -fno-ms-compatibility)
