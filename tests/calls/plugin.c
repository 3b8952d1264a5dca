/* SPDX-License-Identifier: MIT
 *
 * plugin.c: allocates when it is loaded and unloaded, through the program's counting functions.
 */
void *allocate(void);
void release(void *at);

static void *kept;

__attribute__((constructor)) static void construct(void)
{
    kept = allocate();
    release(allocate());
}

__attribute__((destructor)) static void destruct(void)
{
    release(kept);
}
