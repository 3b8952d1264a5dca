#!/usr/bin/env python3
"""Runs a command that may start AArch64 programs by name, on a machine of another kind:

    emulated_exec.py EMULATOR ROOT COMMAND [ARGUMENT]...

EMULATOR is qemu in user mode, ROOT the directory with the programs' libraries. The kernel starts the
emulator for such programs (through emulated_start.c, which this compiles), but only in a user
namespace that ends with the command, so the machine stays as it is. If root runs it, all user ids
are mapped, so that the command can change owners. Requires Linux 6.7; with an older kernel, exit
status 77.
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
BINFMT = "/proc/sys/fs/binfmt_misc"
# The first 20 bytes of an executable or a position-independent one.
MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MADVISE = TESTS + "/aarch64/emulated_madvise.c"

libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def map_ids(process, user, group):
    """For a process in a new user namespace, from outside of it."""
    if user == 0:
        write(f"/proc/{process}/uid_map", "0 0 65536")
        write(f"/proc/{process}/gid_map", "0 0 65536")
    else:
        write(f"/proc/{process}/uid_map", f"0 {user} 1")
        write(f"/proc/{process}/setgroups", "deny")
        write(f"/proc/{process}/gid_map", f"0 {group} 1")


def enter_namespace():
    """A child maps the ids, which from inside would be possible for one id only."""
    user, group, process = os.getuid(), os.getgid(), os.getpid()
    go, begin = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(begin)
        os.read(go, 1)
        try:
            map_ids(process, user, group)
        except OSError:
            os._exit(1)
        os._exit(0)
    check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
    os.close(begin)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError("ids cannot be mapped")
    os.close(go)


def make_start(directory, emulator, root):
    """Returns the path of the program that the kernel starts. Users other than the caller start it,
    too."""
    os.chmod(directory, 0o755)
    start = directory + "/start"
    os.symlink(emulator, directory + "/emulator")
    os.symlink(os.path.abspath(root), directory + "/root")
    os.mkdir(directory + "/names")
    os.chmod(directory + "/names", 0o777)
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-static", "-o", start,
                    TESTS + "/tool/emulated_start.c"], check=True)
    make_library(directory, "aarch64-linux-gnu", MADVISE)
    # For programs of this machine that the others start, which inherit LD_PRELOAD.
    make_library(directory, "x86_64-linux-gnu", os.devnull)
    # Tools that read only their own machine's programs.
    os.mkdir(directory + "/bin")
    for tool in ("strip", "objcopy", "objdump"):
        os.symlink(shutil.which("aarch64-linux-gnu-" + tool), f"{directory}/bin/{tool}")
    os.environ["PATH"] = directory + "/bin:" + os.environ["PATH"]
    return start


def make_library(directory, machine, source):
    """-z initfirst: its constructor runs before those of all others."""
    to = f"{directory}/lib/{machine}"
    os.makedirs(to)
    subprocess.run([machine + "-gcc", "-O2", "-D_GNU_SOURCE", "-DEMULATED_MADVISE_LIBRARY",
                    "-fPIC", "-shared", "-Wl,-z,initfirst", "-x", "c", "-o", to + "/emulated_madvise.so", source], check=True)


def register(start):
    """P: programs get the name that they were started by."""
    check(libc.mount(b"none", BINFMT.encode(), b"binfmt_misc", 0, None))
    write(BINFMT + "/register", f":probity-aarch64:M::{MAGIC}:{MASK}:{start}:FP")


def main(arguments):
    if len(arguments) < 4:
        sys.exit("usage: emulated_exec.py EMULATOR ROOT COMMAND [ARGUMENT]...")
    emulator = shutil.which(arguments[1])
    if emulator is None:
        sys.exit(f"emulated_exec.py: no {arguments[1]}")
    # A test that exceeds its time is terminated: the directory is removed even then.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory() as directory:
        start = make_start(directory, emulator, arguments[2])
        try:
            enter_namespace()
            register(start)
        except OSError as error:
            print(f"needs binfmt_misc in user namespaces (Linux 6.7): {error}")
            return 77
        status = subprocess.call(arguments[3:])
    return status if status >= 0 else 128 - status


sys.exit(main(sys.argv))
