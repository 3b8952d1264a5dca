# The queries of packaging/grafana/probity-fleet.json in the form in which Grafana's data source
# sends them. Sourced after clickhouse.bash.
dashboard=$SOURCE/packaging/grafana/probity-fleet.json

# Formats the result of a variable's query as a quoted list, like Grafana's format sqlstring.
quoted() {
    sql "$1 FORMAT JSONCompact" |
        jq -r --arg q "'" '[.data[][0] | $q + gsub($q; $q + $q) + $q] | join(",")'
}

variable() {
    jq -r --arg name "$1" '.templating.list[] | select(.name == $name) | .query' "$dashboard"
}

# Prints the statement that the data source sends. $1 query, $2 functions
# shellcheck disable=SC2016
filled() {
    local text=$1
    text=${text//'${host:sqlstring}'/$hosts}
    text=${text//'${label:sqlstring}'/$labels}
    text=${text//'${function:csv}'/$2}
    text=${text//'$__fromTime'/toDateTime($from)}
    text=${text//'$__toTime'/toDateTime($((from + 7200)))}
    echo "${text//'$__interval_s'/60}"
}

query_of() {
    jq -r --arg title "$1" '.panels[] | select(.title == $title) | .targets[0].rawSql' "$dashboard"
}

# Runs all queries: each must have a result. Sets "hosts", "labels", "functions" and "from".
asks_dashboard() {
    local title statement
    hosts=$(quoted "$(variable host)")
    labels=$(quoted "$(variable label)")
    # For a variable whose value differs from its text.
    functions=$(sql "$(variable function) FORMAT JSON" | jq -r '[.data[].__value] | join(",")')
    from=$(($(date +%s) / 60 * 60 - 600))
    while IFS= read -r title; do
        statement=$(filled "$(query_of "$title")" "$functions")
        ! grep -q '[$]' <<< "$statement" || fail "$title: an unknown variable in $statement"
        sql "$statement FORMAT JSON" > answer || fail "$title: $(cat answer)"
        [ "$(jq '.rows' answer)" -gt 0 ] || fail "$title: no row: $statement"
    done < <(jq -r '.panels[].title' "$dashboard")
}
