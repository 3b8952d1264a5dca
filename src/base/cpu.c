/* SPDX-License-Identifier: MIT
 *
 * cpu.c: a section for each processor, and a portable one. Independent of tracing. Any thread.
 */
#include "base/cpu.h"

#include <string.h>

#include "base/bytes.h"

/* Portable form: four bits at a time, so that the table has only 16 words and is constant. */
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

/* The state after a number of zero bytes, encoded as a power of x. */
__attribute__((target("sse4.2,pclmul"))) static inline uint64_t crc32c_shift(uint64_t crc,
                                                                             uint64_t power)
{
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
                                           _mm_cvtsi64_si128((long long)power), 0);

    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* The instruction has a latency of three cycles and a throughput of one per cycle, so three lanes
 * run in parallel. */
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

/* Features of the CPU: bits of register ECX of leaf 1, and has_been_asked. __builtin_cpu_supports()
 * is not used: its constructor executes cpuid ten times in each process that links the library, and
 * in a virtual machine each takes 1 to 70 µs. */
static uint32_t features(void)
{
    static uint32_t known;
    const uint32_t has_been_asked = UINT32_C(1) << 31; /* the bit "hypervisor", which is not
                                                        * queried */
    uint32_t bits = __atomic_load_n(&known, __ATOMIC_RELAXED);
    unsigned a, b, c, d;

    if (bits == 0) {
        __cpuid(1, a, b, c, d);
        bits = c | has_been_asked;
        __atomic_store_n(&known, bits, __ATOMIC_RELAXED);
    }
    return bits;
}

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const uint8_t *bytes,
                                                               size_t count)
{
    if (features() & bit_PCLMUL)
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
    return features() & bit_SSE4_2 ? crc32c_sse42(crc, bytes, count)
                                   : crc32c_portable(crc, bytes, count);
}

static unsigned extended_leaf_max(void)
{
    static unsigned known;
    unsigned max = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (max == 0) {
        max = (unsigned)__get_cpuid_max(0x80000000, NULL);
        __atomic_store_n(&known, max, __ATOMIC_RELAXED);
    }
    return max;
}

int probity_cpu_counter_is_usable(void)
{
    const unsigned power = 0x80000007;
    unsigned a, b, c, d = 0;

    if (extended_leaf_max() >= power)
        __cpuid(power, a, b, c, d);
    return d >> 8 & 1; /* invariant TSC */
}

/* Removes leading, trailing and repeated spaces, like the kernel. */
static void squeeze_spaces(char *text)
{
    char *to = text;

    for (const char *from = text; *from != 0; from++) {
        if (*from != ' ' || (to > text && from[1] != 0 && from[1] != ' '))
            *to++ = *from;
    }
    *to = 0;
}

void probity_cpu_model(char *ret_text)
{
    enum { LEAF_BYTES = 16 };
    const unsigned first = 0x80000002, last = 0x80000004;
    unsigned registers[4];

    memset(ret_text, 0, PROBITY_CPU_MODEL_BYTES);
    if (extended_leaf_max() < last)
        return;
    for (unsigned leaf = first; leaf <= last; leaf++) {
        __cpuid(leaf, registers[0], registers[1], registers[2], registers[3]);
        memcpy(ret_text + (leaf - first) * LEAF_BYTES, registers, LEAF_BYTES);
    }
    squeeze_spaces(ret_text);
}

uint32_t probity_cpu_counter_kind(void)
{
    return 1;
}

uint64_t probity_cpu_counter(void)
{
    return __builtin_ia32_rdtsc();
}

/* Uses lfence rather than rdtscp, at the same cost: lfence also keeps later instructions from
 * starting before the preceding ones finish. On AMD, Linux makes it wait for all instructions (MSR
 * DE_CFG). */
uint64_t probity_cpu_counter_ordered(void)
{
    uint64_t low, high;

    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return high << 32 | low;
}

/* Bits of the system's extended state and of leaf 7. */
enum {
    STATE_AVX512 = 0xe0, /* masks, upper halves, and registers 16 to 31 */
    AVX512F = 1 << 16,
    AVX512BW = 1 << 30
};

enum avx512 { AVX512_UNKNOWN, AVX512_NONE, AVX512_MASKS_OF_16, AVX512_MASKS_OF_64 };

static enum avx512 find_avx512(void)
{
    unsigned a, b = 0, c, d;

    if (!(features() & bit_OSXSAVE))
        return AVX512_NONE;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    if ((a & STATE_AVX512) != STATE_AVX512)
        return AVX512_NONE;
    __cpuid_count(7, 0, a, b, c, d);
    if (!(b & AVX512F))
        return AVX512_NONE;
    return b & AVX512BW ? AVX512_MASKS_OF_64 : AVX512_MASKS_OF_16;
}

static enum avx512 avx512(void)
{
    static int known;
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (found == AVX512_UNKNOWN) {
        found = (int)find_avx512();
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return (enum avx512)found;
}

/* In assembly and not inline, so that the compiler does not use these registers in between. */
#define EACH_VECTOR(x)                                                                             \
    x("16", "0") x("17", "64") x("18", "128") x("19", "192") x("20", "256") x("21", "320")         \
    x("22", "384") x("23", "448") x("24", "512") x("25", "576") x("26", "640") x("27", "704")      \
    x("28", "768") x("29", "832") x("30", "896") x("31", "960")
#define EACH_MASK(x)                                                                               \
    x("0", "0") x("1", "8") x("2", "16") x("3", "24") x("4", "32") x("5", "40") x("6", "48")       \
    x("7", "56")
#define KEEP_VECTOR(number, at) "vmovdqu64 %%zmm" number ", " at "(%0)\n\t"
#define KEEP_MASK_16(number, at) "kmovw %%k" number ", " at "(%0)\n\t"
#define KEEP_MASK_64(number, at) "kmovq %%k" number ", " at "(%0)\n\t"
#define RESTORE_VECTOR(number, at) "vmovdqu64 " at "(%0), %%zmm" number "\n\t"
#define RESTORE_MASK_16(number, at) "kmovw " at "(%0), %%k" number "\n\t"
#define RESTORE_MASK_64(number, at) "kmovq " at "(%0), %%k" number "\n\t"

__attribute__((noinline)) void probity_cpu_keep(struct probity_cpu_registers *ret_kept)
{
    enum avx512 found = avx512();

    if (found == AVX512_NONE)
        return;
    __asm__ volatile(EACH_VECTOR(KEEP_VECTOR) : : "r"(ret_kept->vector) : "memory");
    if (found == AVX512_MASKS_OF_64)
        __asm__ volatile(EACH_MASK(KEEP_MASK_64) : : "r"(ret_kept->mask) : "memory");
    else
        __asm__ volatile(EACH_MASK(KEEP_MASK_16) : : "r"(ret_kept->mask) : "memory");
}

__attribute__((noinline)) void probity_cpu_restore(const struct probity_cpu_registers *kept)
{
    enum avx512 found = avx512();

    if (found == AVX512_NONE)
        return;
    if (found == AVX512_MASKS_OF_64)
        __asm__ volatile(EACH_MASK(RESTORE_MASK_64) : : "r"(kept->mask) : "memory");
    else
        __asm__ volatile(EACH_MASK(RESTORE_MASK_16) : : "r"(kept->mask) : "memory");
    __asm__ volatile(EACH_VECTOR(RESTORE_VECTOR) : : "r"(kept->vector) : "memory");
}

#define FLOATING "x"

#elif defined(__aarch64__)

uint32_t probity_cpu_crc32c(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return crc32c_portable(crc, bytes, count);
}

int probity_cpu_counter_is_usable(void)
{
    return 1; /* the architecture fixes the rate, and Linux lets user code read it */
}

void probity_cpu_model(char *ret_text)
{
    ret_text[0] = 0;
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

uint64_t probity_cpu_counter_ordered(void)
{
    uint64_t ticks;
    __asm__ volatile("dsb ishld\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
}

#define FLOATING "w"

#else

uint32_t probity_cpu_crc32c(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return crc32c_portable(crc, bytes, count);
}

int probity_cpu_counter_is_usable(void)
{
    return 0;
}

void probity_cpu_model(char *ret_text)
{
    ret_text[0] = 0;
}

uint32_t probity_cpu_counter_kind(void)
{
    return 3;
}

uint64_t probity_cpu_counter(void)
{
    return 0;
}

uint64_t probity_cpu_counter_ordered(void)
{
    return 0;
}

#define FLOATING "m"

#endif

#ifndef __x86_64__
void probity_cpu_keep(struct probity_cpu_registers *ret_kept)
{
    (void)ret_kept;
}

void probity_cpu_restore(const struct probity_cpu_registers *kept)
{
    (void)kept;
}
#endif

/* ---- Chains ------------------------------------------------------------------------------------
 *
 * The empty asm keeps the compiler from computing a result in advance. Each chain is several times
 * as long as a processor's window of unfinished instructions.
 */

static void chain_integers(void)
{
    enum { ROUNDS = 192 };
    uint64_t value = 12345;

    for (int i = 0; i < ROUNDS; i++) {
        value *= UINT64_C(0x9e3779b97f4a7c15);
        __asm__ volatile("" : "+r"(value));
    }
}

/* All results are exact: the program may have unmasked the inexact exception, or may test for
 * it. */
static void chain_doubles(void)
{
    enum { ROUNDS = 112 };
    double value = 1, one = 1, zero = 0;

    __asm__ volatile("" : "+" FLOATING(value), "+" FLOATING(one), "+" FLOATING(zero));
    for (int i = 0; i < ROUNDS; i++) {
        value = value * one;
        __asm__ volatile("" : "+" FLOATING(value));
        value = value + zero;
        __asm__ volatile("" : "+" FLOATING(value));
    }
}

static void chain_loads(void)
{
    enum { ROUNDS = 192, PLACES = 8 };
    const void *place[PLACES];

    for (int i = 0; i < PLACES; i++)
        place[i] = &place[(i + 3) % PLACES];
    const void *const *at = place;
    __asm__ volatile("" : "+r"(at) : : "memory");
    for (int i = 0; i < ROUNDS; i++) {
        at = *at;
        __asm__ volatile("" : "+r"(at));
    }
}

static void chain_divisions(void)
{
    enum { ROUNDS = 64 };
    uint64_t value = 12345;

    for (int i = 0; i < ROUNDS; i++) {
        __asm__ volatile("" : "+r"(value));
        value = UINT64_C(0xfffffffffffffff1) / (value | 1);
    }
    __asm__ volatile("" : : "r"(value));
}

void probity_cpu_chain(enum probity_cpu_chain kind)
{
    switch (kind) {
    case PROBITY_CPU_CHAIN_INTEGERS: chain_integers(); break;
    case PROBITY_CPU_CHAIN_LOADS: chain_loads(); break;
    case PROBITY_CPU_CHAIN_DOUBLES: chain_doubles(); break;
    default: chain_divisions(); break;
    }
}
