/* SPDX-License-Identifier: MIT
 *
 * arguments.c: see arguments.h. A function is found by its symbol, as in the library. At its entry,
 * arguments are in the places that the ABI prescribes, unless the compiler has changed the
 * function: then only arguments that DWARF places in a register at that point are described.
 */
#include "symbols/arguments.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array_grow.h"
#include "base/cpu.h"
#include "base/selection.h"
#include "symbols/object.h"
#include "symbols/values.h"

struct symbols_arguments {
    struct symbols_description description;
};

struct symbols_arguments *symbols_arguments_new(void)
{
    return calloc(1, sizeof(struct symbols_arguments));
}

void symbols_arguments_release(struct symbols_arguments *arguments)
{
    symbols_description_release(&arguments->description);
    free(arguments);
}

uint8_t *symbols_arguments_bytes(const struct symbols_arguments *arguments, size_t *ret_bytes)
{
    return symbols_description_bytes(&arguments->description, ret_bytes);
}

/* ---- Locations ---------------------------------------------------------------------------------
 */

/* The place of a parameter at the entry of its function, according to DWARF. */
enum location {
    LOCATION_NONE,     /* none: it may have been optimized away */
    LOCATION_REGISTER, /* in a register, at least its first part */
    LOCATION_MEMORY    /* on the stack, or in the frame, which does not yet exist */
};

/* Argument registers by their numbers in DWARF. */
struct machine {
    uint16_t elf;
    uint8_t generals, general[8], first_vector;
    uint8_t sled_bytes;
    uint8_t nops_max; /* maximum number of nops in patchable entries, which gcc 12 leaves out of
                       * DWARF's functions */
};
enum { VECTORS = 8 };

static const struct machine machines[] = {
    {EM_X86_64, 6, {5, 4, 1, 2, 8, 9}, 17, 11, 0},
    {EM_AARCH64, 8, {0, 1, 2, 3, 4, 5, 6, 7}, 64, 32, 8},
};

/* Returns 0 for a register that does not hold arguments. */
static int place_of_register(const struct machine *machine, uint64_t number,
                             struct probity_arguments_place *ret_place)
{
    for (uint16_t i = 0; i < machine->generals; i++) {
        if (machine->general[i] == number) {
            *ret_place = (struct probity_arguments_place){.where = PROBITY_ARGUMENTS_GENERAL,
                                                          .index = i};
            return 1;
        }
    }
    *ret_place = (struct probity_arguments_place){
        .where = PROBITY_ARGUMENTS_VECTOR, .index = (uint16_t)(number - machine->first_vector)};
    return number >= machine->first_vector && number - machine->first_vector < VECTORS;
}

/* has_sled: the function's own code may begin after a sled. */
static enum location locate(Dwarf_Die *parameter, Dwarf_Addr entry, const struct machine *machine,
                            int has_sled, struct probity_arguments_place *ret_place)
{
    Dwarf_Addr after = entry + (has_sled ? machine->sled_bytes : 0);
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;

    if (dwarf_attr(parameter, DW_AT_location, &attribute) == NULL ||
        (dwarf_getlocation_addr(&attribute, entry, &operations, &count, 1) != 1 &&
         dwarf_getlocation_addr(&attribute, after, &operations, &count, 1) != 1) || count == 0)
        return LOCATION_NONE;
    unsigned operation = operations[0].atom;
    if (operation >= DW_OP_reg0 && operation <= DW_OP_reg31 &&
        place_of_register(machine, operation - DW_OP_reg0, ret_place))
        return LOCATION_REGISTER;
    if (operation == DW_OP_regx && place_of_register(machine, operations[0].number, ret_place))
        return LOCATION_REGISTER;
    /* A bool is only some of the bits of a register. */
    if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31 && operations[0].number == 0 &&
        operations[count - 1].atom == DW_OP_stack_value &&
        place_of_register(machine, operation - DW_OP_breg0, ret_place))
        return LOCATION_REGISTER;
    return operation == DW_OP_fbreg || operation == DW_OP_call_frame_cfa ||
                   (operation >= DW_OP_breg0 && operation <= DW_OP_breg31 && count == 1)
               ? LOCATION_MEMORY
               : LOCATION_NONE;
}

/* ---- Functions ---------------------------------------------------------------------------------
 */

enum { PARAMETERS_MAX = 64 };

struct parameter {
    const char *name; /* NULL: not shown */
    struct symbols_type type;
    struct symbols_passing passing;
    struct probity_arguments_place place; /* for LOCATION_REGISTER */
    enum location location;
};

/* A function in one object, and its symbol. */
struct subject {
    Dwarf_Die die;
    Dwarf_Addr entry;
    const struct machine *machine;
    const char *symbol;
    int is_local; /* its symbol is local */
    struct parameter parameters[PARAMETERS_MAX];
    size_t count;
    int is_changed; /* changed by the compiler */
};

/* "name.constprop.0" is a different function from "name"; "name.lto_priv.0" is the same. */
static int is_copy(const char *symbol)
{
    const char *suffix = strchr(symbol + 1, '.');

    return suffix != NULL && strncmp(suffix, ".lto_priv", 9) != 0 &&
           strncmp(suffix, ".localalias", 11) != 0 && strncmp(suffix, ".llvm.", 6) != 0;
}

static int is_by_clang(struct subject *subject)
{
    Dwarf_Attribute attribute;
    Dwarf_Die unit;

    if (dwarf_diecu(&subject->die, &unit, NULL, NULL) == NULL ||
        dwarf_attr(&unit, DW_AT_producer, &attribute) == NULL)
        return 0;
    const char *producer = dwarf_formstring(&attribute);
    return producer != NULL && strstr(producer, "clang") != NULL;
}

static int is_optimized_by_clang(struct subject *subject)
{
    return is_by_clang(subject) &&
           (dwarf_hasattr(&subject->die, DW_AT_call_all_calls) ||
            dwarf_hasattr(&subject->die, DW_AT_GNU_all_call_sites));
}

/* Parameters added by the compiler have reserved names, such as __vtt_parm; `this` is shown. */
static const char *shown_name(Dwarf_Die *parameter)
{
    const char *name = dwarf_diename(parameter);
    Dwarf_Attribute attribute;
    int is_artificial =
        dwarf_attr_integrate(parameter, DW_AT_artificial, &attribute) != NULL;

    return name != NULL && *name != '\0' && (!is_artificial || strcmp(name, "this") == 0) ? name
                                                                                           : NULL;
}

/* Returns 0 if there are too many. */
static int read_parameters(struct subject *subject)
{
    int has_sled = is_by_clang(subject);
    Dwarf_Die child;

    for (int error = dwarf_child(&subject->die, &child); error == 0;
         error = dwarf_siblingof(&child, &child)) {
        struct parameter *parameter = &subject->parameters[subject->count];
        if (dwarf_tag(&child) != DW_TAG_formal_parameter)
            continue;
        if (subject->count == PARAMETERS_MAX)
            return 0;
        subject->count++;
        *parameter = (struct parameter){.name = shown_name(&child)};
        if (!symbols_type_of(&child, &parameter->type))
            parameter->type.tag = 0;
        parameter->location =
            locate(&child, subject->entry, subject->machine, has_sled, &parameter->place);
    }
    return 1;
}

static void pass_all(struct subject *subject, const struct symbols_passing *result)
{
    struct symbols_taken taken = {.machine = subject->machine->elf};

    /* The caller passes the address of a large result. */
    if (symbols_address_is_argument(taken.machine) &&
        (result->how == SYMBOLS_PASSED_IN_MEMORY || result->how == SYMBOLS_PASSED_BY_ADDRESS))
        taken.general = 1;
    taken.is_lost = result->how == SYMBOLS_PASSED_LOST;
    for (size_t i = 0; i < subject->count; i++)
        subject->parameters[i].passing =
            symbols_pass_argument(&subject->parameters[i].type, &taken);
}

/* Whether DWARF contradicts the ABI, or may do so: compilers remove parameters of local
 * functions. */
static int is_changed(const struct subject *subject)
{
    Dwarf_Die die = subject->die;

    if (is_copy(subject->symbol) || dwarf_hasattr(&die, DW_AT_calling_convention))
        return 1;
    for (size_t i = 0; i < subject->count; i++) {
        const struct parameter *parameter = &subject->parameters[i];
        const struct probity_arguments_place *place = &parameter->passing.place[0];
        int is_somewhere = parameter->passing.how == SYMBOLS_PASSED_IN_PLACES ||
                           parameter->passing.how == SYMBOLS_PASSED_BY_ADDRESS;
        if (parameter->location == LOCATION_NONE && subject->is_local)
            return 1;
        if (parameter->location == LOCATION_REGISTER && is_somewhere &&
            (parameter->place.where != place->where || parameter->place.index != place->index))
            return 1;
    }
    return 0;
}

/* In such a function, only numbers that DWARF places entirely in a register are known. */
static void trust_locations(struct parameter *parameter)
{
    enum { WORD = 8 };
    int is_scalar = parameter->type.tag == DW_TAG_base_type ||
                    parameter->type.tag == DW_TAG_enumeration_type ||
                    parameter->type.tag == DW_TAG_pointer_type;

    parameter->passing.how = SYMBOLS_PASSED_LOST;
    if (parameter->location == LOCATION_REGISTER && is_scalar && parameter->type.bytes <= WORD) {
        parameter->passing.how = SYMBOLS_PASSED_IN_PLACES;
        parameter->passing.unit = WORD;
        parameter->passing.count = 1;
        parameter->passing.place[0] = parameter->place;
    }
}

/* A result that no caller uses is not computed: compilers remove it from local functions. */
static int is_result_known(struct subject *subject, const struct symbols_passing *result)
{
    return result->how == SYMBOLS_PASSED_IN_PLACES && !subject->is_changed &&
           !(subject->is_local && is_optimized_by_clang(subject));
}

static void describe(struct symbols_values *values, struct subject *subject, int with_arguments,
                     int with_results, struct probity_arguments_function *function)
{
    struct symbols_type type;
    int has_type = symbols_type_of(&subject->die, &type);
    struct symbols_passing result = has_type
                                        ? symbols_pass_result(&type, subject->machine->elf)
                                        : (struct symbols_passing){.how = SYMBOLS_PASSED_LOST};

    if (!read_parameters(subject))
        return;
    pass_all(subject, &result);
    subject->is_changed = is_changed(subject);
    values->count = 0;
    int is_by_clang = is_optimized_by_clang(subject);
    for (size_t i = 0; i < subject->count && with_arguments; i++) {
        struct parameter *parameter = &subject->parameters[i];
        if (subject->is_changed)
            trust_locations(parameter);
        else if (is_by_clang && parameter->location == LOCATION_NONE &&
                 parameter->passing.how != SYMBOLS_PASSED_NOT)
            parameter->passing.how = SYMBOLS_PASSED_LOST; /* callers omit unused parameters */
        if (parameter->name != NULL)
            symbols_values_add(values, parameter->name, &parameter->type, &parameter->passing);
    }
    function->arguments = (uint16_t)values->count;
    values->count = 0;
    if (with_results && is_result_known(subject, &result))
        symbols_values_add(values, "", &type, &result);
    function->results = (uint16_t)values->count;
}

/* ---- Objects -----------------------------------------------------------------------------------
 */

/* One file, whose functions are being added. */
struct adding {
    struct symbols_arguments *arguments;
    const struct symbols_wanted *wanted;
    struct symbols_found *found;
    struct symbols_object *object;
    const char *file; /* its name without directories */
    const struct machine *machine;
    struct symbols_values values;
    struct probity_arguments_function *functions;
    size_t count, room;
};

/* Returns NULL if it is not an executable or shared library for this machine. */
static const struct machine *machine_of(const struct symbols_object *object, GElf_Addr *ret_bias)
{
    GElf_Ehdr head;
    Dwfl_Module *module = object->file.module;
    Elf *elf = module != NULL ? dwfl_module_getelf(module, ret_bias) : NULL;

    if (elf == NULL || gelf_getehdr(elf, &head) == NULL ||
        head.e_machine != PROBITY_CPU_ELF_MACHINE || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        (head.e_type != ET_EXEC && head.e_type != ET_DYN))
        return NULL;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (machines[i].elf == head.e_machine)
            return &machines[i];
    }
    return NULL;
}

/* Whether the file has sleds, or patchable entries. */
static int has_places(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &header) != NULL
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name != NULL && (strcmp(name, "xray_instr_map") == 0 ||
                             strcmp(name, "__patchable_function_entries") == 0))
            return 1;
    }
    return 0;
}

/* Whether a symbol is that of a hook not defined in its file. */
static int is_hook(const char *name, const GElf_Sym *symbol)
{
    static const char *const hooks[] = {"__fentry__", "__cyg_profile_func_enter"};
    size_t bytes = strcspn(name, "@");

    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        if (symbol->st_shndx == SHN_UNDEF && bytes == strlen(hooks[i]) &&
            memcmp(name, hooks[i], bytes) == 0)
            return 1;
    }
    return 0;
}

/* System libraries may have functions with the same names, which are not recorded. */
static int has_hooks(const struct symbols_object *object)
{
    GElf_Addr bias, address;
    GElf_Word section;
    GElf_Sym symbol;
    int count = dwfl_module_getsymtab(object->file.module);

    for (int i = 0; i < count; i++) {
        const char *name = dwfl_module_getsym_info(object->file.module, i, &symbol, &address,
                                                   &section, NULL, NULL);
        if (name != NULL && is_hook(name, &symbol))
            return 1;
    }
    return has_places(dwfl_module_getelf(object->file.module, &bias));
}

static int is_wanted(const struct adding *adding, const char *rules, const char *symbol,
                     uint64_t bytes)
{
    char name[512];
    size_t length = strcspn(symbol + 1, ".") + 1;

    if (rules == NULL || length >= sizeof name)
        return 0;
    memcpy(name, symbol, length);
    name[length] = '\0';
    const struct probity_selection_subject subject = {name, adding->file, bytes, 0};
    return probity_selection_takes(rules, &subject);
}

static struct probity_arguments_function *new_function(struct adding *adding)
{
    void *functions = probity_array_room(adding->functions, sizeof *adding->functions,
                                         adding->count, &adding->room);

    if (functions == NULL) {
        adding->arguments->description.is_short = 1;
        return NULL;
    }
    adding->functions = functions;
    return &adding->functions[adding->count++];
}

/* Whether DWARF has the function; sets the start of its code there. */
static int find_function(struct adding *adding, uint64_t bytes, struct subject *subject)
{
    enum { NOP_BYTES = 4 };
    uint64_t most = NOP_BYTES * (uint64_t)subject->machine->nops_max, symbol = subject->entry;

    for (uint64_t skipped = 0; skipped <= most && (skipped == 0 || skipped < bytes);
         skipped += NOP_BYTES) {
        subject->entry = symbol + skipped;
        if (symbols_object_at(adding->object, subject->entry, &subject->die))
            return 1;
    }
    return 0;
}

static void add_function(struct adding *adding, const char *symbol, const GElf_Sym *facts,
                         uint64_t address)
{
    struct subject subject = {
        .entry = address, .machine = adding->machine, .symbol = symbol,
        .is_local = GELF_ST_BIND(facts->st_info) == STB_LOCAL};
    int with_arguments = is_wanted(adding, adding->wanted->arguments, symbol, facts->st_size);
    int with_results = is_wanted(adding, adding->wanted->results, symbol, facts->st_size);

    if (!with_arguments && !with_results)
        return;
    adding->found->functions++;
    if (!find_function(adding, facts->st_size, &subject)) {
        adding->found->undescribed++;
        return;
    }
    struct probity_arguments_function *function = new_function(adding);
    if (function == NULL)
        return;
    *function = (struct probity_arguments_function){
        .address = address,
        .first_value = symbols_description_count(&adding->arguments->description.values,
                                                 sizeof(struct probity_arguments_value))};
    describe(&adding->values, &subject, with_arguments, with_results, function);
    adding->found->described += function->arguments + function->results > 0;
}

static void add_symbols(struct adding *adding, GElf_Addr bias)
{
    int count = dwfl_module_getsymtab(adding->object->file.module);

    for (int i = 0; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        const char *name = dwfl_module_getsym_info(adding->object->file.module, i, &symbol,
                                                   &address, &section, NULL, NULL);
        if (name != NULL && *name != '\0' && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
            symbol.st_shndx != SHN_UNDEF)
            add_function(adding, name, &symbol, address - bias);
    }
}

static int compare_functions(const void *left, const void *right)
{
    const struct probity_arguments_function *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    int more = (b->arguments + b->results) - (a->arguments + a->results);
    if (more != 0)
        return more;
    return a->first_value < b->first_value ? -1 : a->first_value > b->first_value;
}

/* Of several symbols at one address, uses the one with the most values; if none has values, uses
 * none. */
static uint32_t keep_functions(struct adding *adding)
{
    uint32_t kept = 0;

    if (adding->count > 0)
        qsort(adding->functions, adding->count, sizeof *adding->functions, compare_functions);
    for (size_t i = 0; i < adding->count; i++) {
        const struct probity_arguments_function *function = &adding->functions[i];
        if (function->arguments + function->results > 0 &&
            (kept == 0 || adding->functions[kept - 1].address != function->address))
            adding->functions[kept++] = *function;
    }
    return kept;
}

/* Stores the identity of the file, which the library checks: the build id, or the file's status. */
static void identify(const struct adding *adding, struct probity_arguments_object *object)
{
    const unsigned char *bits;
    GElf_Addr address;
    struct stat status;
    int bytes = dwfl_module_build_id(adding->object->file.module, &bits, &address);

    if (bytes > 0 && bytes <= PROBITY_ARGUMENTS_BUILD_ID_MAX) {
        object->build_id_bytes = (uint32_t)bytes;
        memcpy(object->build_id, bits, (size_t)bytes);
    } else if (stat(adding->object->path, &status) == 0) {
        object->device = status.st_dev;
        object->inode = status.st_ino;
        object->file_bytes = (uint64_t)status.st_size;
        object->changed_ns = (uint64_t)status.st_ctim.tv_sec * 1000000000 +
                             (uint64_t)status.st_ctim.tv_nsec;
    }
}

static void add_object(struct adding *adding)
{
    struct symbols_description *description = &adding->arguments->description;
    struct probity_arguments_object object = {
        .first_function = symbols_description_count(&description->functions,
                                                    sizeof *adding->functions)};

    object.functions = keep_functions(adding);
    if (object.functions == 0)
        return;
    identify(adding, &object);
    symbols_table_add(description, &description->functions, adding->functions,
                      object.functions * sizeof *adding->functions);
    symbols_table_add(description, &description->objects, &object, sizeof object);
}

void symbols_arguments_add(struct symbols_arguments *arguments, const char *path,
                           const struct symbols_wanted *wanted, struct symbols_found *ret_found)
{
    const char *slash = strrchr(path, '/');
    struct adding adding = {.arguments = arguments,
                            .wanted = wanted,
                            .found = ret_found,
                            .file = slash != NULL ? slash + 1 : path,
                            .values = {.description = &arguments->description}};
    GElf_Addr bias;

    *ret_found = (struct symbols_found){0};
    unsetenv("DEBUGINFOD_URLS"); /* otherwise libdwfl would request missing files from servers */
    adding.object = symbols_object_open(path);
    if (adding.object == NULL) {
        arguments->description.is_short = 1;
        return;
    }
    adding.machine = machine_of(adding.object, &bias);
    ret_found->is_readable = adding.machine != NULL;
    ret_found->is_unused = adding.object->file.is_unused;
    if (ret_found->is_readable && (wanted->is_any || has_hooks(adding.object))) {
        add_symbols(&adding, bias);
        add_object(&adding);
    }
    arguments->description.is_short |= adding.object->is_short;
    symbols_values_release(&adding.values);
    free(adding.functions);
    symbols_object_close(adding.object);
}
