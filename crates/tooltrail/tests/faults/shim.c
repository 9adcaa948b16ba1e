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
#include <sys/stat.h>
#include <sys/uio.h>
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

int rename(const char *from, const char *to) {
    if (path_fails(RENAME, from)) return errno = error, -1;
    return REAL(rename)(from, to);
}

int link(const char *from, const char *to) {
    if (path_fails(RENAME, from)) return errno = error, -1;
    return REAL(link)(from, to);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    if (path_fails(RENAME, from)) return errno = error, -1;
    return REAL(linkat)(from_at, from, to_at, to, flags);
}
