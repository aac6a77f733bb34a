#!/usr/bin/env bash
# Measures what a device gains: the index scan itself with each executor, inside PostgreSQL, on uniform data.
#
#   bench/device.sh [--rows N] [--device LIST] [--repetitions N] [--sweep | --columns | --aggregates] [--out FILE]
#
# Starts a private server (rtscan must be installed), loads three int4 columns, builds the index, and writes tables: for
# each executor and selectivity of a column, the scan up to row bits, the device's part of it, and up to counts alone;
# the throughput of 16 and 64 sessions compared with one; and how long builds take.
# --sweep also varies box width, ray length, spacing, gap and direction of the executor rt, its ablations, other sieves,
# correlated columns, and values that are not encoded, for which `make bench/encoding` must have been run.
# --columns measures one to six columns, and other distributions, instead.
# --aggregates measures what devices add up, for each list of devices: --device may be repeated, as in --device 0
# --device 0,1, and then the index is built only once; and the throughput of sessions with the last list.
# Times are medians, in milliseconds. The first table also has those of a few scans, because without
# rtscan.device_clocks a device's clock rises only under continuous load.
set -euo pipefail

rows=100000000 devices=() repetitions=2000 sweep= several= aggregates= out=/dev/stdout
while [ $# -gt 0 ]; do
  case $1 in
    --rows) rows=$2; shift 2 ;;
    --device) devices+=("$2"); shift 2 ;;
    --repetitions) repetitions=$2; shift 2 ;;
    --sweep) sweep=yes; shift ;;
    --columns) several=yes; shift ;;
    --aggregates) aggregates=yes; shift ;;
    --out) out=$2; shift 2 ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done

[ ${#devices[@]} -gt 0 ] || devices=("")
[ ${#devices[@]} = 1 ] || [ -n "$aggregates" ] || { echo "several lists of devices are for --aggregates" >&2; exit 2; }
encoding=$(dirname "$0")/encoding
[ -z "$sweep" ] || [ -x "$encoding" ] || { echo "there is no $encoding, which --sweep needs: run make bench/encoding" >&2; exit 2; }

PG_CONFIG=${PG_CONFIG:-pg_config}
bin=$("$PG_CONFIG" --bindir)
work=$(mktemp -d)
as_server() { if [ "$(id -u)" = 0 ]; then runuser -u "${SERVER_USER:-postgres}" -- "$@"; else "$@"; fi; }
query() { "$bin/psql" -h "$work" -U bench -d postgres -XAtq -F ' | ' "$@"; }

start() {
  [ "$(id -u)" != 0 ] || chown "${SERVER_USER:-postgres}" "$work"
  as_server "$bin/initdb" -D "$work/data" -U bench -A trust --no-sync -E UTF8 --locale=C >/dev/null
  cat >>"$work/data/postgresql.conf" <<X
listen_addresses = ''
unix_socket_directories = '$work'
shared_buffers = '${SHARED_BUFFERS:-16GB}'
maintenance_work_mem = '${aggregates:+3}1GB'
max_wal_size = '64GB'
wal_level = minimal
max_wal_senders = 0
autovacuum = off
jit = off
fsync = off
max_parallel_workers_per_gather = 0
max_worker_processes = $(($(nproc) + 8))
max_parallel_workers = $(nproc)
shared_preload_libraries = 'rtscan'
rtscan.device = '${devices[0]}'
rtscan.fallback = off
X
  as_server "$bin/pg_ctl" -D "$work/data" -l "$work/log" -w start >/dev/null
}

stop() {
  as_server "$bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$work"
}

# Waits until the programs of a list of devices have started; prints the log if they do not.
wait_for_devices() {
  local commas=${1//[^,]/}
  for _ in $(seq 300); do
    [ "$(query -c 'SELECT count(*) FROM rtscan_device()')" = $((${#commas} + 1)) ] && return
    sleep 0.1
  done
  cat "$work/log" >&2
  return 1
}

# $1 divided by the seconds since $2; if $1 is 0, the seconds
since() { awk -v n="$1" -v begin="$2" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.1f", n ? n / (end - begin) : end - begin }'; }

seconds() { local begin=$EPOCHREALTIME; "$@" >/dev/null; since 0 "$begin"; }

# Sets device_time to the milliseconds of the device's builds since the last call.
so_far=0
build_time() {
  local now
  now=$(query -c "SELECT sum(build_time) FROM rtscan_device()")
  device_time=$(awk -v a="$so_far" -v b="$now" 'BEGIN { printf "%.1f", b - a }')
  so_far=$now
}

# $1: one-sided, two-sided; $2: selectivity of a column
condition() {
  awk -v kind="$1" -v s="$2" 'BEGIN {
    n = 2147483647; s *= 1.005
    for (i = 1; i <= 3; i++) {
      c = substr("abc", i, 1); and = i > 1 ? " AND " : ""
      if (kind == "one-sided") printf "%s%s < %d", and, c, s * n
      else printf "%s%s BETWEEN %d AND %d", and, c, (0.5 - s / 2) * n, (0.5 + s / 2) * n
    }
  }'
}

# rows | bits_time | device_time of the executor $1 for the condition $2; counts $3; repetitions $4; table $5
scan() {
  query -c "SET rtscan.executor = '$1'; SET enable_seqscan = off" \
    -c "SELECT rows, round(bits_time::numeric, 3), round(device_time::numeric, 4)
        FROM rtscan_benchmark('SELECT 1 FROM ${5:-t} WHERE $2', $4, $3)" | tail -n 1
}

executors_table() {
  echo "| predicates | selectivity | executor | rows | up to bits | of that the device | up to counts | of that the device | up to bits, 20 times only |"
  echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
  local kind selectivity executor times bits counts few
  for kind in one-sided two-sided; do
    for selectivity in 0.01 0.1 0.2 0.5 0.9; do
      for executor in cpu compute rt; do
        times=$([ $executor = cpu ] && echo 20 || echo "$repetitions")
        few=$(sleep 0.5; scan $executor "$(condition $kind $selectivity)" false 20)
        bits=$(scan $executor "$(condition $kind $selectivity)" false "$times")
        counts=$(scan $executor "$(condition $kind $selectivity)" true "$times")
        echo "| $kind | $selectivity | $executor | $bits | ${counts#* | } | $(cut -d ' ' -f 3 <<<"$few") |"
      done
    done
  done
}

# Throughput of sessions that run the same statement at once: statements per second, their median time, that of the
# slowest in a hundred, and the statements of the slowest session as a fraction of those of the fastest. The first
# two seconds, in which sessions start, do not count. $1: executor, $2: sessions, $3: SQL
sessions() {
  local script=$work/statement.sql log=$work/statement.log
  rm -f "$log".*
  echo "$3;" >"$script"
  PGOPTIONS="-c rtscan.executor=$1 -c enable_seqscan=off" "$bin/pgbench" -h "$work" -U bench -n -M prepared -c "$2" -j "$(nproc)" \
    -T 5 -f "$script" --log --log-prefix="$log" postgres >"$work/pgbench" 2>&1 || { cat "$work/pgbench" >&2; return 1; }
  sort -n -k 5,5 -k 6,6 "$log".* | awk 'NR == 1 { first = $5 + $6 / 1e6 } $5 + $6 / 1e6 > first + 2' | sort -n -k 3,3 | awk -v sessions="$2" '
    { time[NR] = $3 / 1000; count[$1]++ }
    END {
      for (client in count) {
        if (most < count[client]) most = count[client]
        if (!fewest || fewest > count[client]) fewest = count[client]
      }
      if (!NR) { printf "0 | | | "; exit }
      if (length(count) < sessions) fewest = 0
      printf "%.0f | %.2f | %.2f | %.2f", NR / 3, time[int((NR + 1) / 2)], time[int((99 * NR + 99) / 100)], fewest / most
    }'
}

# The greatest time of another session's statement while a command runs, in milliseconds; the statement counts by
# compute
worst_wait() {
  local script=$work/statement.sql log=$work/statement.log
  rm -f "$log".*
  echo "SELECT count(*) FROM t WHERE $(condition one-sided 0.1);" >"$script"
  PGOPTIONS="-c rtscan.executor=compute -c enable_seqscan=off" "$bin/pgbench" -h "$work" -U bench -n -M prepared -T 4 -f "$script" \
    --log --log-prefix="$log" postgres >"$work/pgbench" 2>&1 &
  sleep 1.5
  "$@" >/dev/null
  wait $!
  sort -n -k 5,5 -k 6,6 "$log".* | awk 'NR == 1 { first = $5 + $6 / 1e6 } $5 + $6 / 1e6 > first + 1 && $3 > longest { longest = $3 } END { printf "%.1f", longest / 1000 }'
}

# $1: name, $2: SQL, and further pairs; the CPU is measured only with one list of devices
sessions_table() {
  local executor number executors=(cpu compute rt)
  [ ${#devices[@]} = 1 ] || executors=(compute rt)
  echo "| statement | executor | sessions | statements a second | median, ms | 99 % within | fewest / most of a session |"
  echo "| --- | --- | --- | --- | --- | --- | --- |"
  for (( ; $# > 0; )); do
    for executor in "${executors[@]}"; do
      for number in 1 16 64; do echo "| $1 | $executor | $number | $(sessions $executor $number "$2") |"; done
    done
    shift 2
  done
}

# Milliseconds of the device up to counts, for the table $1, at some selectivities of a column
device_times() {
  local executor selectivity
  for executor in compute rt; do
    for selectivity in 0.01 0.1 0.2 0.5; do
      printf '| %s ' "$(scan $executor "$(condition one-sided $selectivity)" true $((repetitions / 2)) "$1" | sed 's/.* | //')"
    done
  done
  echo "|"
}

# Makes a table of $2 rows, each SELECT $1.
make_table() {
  query -c "DROP TABLE IF EXISTS other" -c "CREATE TABLE other AS SELECT $1 FROM (SELECT random() * 2147483647 AS x FROM generate_series(1, $2)) AS r" \
    -c "VACUUM (ANALYZE) other" >/dev/null
}

# $1: options; $2: columns, if other than a, b, c
make_index() {
  query -c "DROP INDEX IF EXISTS other_index" -c "CREATE INDEX other_index ON other USING rtscan (${2:-a, b, c}) $1" \
    -c "SET rtscan.executor = rt" -c "SELECT rtscan_prewarm('other_index')" >/dev/null
}

# Other sieves, and correlated columns, with a fifth of the rows
others_table() {
  local fifth=$((rows / 5)) options
  echo "| $fifth rows, device ms up to counts | compute 0.01 | 0.1 | 0.2 | 0.5 | rt 0.01 | 0.1 | 0.2 | 0.5 |"
  echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
  make_table "x::int4 AS a, (random() * 2147483647)::int4 AS b, (random() * 2147483647)::int4 AS c" $fifth
  for options in "sieve_bins = 64" "sieve_bins = 256" "sieve_bins = 1024" "sieve_bins = 64, sieve_components = 1" "sieve_bins = 256, sieve_components = 1"; do
    make_index "WITH ($options)"
    printf '| %s ' "$options"
    device_times other
  done
  make_table "x::int4 AS a, (x * 0.99 + random() * 21474836)::int4 AS b, (x * 0.9 + random() * 214748364)::int4 AS c" $fifth
  make_index ""
  printf '| columns within 1 %% and 10 %% of each other '
  device_times other
}

# Milliseconds of the device up to counts if each of the columns $1 of the table other is below a quantile of its
# values
times_of_columns() {
  local executor selectivity column where conditions=()
  for selectivity in 0.01 0.1 0.2 0.5; do
    where=
    for column in $1; do
      where+="${where:+ AND }$column <= $(query -c "SELECT percentile_disc($selectivity) WITHIN GROUP (ORDER BY $column) FROM other")"
    done
    conditions+=("$where")
  done
  for executor in compute rt; do
    for where in "${conditions[@]}"; do
      printf '| %s ' "$(query -c "SET rtscan.executor = '$executor'; SET enable_seqscan = off" \
        -c "SELECT round(device_time::numeric, 4) FROM rtscan_benchmark('SELECT 1 FROM other WHERE $where', $((repetitions / 4)), true)" | tail -n 1)"
    done
  done
  echo "|"
}

# RTScan's other experiments: the number of columns that are searched, and the distribution of values
columns_table() {
  local columns="" column data
  echo "| $rows rows, device ms up to counts | compute 0.01 | 0.1 | 0.2 | 0.5 | rt 0.01 | 0.1 | 0.2 | 0.5 |"
  echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
  make_table "$(for column in a b c d e f; do printf '%s(random() * 2147483647)::int4 AS %s' "${columns:+, }" "$column"; columns=some; done)" "$rows"
  make_index "" "a, b, c, d, e, f"
  columns=
  for column in a b c d e f; do
    columns+="$column "
    printf '| uniform, %s columns ' "$((${#columns} / 2))"
    times_of_columns "$columns"
  done
  for data in normal zipf1.1 zipf1.3 zipf1.5; do
    query -c "DROP TABLE other" >/dev/null
    "${PYTHON:-python3}" "$(dirname "$0")/generate.py" $data --rows "$rows" --table other | query -f - >/dev/null
    query -c "VACUUM (ANALYZE) other" >/dev/null
    make_index ""
    printf '| %s, three columns ' $data
    times_of_columns "a b c"
  done
}

# With values encoded and not encoded, in one segment; run from a copy, since the server's user may not be able to
# read this directory
encoding_table() {
  install -m 755 "$encoding" "$work/encoding"
  as_server "$work/encoding" "$work/data/pg_stat_tmp/rtscan_device.0" 65 $((repetitions / 2))
}

# Sets the rays of the executor rt: rtscan.device_rays
set_rays() {
  query -c "ALTER SYSTEM SET rtscan.device_rays = '$1'" -c "SELECT pg_reload_conf()" >/dev/null
  sleep 0.5
  wait_for_devices "${devices[0]}"
  query -c "SELECT rtscan_prewarm('t_index')" >/dev/null
}

sweep_line() {
  local selectivity
  set_rays "$1"
  printf '| %s ' "${1//,/ | }"
  for selectivity in 0.01 0.1 0.2 0.5; do
    printf '| %s ' "$(scan rt "$(condition one-sided $selectivity)" true $((repetitions / 2)) | sed 's/.* | //')"
  done
  echo "|"
}

sweep_table() {
  echo "| width | length | spacing | gap | direction | bins | device ms at 0.01 | 0.1 | 0.2 | 0.5 |"
  echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
  local value
  for value in 0.25 0.5 1 2 4; do sweep_line "$value,1,1,1,longest,nearest"; done
  for value in 0.125 0.25 0.5 2 4; do sweep_line "1,$value,1,1,longest,nearest"; done
  for value in 0.5 0.75; do sweep_line "1,1,$value,1,longest,nearest"; sweep_line "1,1,1,$value,longest,nearest"; done
  for value in 0.125 0.25 0.5 1; do sweep_line "$value,1,1,1,thinnest,nearest"; done
  sweep_line "1,1,1,1,longest,superset"
  sweep_line "1,1,1,1,longest,none"
  sweep_line "1,1000,1,1,longest,none"
  set_rays ""
}

# Makes a table with columns to add up, and its index, with all processes and enough memory for segments of full size
# in each.
make_facts() {
  local i
  query -c "CREATE TABLE f (a int4, b int4, c int4, v int4, g int4)" >/dev/null
  for i in $(seq "$(nproc)"); do
    query -c "INSERT INTO f SELECT random() * 2147483647, random() * 2147483647, random() * 2147483647, random() * 9999, random() * 99
        FROM generate_series($i, $rows, $(nproc))" >/dev/null &
  done
  wait
  query -c "VACUUM (ANALYZE) f" >/dev/null
  query -c "ALTER TABLE f SET (parallel_workers = $(($(nproc) - 1)))" >/dev/null
  facts_build=
  if [ ${#devices[@]} = 1 ]; then
    facts_build="CPU alone, three columns: $(facts_index cpu ""), CPU alone, INCLUDE (v, g): $(query -c "DROP INDEX f_index"; facts_index cpu "INCLUDE (v, g)"), "
    query -c "DROP INDEX f_index"
  fi
  facts_build+="INCLUDE (v, g), with the device: $(facts_index auto "INCLUDE (v, g)")"
  query -c "ALTER TABLE f RESET (parallel_workers)" >/dev/null
}

facts_index() {
  seconds query -c "SET max_parallel_maintenance_workers = $(($(nproc) - 1)); SET rtscan.executor = $1" \
    -c "CREATE INDEX f_index ON f USING rtscan (a, b, c) $2"
}

# The device's time so far, in milliseconds
device_time() { query -c "SELECT sum(device_time) FROM pg_stat_rtscan"; }

# A statement's time, and the device's part of it. $1: executor, $2: workers, $3: repetitions, $4: SQL
on_device() {
  local before after time
  statement "$1" "$2" 3 "$4" >/dev/null
  before=$(device_time)
  time=$(statement "$1" "$2" "$3" "$4")
  after=$(device_time)
  awk -v time="$time" -v before="$before" -v after="$after" -v n="$(($3 + 3))" 'BEGIN { printf "%s (%.2f)", time, (after - before) / n }'
}

# The median time of a prepared statement, as seen by a client. $1: executor, $2: workers, $3: repetitions, $4: SQL
statement() {
  { echo "SET rtscan.executor = '$1'; SET max_parallel_workers_per_gather = $2; SET enable_seqscan = off;"
    echo "SET min_parallel_index_scan_size = 0; PREPARE q AS $4;"
    echo "\\o /dev/null"
    for _ in 1 2 3; do echo "EXECUTE q;"; done
    echo "\\timing on"
    for _ in $(seq "$3"); do echo "EXECUTE q;"; done; } |
    query -f - | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | sort -n | awk '{ t[NR] = $1 } END { printf "%.2f", t[int((NR + 1) / 2)] }'
}

# A checksum of an executor's answer. $1: executor, $2: SQL
answer() {
  query -c "SET rtscan.executor = $1; SET max_parallel_workers_per_gather = $(($(nproc) - 1))" \
    -c "SELECT md5(string_agg(r::text, ',' ORDER BY r::text)) FROM ($2) AS r" | tail -n 1
}

declare -A of_cpu_answers=()

# Checks that the device's answers are the CPU's, and prints a line of times.
facts_line() {
  local name=$1 sql=$2 of_cpu= each=$((repetitions / 2))
  [ -n "${of_cpu_answers[$name]:-}" ] || of_cpu_answers[$name]=$(answer cpu "$sql")
  [ -n "${of_cpu_answers[$name]}" ] || { echo "$name: there is no answer" >&2; return 1; }
  [ "${of_cpu_answers[$name]}" = "$(answer compute "$sql")" ] || { echo "$name: the device's answer differs" >&2; return 1; }
  [ -n "$cpu_asked" ] || of_cpu=" $(statement cpu 0 3 "$sql") | $(statement cpu $(($(nproc) - 1)) 5 "$sql") |"
  echo "| $name |$of_cpu" \
    "$(on_device compute 0 "$each" "$sql") | $(on_device rt 0 "$each" "$sql") | $(on_device auto 2 "$each" "$sql") |"
}

# conditions that nine tenths, or one fifth, of each of three columns' rows meet
many="a <= 1932735282 AND b <= 1932735282 AND c <= 1932735282"
some="a <= 429496729 AND b <= 429496729 AND c <= 429496729"

facts_table() {
  if [ -z "$cpu_asked" ]; then
    echo "| statement; selectivity of each of three predicates | cpu, one process | $(nproc) | compute | rt | auto, with PostgreSQL's two workers |"
    echo "| --- | --- | --- | --- | --- | --- |"
  else
    echo "| statement; selectivity of each of three predicates | compute | rt | auto, with PostgreSQL's two workers |"
    echo "| --- | --- | --- | --- |"
  fi
  facts_line "count(*), .9" "SELECT count(*) FROM f WHERE $many"
  facts_line "sum(v), .9" "SELECT sum(v) FROM f WHERE $many"
  facts_line "sum(v), .2" "SELECT sum(v) FROM f WHERE $some"
  facts_line "min and max of a and v, .9" "SELECT min(a), max(a), min(v), max(v) FROM f WHERE $many"
  facts_line "GROUP BY g (100), .9" "SELECT g, count(*), sum(v) FROM f WHERE $many GROUP BY g"
  facts_line "GROUP BY g (100), .2" "SELECT g, count(*), sum(v) FROM f WHERE $some GROUP BY g"
  facts_line "GROUP BY v (10,000), .9" "SELECT v, count(*), sum(g) FROM f WHERE $many GROUP BY v"
  facts_line "GROUP BY v % 10, .9" "SELECT v % 10, count(*), avg(v) FROM f WHERE $many GROUP BY 1"
  facts_line "GROUP BY g, a or b .2, c .9" "SELECT g, count(*), sum(v) FROM f WHERE (a <= 429496729 OR b <= 429496729) AND c <= 1932735282 GROUP BY g"
  facts_line "FILTER, of v and of a and b, .9" "SELECT count(*) FILTER (WHERE v < 5000), sum(v) FILTER (WHERE a > 1000000000 AND b < 500000000) FROM f WHERE $many"
  facts_line "GROUP BY g, FILTER of v and of a, .9" "SELECT g, count(*) FILTER (WHERE v < 5000), sum(v) FILTER (WHERE a > 1000000000) FROM f WHERE $many GROUP BY g"
  facts_line "CASE of v and of a, g % 7, .9" "SELECT sum(CASE WHEN v < 5000 THEN 1 ELSE 0 END), count(CASE WHEN a > 1000000000 THEN 1 END), max(g % 7) FROM f WHERE $many"
  facts_line "count(DISTINCT g), .9" "SELECT count(DISTINCT g), sum(v) FROM f WHERE $many"
  facts_line "sum(v) of all rows" "SELECT sum(v) FROM f"
  facts_line "GROUP BY g (100), all rows" "SELECT g, count(*), sum(v) FROM f GROUP BY g"
  facts_line "top 10 by a, .9" "SELECT a FROM f WHERE $many ORDER BY a DESC LIMIT 10"
  facts_line "median of a, .9" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a) FROM f WHERE $many"
  cpu_asked=yes
}

# The same with other devices.
other_facts() {
  query -c "ALTER SYSTEM SET rtscan.device = '$1'" -c "SELECT pg_reload_conf()" >/dev/null
  sleep 0.5
  wait_for_devices "$1"
  echo
  echo "Devices $1:"
  echo
  facts_table
}

report_machine() {
  query -c "SELECT '- ' || version()" -c "SELECT '- ' || name || ', memory ' || pg_size_pretty(memory_limit) FROM rtscan_device()"
  grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: /- /'
}

report_facts() {
  echo "# Aggregates on a device, $rows rows"
  echo
  report_machine
  echo "- CREATE INDEX with $(nproc) processes, in seconds: $facts_build"
  echo "- medians of whole statements, prepared, as psql sees them, in ms; in brackets the mean of what the device takes of that"
  echo
  [ ${#devices[@]} = 1 ] || printf 'Devices %s:\n\n' "${devices[0]}"
  cpu_asked=
  facts_table
  for list in "${devices[@]:1}"; do other_facts "$list"; done
  echo
  sessions_table "sum(v), .9" "SELECT sum(v) FROM f WHERE $many" "GROUP BY g, .2" "SELECT g, count(*), sum(v) FROM f WHERE $some GROUP BY g"
}

report_columns() {
  echo "# Columns and distributions, $rows rows"
  echo
  report_machine
  echo
  columns_table
}

report() {
  echo "# Executors, $rows rows"
  echo
  report_machine
  grep 'Calibration in nano' "$work/log" | sed 's/.*DETAIL:  Calibration/- calibration/'
  echo "- load $load s; CREATE INDEX: executor cpu $cpu_build s, auto $build s" \
    "($(query -c "SELECT pg_size_pretty(pg_relation_size('t_index'))"), $(query -c "SELECT sum(sorts) || ' columns sorted and ' || sum(sieves) || ' sieves made' FROM rtscan_device()") by the device)"
  echo "- then what of the columns was not yet on the device $columns s, BVHs $bvhs s:" \
    "$(query -c "SELECT sum(columns) || ' columns, ' || sum(bvhs) || ' BVHs, ' || pg_size_pretty(sum(memory_used)) FROM rtscan_device()")"
  echo "- another session that counts meanwhile waits $worst ms at most, and $usual ms at most while nothing is built"
  echo "- of these times the device itself sorted and made sieve vectors for $encoding_time ms, BVHs for $bvh_time ms"
  echo
  executors_table
  echo
  sessions_table "count(*), .1" "SELECT count(*) FROM t WHERE $(condition one-sided 0.1)"
  [ -z "$sweep" ] || { echo; others_table; echo; encoding_table; echo; sweep_table; }
}

trap stop EXIT
start
query -c "CREATE EXTENSION rtscan"
wait_for_devices "${devices[0]}"
if [ -n "$aggregates" ]; then
  make_facts
  report_facts >"$out"
  exit
fi
if [ -n "$several" ]; then
  report_columns >"$out"
  exit
fi
build_time
load=$(seconds query -c "CREATE TABLE t (a int4, b int4, c int4); SELECT setseed(0.5);
  INSERT INTO t SELECT floor(random() * 2147483647)::int4, floor(random() * 2147483647)::int4, floor(random() * 2147483647)::int4
  FROM generate_series(1, $rows)" -c "VACUUM (ANALYZE) t")
cpu_build=$(seconds query -c "SET rtscan.executor = cpu" -c "CREATE INDEX t_index ON t USING rtscan (a, b, c)" -c "DROP INDEX t_index")
build=$(seconds query -c "SET rtscan.executor = auto" -c "CREATE INDEX t_index ON t USING rtscan (a, b, c)")
columns=$(seconds query -c "SET rtscan.executor = compute" -c "SELECT rtscan_prewarm('t_index')")
build_time
encoding_time=$device_time
bvhs=$(seconds query -c "SET rtscan.executor = rt" -c "SELECT rtscan_prewarm('t_index')")
build_time
bvh_time=$device_time
usual=$(worst_wait sleep 2)
worst=$(worst_wait scan rt "a < 214748364 AND b < 214748364" true 1)
report >"$out"
