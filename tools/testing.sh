# shellcheck shell=bash
# Functions that build rtscan and run each kind of test, for sourcing after lib.sh.
#
# For each variant of the server, WORK has what the tests of that variant share: VARIANT, the tree with its build
# products; server-VARIANT, a copy of the server in which rtscan is installed; VARIANT.data, a new cluster's files; and
# finally VARIANT.pg_config. A test runs as a step: in a subshell and a directory of its own, with a log of its own. So
# steps do not affect each other, and several run at a time.

TEST_LIMIT=45m
EXECUTORS=${EXECUTORS:-compute rt rtcudb}
CRASH='TRAP: |AddressSanitizer|runtime error: |was terminated by signal|PANIC: '
# PostgreSQL's own headers have unused parameters.
WARNINGS='-Wall -Wextra -Werror -Wno-unused-parameter'

STEPS_AT_A_TIME=2
EXECUTOR=  # the executor for which a step's cluster uses a device
LOGS=      # the directory of the logs
LOG=       # of a step
BACKGROUND=  # process ID of what runs beside the steps and is none, if anything does

steps=0

# --- the variants of the server

pg_config_of() {
  case $1 in
    release) echo "$DEBIAN_PG_CONFIG" ;;
    *) echo "$(cache_dir)/postgres-$PG_MAJOR-$1/bin/pg_config" ;;
  esac
}

# Prints the flags with which rtscan is compiled for a variant, in addition to those of its server.
options_of() {
  case $1 in
    release) echo "$WARNINGS" ;;
    sanitize) echo "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-common" ;;
  esac
}

install_test_packages() {
  install_build_packages
  install_packages git libcmocka-dev libipc-run-perl python3 python3-psycopg2
}

# For the page of histograms.
install_page_packages() {
  install_npm
  install_packages chromium chromium-driver python3-selenium
}

# For the benchmarks' queries.
install_benchmark_packages() {
  install_npm
  install_packages gnuplot-nox libpq-dev
}

limited_make() { as_user timeout --kill-after=10 "$TEST_LIMIT" make -s PG_CONFIG="$PG_CONFIG" "$@"; }

# Makes the server of a variant's tests, with the build products of a tree.
offer() {
  local variant=$1 tree=$2 pg_config
  pg_config=$(pg_config_of "$variant")
  copy_server "$pg_config" "$WORK/server-$variant"
  use_server "$(pg_config_in "$pg_config" "$WORK/server-$variant")"
  (cd "$tree" && limited_make install)
  echo "$PG_CONFIG" >"$WORK/$variant.pg_config"
}

# Makes a step's own copy of its variant's server.
enter() {
  local variant=$1
  [ -e "$WORK/$variant.pg_config" ] || { echo "rtscan has not been built"; return 1; }
  use_server "$(cat "$WORK/$variant.pg_config")"
  TEMPLATE=$WORK/$variant.data
  as_user cp -a "$WORK/$variant" "$PLACE/tree"
  cd "$PLACE/tree"
}

# --- the kinds of tests

no_crash() { ! grep -E -A40 "$CRASH" "$(dirname "$CLUSTER")"/cluster.*/server.log; }

# Starts a cluster with the given settings, and with a device if EXECUTOR is set, whose answers are compared with the
# CPU's, however long that takes. Autovacuum is off: plans depend on whether a test's VACUUM can mark pages
# all-visible, which another process' snapshot prevents.
start_server() {
  local device=()
  if [ -n "$EXECUTOR" ]; then
    device=(shared_preload_libraries=rtscan rtscan.device=llvmpipe "rtscan.executor=$EXECUTOR" rtscan.debug_compare_executors=on
      rtscan.device_timeout=2min)
    SERVER_ENVIRONMENT+=("VK_DRIVER_FILES=$(software_vulkan)")
  fi
  start_cluster autovacuum=off "${device[@]}" "$@"
  if [ -n "$EXECUTOR" ]; then await_device; fi
}

await_device() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    if grep -q 'rtscan uses the device' "$CLUSTER/server.log"; then return; fi
    sleep 0.1
  done
  echo "there is no device:"
  cat "$CLUSTER/server.log"
  return 1
}

# Fails if the device was never used, or never answered: then it was not tested.
device_was_used() {
  local scans
  [ -n "$EXECUTOR" ] || return 0
  as_user psql -Xqc 'CREATE EXTENSION IF NOT EXISTS rtscan' 2>/dev/null
  as_user psql -Xc 'SELECT executor, scans, segments, fallbacks FROM pg_stat_rtscan' -c 'SELECT * FROM rtscan_device()' -x
  # if rt needs no ray, compute is named
  scans=$(as_user psql -XqAtc "SELECT sum(scans) FROM pg_stat_rtscan WHERE executor IN ('compute', '$EXECUTOR')")
  [ "$scans" -gt 0 ] || { echo "the device did not do a single scan"; return 1; }
}

# Runs tests in sql/ (kind REGRESS) or specs/ (ISOLATION) by name, or all if there are no names, on a new cluster
# with the given settings. What a query finds remembered of pages must not depend on the page worker.
suite() {
  local variant=$1 kind=$2 names=$3 others=REGRESS status=0
  shift 3
  if [ "$kind" = REGRESS ]; then others=ISOLATION; fi
  enter "$variant"
  start_server rtscan.page_worker_rate=0 "$@"
  limited_make installcheck TAP_TESTS= "$others=" ${names:+"$kind=$names"} || status=1
  if [ $status = 1 ]; then show_differences; fi
  device_was_used || status=1
  no_crash || status=1
  return $status
}

# The results are kept next to the log.
show_differences() {
  cat regression.diffs output_iso/regression.diffs 2>/dev/null || true
  mkdir -p "$LOG.results"
  cp results/*.out output_iso/results/*.out "$LOG.results" 2>/dev/null || true
  echo "the results are in $LOG.results"
}

tap() {
  local variant=$1 file=$2 status=0
  enter "$variant"
  [ -e "$file" ] || { echo "there is no $file"; return 1; }
  limited_make installcheck REGRESS= ISOLATION= TAP_TESTS=1 PROVE_TESTS="$file" RTSCAN_EXECUTORS="$EXECUTORS" || status=1
  if [ $status = 1 ]; then tail -n 40 tmp_check/log/* || true; fi
  if grep -qE '^t/.* skipped' "$LOG"; then status=1; fi
  return $status
}

# A program in device/test prints "ok N cases".
device_test() {
  local variant=$1 program=$2
  enter "$variant"
  as_user env VK_DRIVER_FILES="$(software_vulkan)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
    timeout --kill-after=10 "$TEST_LIMIT" "$program"
  grep -qE '^ok [1-9][0-9]* cases' "$LOG"
}

unit_tests() {
  local variant=$1 status=0 program
  shift
  enter "$variant"
  for program; do
    if unit_test "$program"; then
      echo "test $(basename "$program") ... ok"
    else
      echo "test $(basename "$program") ... FAILED"
      status=1
    fi
  done
  return $status
}

unit_test() {
  as_user env ${RTSCAN_TEST_SEED:+RTSCAN_TEST_SEED="$RTSCAN_TEST_SEED"} UBSAN_OPTIONS=print_stacktrace=1 \
    timeout --kill-after=10 "$TEST_LIMIT" "$1"
}

# --- running steps, counting, reporting

# Prints how many steps run.
running_steps() { jobs -rp | grep -cvxF "${BACKGROUND:-none}" || true; }

# Starts a step, as soon as fewer than the allowed number run.
start_step() {
  while [ "$(running_steps)" -ge "$STEPS_AT_A_TIME" ]; do wait -n || true; done
  steps=$((steps + 1))
  run_step "$@" &
}

# Runs a command, not as a condition, which would disable errexit in it; then reports the result. The names are those
# of the tests that it must have run; without names it is one test itself.
run_step() {
  local name=$1 names=$2 status start=$SECONDS
  shift 2
  LOG=$LOGS/$steps-${name//[^A-Za-z0-9.]/-}.log
  PLACE=$WORK/step-$steps
  as_user mkdir "$PLACE"
  set +e
  (set -e; "$@") </dev/null >"$LOG" 2>&1
  status=$?
  set -e
  stop_clusters "$PLACE"
  rm -rf "$PLACE"
  if [ -n "$names" ]; then report_tests; else report $((status == 0)) $((status != 0)) ""; fi
}

report_tests() {
  local test good=0 bad=0
  for test in $names; do
    # the second is PostgreSQL 16's
    if grep -qE "^(test)? *$test +\.\.\. ok|^ok +[0-9]+ +[-+] +$test " "$LOG"; then
      good=$((good + 1))
    else
      bad=$((bad + 1))
      grep -qE "^((test)? *$test +\.\.\.|not ok +[0-9]+ +[-+] +$test) " "$LOG" || echo "$test has not been run" >>"$LOG"
    fi
  done
  if [ $status != 0 ] && [ $bad = 0 ]; then bad=1; fi
  report $good $bad "$good of $((good + bad)) tests, "
}

# Reports in a single write, since other steps report as well.
report() {
  local good=$1 bad=$2 detail=$3
  echo "$good $bad" >"$LOGS/$steps.count"
  exec {turn}>"$LOGS/turn"
  flock "$turn"
  if [ "$bad" = 0 ]; then
    echo "PASS  $name ($detail$((SECONDS - start)) s)"
  else
    echo "FAIL  $name ($detail$((SECONDS - start)) s), $LOG:"
    tail -n 100 "$LOG" | sed 's/^/      /'
  fi
  exec {turn}>&-
}

# Waits for all steps that have been started.
finish_steps() { while [ "$(running_steps)" -gt 0 ]; do wait -n || true; done; }

# Runs a step that is one test.
step() {
  local name=$1
  shift
  start_step "$name" "" "$@"
}

# Prints the names of the tests whose files match a pattern, or a name that no test can have.
names_of() {
  local file
  (cd "$RTSCAN_ROOT" && compgen -G "$1" | sort || echo "there-is-no-$1") |
    while read -r file; do basename "${file%.*}"; done
}

# Runs a step with one test for each file.
step_of_files() {
  local name=$1 files=$2
  shift 2
  start_step "$name" "$(names_of "$files")" "$@"
}

# Prints how many tests have passed and failed. Fails if one has failed, or if a step ended without a report.
summarize() {
  local number good bad passed=0 failed=0
  finish_steps
  for ((number = 1; number <= steps; number++)); do
    read -r good bad 2>/dev/null <"$LOGS/$number.count" || { good=0 bad=1; }
    passed=$((passed + good)) failed=$((failed + bad))
  done
  rm -f "$LOGS"/*.count "$LOGS/turn"
  echo "$passed passed, $failed failed"
  [ $failed = 0 ]
}
