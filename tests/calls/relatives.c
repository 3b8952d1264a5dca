/* SPDX-License-Identifier: MIT
 *
 * relatives.c: makes calls similar to read(), write() and poll(), checks their results, and prints
 * its own count of each. Then runs itself by execl() of a shell and by execlp(), and finally, by
 * execle(), a shell with a different environment, which it checks. Without arguments: prints the
 * counts of I/O.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "counts.h"

/* At offsets, in parts, and from one file to the other. */
static void use_files(void)
{
    char bytes[16];
    struct iovec parts[2] = {{bytes, 3}, {bytes + 3, 4}};
    int one = CALL(open, "one", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int other = CALL(open, "other", O_RDWR | O_CREAT | O_TRUNC, 0600);
    off64_t from = 2;
    off_t start = 0;

    EXPECT(one >= 0 && other >= 0);
    EXPECT(CALL(write, one, "0123456789", 10) == 10);
    EXPECT(CALL(preadv, one, parts, 2, 1) == 7 && memcmp(bytes, "1234567", 7) == 0);
    EXPECT(CALL(pwritev, one, parts, 2, 3) == 7);
    EXPECT(CALL(preadv2, one, parts, 2, 0, 0) == 7 && memcmp(bytes, "0121234", 7) == 0);
    EXPECT(CALL(pwritev2, one, parts, 1, 7, 0) == 3);
    EXPECT(CALL(preadv2, one, parts, 2, 0, -1) == -1 && errno == EOPNOTSUPP);
    EXPECT(CALL(copy_file_range, one, &from, other, NULL, 5, 0) == 5 && from == 7);
    EXPECT(CALL(sendfile, other, one, &start, 4) == 4 && start == 4);
    EXPECT(CALL(pread, other, bytes, 16, 0) == 9 && memcmp(bytes, "212340121", 9) == 0);
    EXPECT(CALL(close, one) == 0 && CALL(close, other) == 0);
}

static void use_pipes(void)
{
    int ends[2], others[2];
    char bytes[8];
    struct iovec part = {(void *)(size_t)"abc", 3};

    EXPECT(CALL(pipe2, ends, O_CLOEXEC) == 0 && CALL(pipe2, others, O_CLOEXEC) == 0);
    EXPECT(CALL(vmsplice, ends[1], &part, 1, 0) == 3);
    EXPECT(CALL(tee, ends[0], others[1], 8, 0) == 3);
    EXPECT(CALL(splice, ends[0], NULL, others[1], NULL, 8, 0) == 3);
    EXPECT(CALL(read, others[0], bytes, 8) == 6 && memcmp(bytes, "abcabc", 6) == 0);
}

static void use_messages(void)
{
    int pair[2];
    char bytes[2][4];
    struct iovec out = {(void *)(size_t)"hi", 2}, in[2] = {{bytes[0], 4}, {bytes[1], 4}};
    struct mmsghdr sent[2] = {{{.msg_iov = &out, .msg_iovlen = 1}, 0},
                              {{.msg_iov = &out, .msg_iovlen = 1}, 0}};
    struct mmsghdr got[2] = {{{.msg_iov = &in[0], .msg_iovlen = 1}, 0},
                             {{.msg_iov = &in[1], .msg_iovlen = 1}, 0}};

    EXPECT(CALL(socketpair, AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    EXPECT(CALL(sendmmsg, pair[0], sent, 2, 0) == 2);
    EXPECT(CALL(recvmmsg, pair[1], got, 2, 0, NULL) == 2 && got[1].msg_len == 2);
    EXPECT(memcmp(bytes[1], "hi", 2) == 0);
}

static void wait_for_nothing(void)
{
    const struct timespec none = {0, 0};
    struct pollfd polled = {0, 0, 0};
    struct epoll_event event;
    fd_set set;
    int group = CALL(epoll_create1, EPOLL_CLOEXEC);

    FD_ZERO(&set);
    FD_SET(group, &set);
    EXPECT(CALL(ppoll, &polled, 1, &none, NULL) == 0);
    EXPECT(CALL(pselect, group + 1, &set, NULL, NULL, &none, NULL) == 0);
    EXPECT(CALL(epoll_pwait, group, &event, 1, 0, NULL) == 0);
}

int main(int argc, char **argv)
{
    char *const environment[] = {"MARK=set", NULL};

    if (argc == 1) {
        use_files();
        use_pipes();
        use_messages();
        wait_for_nothing();
        print_counts();
        fflush(stdout);
        EXPECT(execl("no/such/file", "x", (char *)0) == -1 && errno == ENOENT);
        execl("/bin/sh", "sh", "-c", "echo \"args $0 $1\" >&2; exec ./relatives 1", "a", "b",
              (char *)0);
    }
    if (argc == 2)
        execlp("./relatives", "relatives", "2", "3", (char *)0);
    if (argc == 3 && strcmp(argv[2], "3") == 0)
        execle("/bin/sh", "sh", "-c", "test \"$MARK\" = set && test -z \"$HOME\"", (char *)0,
               environment);
    return 1;
}
