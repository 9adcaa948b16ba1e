/* Makes file operations fail on purpose. Loaded with LD_PRELOAD, and told by the environment what to do:
 *
 *   FAULT_OP      open, read, write, sync or rename (links count as renames, truncating as writing)
 *   FAULT_NTH     the first call that fails, counted from 1; 0 lets none fail
 *   FAULT_EACH    if set, all later calls fail, too
 *   FAULT_ERRNO   the error; 0 lets reads and writes do only half of what they were asked for
 *   FAULT_PREFIX  only files whose path begins with this are counted
 *   FAULT_REPORT  a file that gets the number of calls that were counted
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum { NONE, OPEN, READ, WRITE, SYNC, RENAME };

static atomic_long calls;
static int op, each, error;
static long nth;
static const char *prefix, *report;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    static const char *const names[] = {"", "open", "read", "write", "sync", "rename"};
    const char *wanted = getenv("FAULT_OP"), *number = getenv("FAULT_NTH"), *code = getenv("FAULT_ERRNO");
    for (int i = OPEN; wanted && i <= RENAME; i++)
        if (!strcmp(wanted, names[i])) op = i;
    nth = number ? atol(number) : 0;
    error = code ? atoi(code) : EIO;
    each = getenv("FAULT_EACH") != NULL;
    prefix = getenv("FAULT_PREFIX");
    report = getenv("FAULT_REPORT");
}

__attribute__((destructor)) static void end(void) {
    if (!report) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld", atomic_load(&calls));
    int was = op;
    op = NONE;
    int fd = REAL(open)(report, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0) {
        if (REAL(write)(fd, text, (size_t)length) < 0) length = 0;
        close(fd);
    }
    op = was;
}

/* Whether this call fails. Only calls that concern the prefix are counted. */
static int counted(void) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    return nth > 0 && (number == nth || (each && number > nth));
}

static int path_fails(int what, const char *path) {
    return op == what && prefix && path && !strncmp(path, prefix, strlen(prefix)) && counted();
}

static int fd_fails(int what, int fd) {
    if (op != what || !prefix) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return !strncmp(path, prefix, strlen(prefix)) && counted();
}

#define OPENS(name)                                              \
    int name(const char *path, int flags, ...) {                 \
        va_list rest;                                            \
        va_start(rest, flags);                                   \
        mode_t mode = va_arg(rest, mode_t);                      \
        va_end(rest);                                            \
        if (path_fails(OPEN, path)) return errno = error, -1;    \
        return REAL(name)(path, flags, mode);                    \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                           \
    int name(int at, const char *path, int flags, ...) {         \
        va_list rest;                                            \
        va_start(rest, flags);                                   \
        mode_t mode = va_arg(rest, mode_t);                      \
        va_end(rest);                                            \
        if (path_fails(OPEN, path)) return errno = error, -1;    \
        return REAL(name)(at, path, flags, mode);                \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

DIR *opendir(const char *path) {
    if (path_fails(OPEN, path)) return errno = error, NULL;
    return REAL(opendir)(path);
}

/* A transfer that fails, or moves only half. */
#define HALF(what, fd, count)                          \
    if (fd_fails(what, fd)) {                          \
        if (error) return errno = error, -1;           \
        count = count > 1 ? count / 2 : count;         \
    }

ssize_t read(int fd, void *into, size_t count) {
    HALF(READ, fd, count)
    return REAL(read)(fd, into, count);
}

#define READS_AT(name, offset)                                                   \
    ssize_t name(int fd, void *into, size_t count, offset at) {                  \
        HALF(READ, fd, count)                                                    \
        return REAL(name)(fd, into, count, at);                                  \
    }
READS_AT(pread, off_t)
READS_AT(pread64, off64_t)

ssize_t write(int fd, const void *from, size_t count) {
    HALF(WRITE, fd, count)
    return REAL(write)(fd, from, count);
}

#define WRITES_AT(name, offset)                                                  \
    ssize_t name(int fd, const void *from, size_t count, offset at) {            \
        HALF(WRITE, fd, count)                                                   \
        return REAL(name)(fd, from, count, at);                                  \
    }
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *from, int count) {
    if (error && fd_fails(WRITE, fd)) return errno = error, -1;
    return REAL(writev)(fd, from, count);
}

#define TRUNCATES(name, offset)                                                  \
    int name(int fd, offset length) {                                            \
        if (error && fd_fails(WRITE, fd)) return errno = error, -1;              \
        return REAL(name)(fd, length);                                           \
    }
TRUNCATES(ftruncate, off_t)
TRUNCATES(ftruncate64, off64_t)

int fsync(int fd) {
    if (fd_fails(SYNC, fd)) return errno = error, -1;
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    if (fd_fails(SYNC, fd)) return errno = error, -1;
    return REAL(fdatasync)(fd);
}

/* Renames and links are often system calls without libc. A filter of the kernel turns them into signals, whose handler lets them fail, or
 * makes them itself, with a mark that the filter lets through. */
#if defined(__x86_64__)
#define ARGUMENT(number, index) ((number)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8}[index]])
#define RESULT(number) ((number)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARGUMENT(number, index) ((number)->uc_mcontext.regs[index])
#define RESULT(number) ((number)->uc_mcontext.regs[0])
#endif

#ifdef RESULT
#define MARK 0x7001a115

static void renamed(int signal, siginfo_t *info, void *context) {
    (void)signal;
    ucontext_t *state = context;
    int named = info->si_syscall == __NR_renameat2 || info->si_syscall == __NR_renameat || info->si_syscall == __NR_linkat;
    int was = errno;
    if (path_fails(RENAME, (const char *)ARGUMENT(state, named ? 1 : 0))) {
        RESULT(state) = -error;
    } else {
        long done = syscall(info->si_syscall, ARGUMENT(state, 0), ARGUMENT(state, 1), ARGUMENT(state, 2), ARGUMENT(state, 3),
                            ARGUMENT(state, 4), MARK);
        RESULT(state) = done < 0 ? -errno : done;
    }
    errno = was;
}

/* Not every system has the calls without directories. */
#ifdef __NR_rename
#define PLAIN_RENAME __NR_rename
#define PLAIN_LINK __NR_link
#else
#define PLAIN_RENAME __NR_renameat2
#define PLAIN_LINK __NR_linkat
#endif

__attribute__((constructor)) static void trap(void) {
    const char *wanted = getenv("FAULT_OP");
    if (!wanted || strcmp(wanted, "rename")) return;
    /* Each jump is over the instructions that are left before the one that traps. */
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 6, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_renameat2, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_renameat, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_linkat, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PLAIN_RENAME, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PLAIN_LINK, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    struct sigaction action = {.sa_sigaction = renamed, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        perror("renames cannot be trapped"), abort();
}
#endif
