/* SPDX-License-Identifier: MIT
 *
 * cpu.c: one part per processor, and a portable one. Knows nothing about tracing. Any thread.
 */
#include "base/cpu.h"

#include <string.h>
#include <sys/prctl.h>

#include "base/bytes.h"

/* Portable form: four bits at a time, so that the table is 16 words and needs no initialisation at
 * run time. */
static uint32_t crc32c_portable(uint32_t crc, const uint8_t *bytes, size_t count)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <nmmintrin.h>
#include <wmmintrin.h>

/* The state after as many zero bytes as `power` stands for. */
__attribute__((target("sse4.2,pclmul"))) static inline uint64_t crc32c_shift(uint64_t crc,
                                                                             uint64_t power)
{
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
                                           _mm_cvtsi64_si128((long long)power), 0);

    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* The instruction takes three cycles, and one may start in each: so three lanes at a time. */
__attribute__((target("sse4.2,pclmul"))) static uint32_t
crc32c_lanes(uint32_t crc, const uint8_t **bytes, size_t *count)
{
    enum { LANE = 1024 };
    /* x^(8 * bytes - 33) modulo the polynomial, lowest power in the highest bit. */
    static const uint64_t lane = 0x170076fa, two_lanes = 0xa51b6135;
    uint64_t first = crc;

    for (; *count >= 3 * LANE; *count -= 3 * LANE, *bytes += 3 * LANE) {
        const uint8_t *at = *bytes, *end = at + LANE;
        uint64_t second = 0, third = 0;
        for (; at < end; at += 8) {
            first = _mm_crc32_u64(first, probity_get_u64(at));
            second = _mm_crc32_u64(second, probity_get_u64(at + LANE));
            third = _mm_crc32_u64(third, probity_get_u64(at + 2 * LANE));
        }
        first = crc32c_shift(first, two_lanes) ^ crc32c_shift(second, lane) ^ third;
    }
    return (uint32_t)first;
}

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const uint8_t *bytes,
                                                               size_t count)
{
    if (__builtin_cpu_supports("pclmul"))
        crc = crc32c_lanes(crc, &bytes, &count);
    uint64_t wide = crc;
    for (; count >= 8; count -= 8, bytes += 8)
        wide = _mm_crc32_u64(wide, probity_get_u64(bytes));
    crc = (uint32_t)wide;
    for (; count > 0; count--, bytes++)
        crc = _mm_crc32_u8(crc, *bytes);
    return crc;
}

uint32_t probity_cpu_crc32c(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_sse42(crc, bytes, count)
                                            : crc32c_portable(crc, bytes, count);
}

int probity_cpu_counter_is_forbidden(void)
{
    int permission = 0;

    return prctl(PR_GET_TSC, &permission) == 0 && permission == PR_TSC_SIGSEGV;
}

int probity_cpu_counter_is_usable(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1); /* invariant TSC */
}

uint32_t probity_cpu_counter_kind(void)
{
    return 1;
}

uint64_t probity_cpu_counter(void)
{
    return __builtin_ia32_rdtsc();
}

#elif defined(__aarch64__)

uint32_t probity_cpu_crc32c(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return crc32c_portable(crc, bytes, count);
}

int probity_cpu_counter_is_forbidden(void)
{
    return 0;
}

int probity_cpu_counter_is_usable(void)
{
    return 1; /* the architecture fixes the rate, and Linux lets user code read it */
}

uint32_t probity_cpu_counter_kind(void)
{
    return 2;
}

uint64_t probity_cpu_counter(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

#else

uint32_t probity_cpu_crc32c(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return crc32c_portable(crc, bytes, count);
}

int probity_cpu_counter_is_forbidden(void)
{
    return 0;
}

int probity_cpu_counter_is_usable(void)
{
    return 0;
}

uint32_t probity_cpu_counter_kind(void)
{
    return 3;
}

uint64_t probity_cpu_counter(void)
{
    return 0;
}

#endif
