# Runs spin on the models in this directory. Sourced after tests/common.bash; works in the current
# directory.
MODELS=$SOURCE/tests/model

# The models' names come from the enums in src/spool/layout.h, so they cannot diverge: a name that
# no longer exists does not compile, and each state of a chunk must occur.
model_names() {
    awk '/^enum probity_(chunk_state|spool_state|word_kind)/, /^};/ {
            gsub(",", "")
            if ($2 == "=")
                print "#define", $1, $3
        }' "$SOURCE/src/spool/layout.h" > names.pml
    [ "$(wc -l < names.pml)" -ge 12 ] || fail "names of states: $(cat names.pml)"
    for name in $(sed -n 's/#define \(PROBITY_CHUNK_[A-Z]*\) .*/\1/p' names.pml); do
        grep -qs "\<$name\>" "$MODELS"/*.pml || fail "no model knows the state $name"
    done
}

# Checks all states of a model. A state in which no process can continue is an error, unless one
# process always can. $1 description, $2 file, $3 "holds" or the expected error, the rest: settings
# (-DNAME...)
model() {
    local what=$1 file=$2 expected=$3 directory=model.directory limits=-E reduce='' found
    local optimize=-O1
    # A fault is found quickly, so the compiler would take most of the time.
    [ "$expected" = holds ] || optimize=-O0
    rm -rf "$directory"
    shift 3
    case " $* " in
        *" -DNO_DEATH "*) limits='' ;;
    esac
    if grep -q ') provided (' "$MODELS/$file"; then
        reduce=-DNOREDUCE # reduction cannot find out which steps are independent
    fi
    mkdir "$directory"
    cp names.pml "$MODELS"/*.pml "$directory"
    # shellcheck disable=SC2086
    (
        cd "$directory" || exit
        spin -a "$@" "$file" > made && gcc "$optimize" -w -DSAFETY -DCOLLAPSE $reduce \
            -DMEMLIM="${MODEL_MIB:-3000}" -o pan pan.c
    ) || fail "$what: $(cat "$directory/made")"
    # shellcheck disable=SC2086
    (cd "$directory" && timeout "${MODEL_SECONDS:-100}" ./pan $limits -m1000000 > out 2>&1) || true
    if grep -q 'errors: 0' "$directory/out" && ! grep -qE 'out of memory|too small' "$directory/out"; then
        found=holds
    else
        found=$(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' "$directory/out")
        [ -n "$found" ] || found="no answer: $(tail -n 3 "$directory/out")"
    fi
    if [ "$expected" = holds ]; then
        expect "$what" holds "$found"
    else
        [[ $found == *$expected* ]] || fail "$what: expected '$expected', found '$found'"
    fi
    MODEL_STATES=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$directory/out")
    printf "%-38s %s states; %s\n" "$what" "$MODEL_STATES" "${found%% (*}"
    rm -rf "$directory"
}

# Faults to inject into the models. Each must be found.
# shellcheck disable=SC2034 # for the scripts
MODEL_FAULTS='handover.pml RESERVE_IN_TWO
handover.pml GIVE_BACK_BLINDLY
handover.pml FULL_BEFORE_USED
handover.pml ZEROES_LAST
handover.pml NO_PENDING
handover.pml HEAD_FIRST
handover.pml CHANGE_WITH_SIGNALS_OPEN
handover.pml FREE_BEFORE_WRITE
handover.pml DRAIN_OVER_HOLES
handover.pml FREE_WITH_HOLE
handover.pml ONE_BATCH
pool.pml NO_TAG
live.pml SERIAL_BEHIND_THREAD
live.pml NO_LOOK_AGAIN
live.pml FREE_BEFORE_WRITE
recover.pml NO_LOCK
recover.pml FIELD_BEHIND_LOCK
recover.pml NAME_BEFORE_LOCK
levels.pml PUBLISH_ONCE
levels.pml ANSWER_STORES_LEVELS'

# $1 file, $2 fault
model_fault() {
    local settings=()
    case $1 in
        handover.pml) settings=(-DOWNERS=1 -DRECORDS=4 -DHOW=36) ;;
        recover.pml) settings=(-DRUNS=1) ;;
    esac
    model "$1 with $2" "$1" assertion "${settings[@]}" "-DMUTATE_$2"
}
