/* SPDX-License-Identifier: MIT
 *
 * posix/stdio.h: streams on the descriptors of fcntl.h. They replace msvcrt's streams, which change
 * line ends, use a table with a lock, and cannot write to memory. A stream belongs to one thread.
 */
#ifndef PROBITY_POSIX_STDIO_H
#define PROBITY_POSIX_STDIO_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>

/* Suppresses the system's declarations. */
#define _INC_STDIO
#define _FILE_DEFINED
typedef struct _iobuf FILE;

#define EOF (-1)
#define BUFSIZ 4096
#define _IOFBF 0

/* The standard streams; stderr is written after each call. */
FILE *probity_posix_stream(int descriptor);
#define stdin probity_posix_stream(0)
#define stdout probity_posix_stream(1)
#define stderr probity_posix_stream(2)

/* Opens for reading ("r") or writing ("w"); with "x", the file must not exist. */
FILE *fopen(const char *path, const char *mode) __asm__("probity_posix_fopen");
FILE *fdopen(int descriptor, const char *mode) __asm__("probity_posix_fdopen");
int fclose(FILE *stream) __asm__("probity_posix_fclose");
int fflush(FILE *stream) __asm__("probity_posix_fflush");
int ferror(FILE *stream) __asm__("probity_posix_ferror");
int feof(FILE *stream) __asm__("probity_posix_feof");
int fileno(FILE *stream) __asm__("probity_posix_fileno");
/* Returns the number of bytes written. */
long ftell(FILE *stream) __asm__("probity_posix_ftell");
/* Does nothing: all buffers have the same size, as in glibc if none is passed. */
int setvbuf(FILE *stream, char *buffer, int mode, size_t bytes) __asm__("probity_posix_setvbuf");

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream)
    __asm__("probity_posix_fwrite");
int fputs(const char *text, FILE *stream) __asm__("probity_posix_fputs");
int fputc(int byte, FILE *stream) __asm__("probity_posix_fputc");
int putc(int byte, FILE *stream) __asm__("probity_posix_fputc");
int putc_unlocked(int byte, FILE *stream) __asm__("probity_posix_fputc");
int putchar(int byte) __asm__("probity_posix_putchar");
int puts(const char *text) __asm__("probity_posix_puts");
int fprintf(FILE *stream, const char *format, ...) __asm__("probity_posix_fprintf")
    __attribute__((format(gnu_printf, 2, 3)));
#define printf probity_posix_print
int probity_posix_print(const char *format, ...) __attribute__((format(gnu_printf, 1, 2)));
int vfprintf(FILE *stream, const char *format, va_list arguments)
    __asm__("probity_posix_vfprintf");

size_t fread(void *bytes, size_t size, size_t count, FILE *stream)
    __asm__("probity_posix_fread");
int fgetc(FILE *stream) __asm__("probity_posix_fgetc");
char *fgets(char *text, int room, FILE *stream) __asm__("probity_posix_fgets");
ssize_t getline(char **text, size_t *room, FILE *stream) __asm__("probity_posix_getline");
/* Length of the next line. */
int fscanf(FILE *stream, const char *format, ...) __asm__("probity_posix_fscanf");
void rewind(FILE *stream) __asm__("probity_posix_rewind");

/* mingw's own functions, which support the sizes of C99. */
int snprintf(char *text, size_t room, const char *format, ...) __asm__("__mingw_snprintf")
    __attribute__((format(gnu_printf, 3, 4)));
int vsnprintf(char *text, size_t room, const char *format, va_list arguments)
    __asm__("__mingw_vsnprintf");
int sscanf(const char *text, const char *format, ...) __asm__("__mingw_sscanf");
int vsscanf(const char *text, const char *format, va_list arguments)
    __asm__("__mingw_vsscanf");
int asprintf(char **ret_text, const char *format, ...) __asm__("probity_posix_asprintf")
    __attribute__((format(gnu_printf, 2, 3)));
int vasprintf(char **ret_text, const char *format, va_list arguments)
    __asm__("probity_posix_vasprintf");

/* Streams that write to memory or to functions. Only "w" is supported. */
FILE *open_memstream(char **ret_text, size_t *ret_bytes) __asm__("probity_posix_open_memstream");
typedef struct {
    ssize_t (*read)(void *cookie, char *bytes, size_t count);
    ssize_t (*write)(void *cookie, const char *bytes, size_t count);
    int (*seek)(void *cookie, off_t *offset, int whence);
    int (*close)(void *cookie);
} cookie_io_functions_t;
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
    __asm__("probity_posix_fopencookie");

int rename(const char *from, const char *to) __asm__("probity_posix_rename");
/* Fails with EINVAL: exchanging names is not supported. */
int renameat2(int from, const char *path, int to, const char *name, unsigned flags)
    __asm__("probity_posix_renameat2");
enum { RENAME_NOREPLACE = 1, RENAME_EXCHANGE = 2 };

#endif
