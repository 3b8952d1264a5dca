# Completion of probity(1) for bash.

# Behind a "--" stands the program.
_probity_program() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            mapfile -t COMPREPLY < <(compgen -c -f -- "$1")
            return 0
        fi
    done
    return 1
}

_probity_overhead() {
    _probity_program "$1" && return
    case $2 in
        -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$1") ;;
        --base) mapfile -t COMPREPLY < <(compgen -c -f -- "$1") ;;
        -n | --pairs | --min-time) ;;
        *) mapfile -t COMPREPLY < <(compgen -c -W '-o --output -f --force -n --pairs --min-time
            --profile --base -i --ignore-status --json --csv -h --help --' -- "$1") ;;
    esac
}

_probity_record() {
    _probity_program "$1" && return
    case $2 in
        -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$1") ;;
        --mode) mapfile -t COMPREPLY < <(compgen -W 'block drop ring' -- "$1") ;;
        --label) ;;
        *) mapfile -t COMPREPLY < <(compgen -c -W '-o --output -f --force --label --mode -h --help --' -- "$1") ;;
    esac
}

_probity() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W \
            'record
             csv
             log
             report
             info
             check
             recover
             level
             tree
             threads
             blocks
             hist
             diff
             export
             list
             model
             overhead
             runs
             timeline
             view
             help --help --version' -- "$word")
        return
    fi
    # Bash cuts --mode=ring at the equals sign.
    if [[ $word == = ]]; then
        word=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    # A list: what is there already stays in front.
    if [[ ${COMP_WORDS[1]} == csv && $previous == --columns ]]; then
        local list=
        [[ $word == *,* ]] && list=${word%,*},
        mapfile -t COMPREPLY < <(compgen -P "$list" -W 'pid tid probe name cpu_s cpu_ns
            wall_s wall_ns cpu wall tick thread role correlation object' -- "${word##*,}")
        return
    fi
    if [[ ${COMP_WORDS[1]} == log && $previous == --time ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'none relative wall' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == log && $previous == --color ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == report && $previous == --sort ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'calls total self cpu-total cpu-self off-total off-self
            paused elapsed parallelism min mean p50 p90 p99 max total-corrected total-error
            self-corrected self-error name' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == report && $previous == --columns ]]; then
        local keys=
        [[ $word == *,* ]] && keys=${word%,*},
        mapfile -t COMPREPLY < <(compgen -P "$keys" -W 'calls total self cpu-total cpu-self
            off-total off-self paused elapsed parallelism min mean p50 p90 p99 max
            total-corrected total-error self-corrected self-error distribution' \
            -- "${word##*,}")
        return
    fi
    if [[ ${COMP_WORDS[1]} == tree && $previous == --sort ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'calls total self cpu-total cpu-self off-total off-self
            paused name' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == tree && $previous == --value ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'wall cpu off-cpu calls' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == export && $previous == --format ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'chrome perfetto ctf speedscope callgrind pprof folded
            sqlite graphviz otlp otlp-json' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == export && $previous == --value ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'wall cpu off-cpu calls' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == export && $previous == --graph ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'calls blocks' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == runs && $COMP_CWORD == 2 && $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'init add list show rm' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == threads && $previous == --sort ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'first last lifetime cpu off-cpu records hits scopes tid
            name' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == list && $previous == --sort ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'place hits name kind level' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == blocks && $previous == --sort ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'total calls probability cpu off-cpu min mean p50 p90
            p99 max name' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == diff && $previous == --sort ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'impact change name calls self total cpu mean median
            p99' -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == diff && $previous == --statistic ]]; then
        local list=
        [[ $word == *,* ]] && list=${word%,*},
        mapfile -t COMPREPLY < <(compgen -P "$list" -W 'calls self total cpu mean median p99' \
            -- "${word##*,}")
        return
    fi
    if [[ ${COMP_WORDS[1]} == blocks && $previous == --by ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'thread correlation' -- "$word")
        return
    fi
    case ${COMP_WORDS[1]} in
        record) _probity_record "$word" "$previous"; return ;;
        overhead) _probity_overhead "$word" "$previous"; return ;;
        csv) options='-o --output -f --force --header --columns --from --to --tid --probe -h --help' ;;
        log) options='-o --output -f --force --follow --function --level --depth --min-duration --tid
            --from --to --by-thread --probes --time --color -h --help' ;;
        report) options='-o --output -f --force --sort -n --limit --by-thread --signature --places
            --from --to --tid --function --json --csv --wide --columns --corrected -h --help' ;;
        tree) options='-o --output -f --force --by-thread --depth --min-percent --function --callers
            --callees --fold-recursion --sort --places --from --to --tid --json --csv --folded
            --corrected --value -h --help' ;;
        timeline) options='-o --output -f --force --cpu --width --from --to --tid --json -h --help' ;;
        view) options='-o --output -f --force --diff --open --project --spans --from --to --tid -h
            --help' ;;
        threads) options='-o --output -f --force --sort --from --to --tid --json --csv -h --help' ;;
        blocks) options='-o --output -f --force --sort -n --limit --from --to --probe --by --by-thread
            --corrected --slowest --since --until --tid --json
            --csv -h --help' ;;
        list) options='-o --output -f --force --never --hit --function --file --probe --sort -n --limit
            --signature --from --to --tid --json --csv -h --help' ;;
        hist) options='-o --output -f --force --self --cpu --off-cpu --from --to --probe --linear
            --rows --since --until --tid --json --csv -h --help' ;;
        export) options='-o --output -f --force --format --value --by-thread --graph --header
            --from --to --tid -h --help' ;;
        model) options='-o --output -f --force --json --dot --text --from --to --tid -h --help' ;;
        info | level) options='--json -h --help' ;;
        diff) options='-o --output -f --force --statistic --function --block --changed --tolerance
            --fail-on --project --sort -n --limit --from --to --json --csv -h --help' ;;
        runs) options='--label --project --json --csv -o --output -f --force -h --help' ;;
        check | recover) options='-h --help' ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -o filenames -o bashdefault -F _probity probity
