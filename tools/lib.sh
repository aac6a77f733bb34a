# shellcheck shell=bash
# Shell functions shared by the scripts in tools/, for sourcing.

RTSCAN_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PG_MAJOR=15
DEBIAN_PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config

WORK=     # set by make_work_dir
PG_BIN=   # set by use_server
PLACE=    # in WORK, where start_cluster makes clusters; WORK itself if empty
CLUSTER=  # set by start_cluster
STANDBY=  # set by start_standby
TEMPLATE= # a data directory made by initdb, for start_cluster to copy; if empty it calls initdb
SERVER_ENVIRONMENT=()  # name=value, for servers that start_cluster starts

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$(basename "$0"): $*"
  exit 1
}

is_root() { [ "$(id -u)" = 0 ]; }

as_root() { if is_root; then "$@"; else sudo "$@"; fi; }

# Prints the directory for files that are kept between runs. The server's user must be able to read it, so it cannot
# be in root's home.
cache_dir() {
  local fallback=${XDG_CACHE_HOME:-$HOME/.cache}/rtscan
  if is_root; then fallback=/var/cache/rtscan; fi
  local dir=${RTSCAN_CACHE:-$fallback}
  (umask 022 && mkdir -p "$dir")
  echo "$dir"
}

is_installed() {
  local package
  for package; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || return 1
  done
}

# Several processes may call it at once.
install_packages() {
  local lock
  if is_installed "$@"; then return; fi
  exec {lock}>"$(cache_dir)/packages.lock"
  flock "$lock"
  install_missing "$@"
  exec {lock}>&-
}

install_missing() {
  local package missing=()
  for package; do is_installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  if [ -z "${PACKAGE_LISTS_FRESH:-}" ]; then
    quietly as_root apt-get -qq update
    PACKAGE_LISTS_FRESH=1
  fi
  quietly as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install --yes --no-install-recommends "${missing[@]}" </dev/null
}

install_build_packages() {
  install_packages gcc make "postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR"
}

install_npm() { command -v npm >/dev/null || install_packages nodejs npm; }

# Fills a directory with what npm installs for its package.json; the cache keeps a copy.
install_node_modules() {
  local directory=$1 kept scratch
  install_npm
  kept=$(cache_dir)/npm-$(sha256sum <"$directory/package.json" | cut -c -16)
  if [ ! -e "$kept" ]; then
    scratch=$(mktemp -d "$kept.XXXXXX")
    chmod 755 "$scratch"
    cp "$directory/package.json" "$scratch"
    quietly npm install --prefix "$scratch" --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error ||
      { rm -r "$scratch"; return 1; }
    mv -T "$scratch" "$kept" 2>/dev/null || rm -r "$scratch"  # another process may have been faster
  fi
  as_user ln -sfn "$kept/node_modules" "$directory/node_modules"
}

# Installs what the device program is built from and tested with: validation, and a software device.
install_device_packages() {
  install_packages glslang-tools libvulkan-dev libvulkan-volk-dev vulkan-validationlayers
  if [ "$(. /etc/os-release && echo "$ID $VERSION_ID")" = "debian 12" ]; then
    install_backported_mesa
  else
    install_packages mesa-vulkan-drivers
  fi
}

# Debian 12's own Mesa cannot trace rays. The source of backports is removed afterwards.
install_backported_mesa() {
  local version work options
  version=$(dpkg-query -W -f '${Version}' mesa-vulkan-drivers 2>/dev/null) || version=0
  if dpkg --compare-versions "${version:-0}" ge 25; then return; fi
  say "installing mesa-vulkan-drivers of bookworm-backports"
  work=$(mktemp -d "${TMPDIR:-/tmp}/rtscan-apt.XXXXXX")
  mkdir -p "$work"/{sources,lists/partial}
  write_backports_sources bookworm "$work/sources"
  cp /etc/apt/sources.list.d/* "$work/sources/" 2>/dev/null || true
  options=(-o "Dir::Etc::SourceParts=$work/sources" -o "Dir::State::Lists=$work/lists" -o APT::Sandbox::User=root)
  quietly as_root apt-get -qq "${options[@]}" update
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq "${options[@]}" install --yes --no-install-recommends \
    --target-release bookworm-backports mesa-vulkan-drivers </dev/null
  as_root rm -r "$work"
}

# Writes Debian's package sources of this machine, with the suite of the backports.
write_backports_sources() {
  local codename=$1 to=$2 file
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    awk -v RS= -v ORS='\n\n' -v suite="(^|\n)Suites:([^\n]*[ \t])?$codename([ \t\n]|$)" '$0 ~ suite' "$file" |
      sed "s/^Types:.*/Types: deb/; s/^Suites:.*/Suites: $codename-backports/" >"$to/backports-$(basename "$file")"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] || continue
    sed -nE "s/^deb (.*) $codename .*/deb \1 $codename-backports main/p" "$file" >"$to/backports-$(basename "$file" .list).list"
  done
}

# Writes Debian's package sources of this machine, changed to another suite.
write_sources() {
  local suite=$1 to=$2 codename file
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    awk -v RS= -v ORS='\n\n' -v suite="(^|\n)Suites:([^\n]*[ \t])?$codename([ \t\n]|$)" '$0 ~ suite' "$file" |
      sed "s/^Types:.*/Types: deb/; s/^Suites:.*/Suites: $suite/; s/^Components:.*/Components: main/"
  done >"$to/$suite.sources"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] || continue
    sed -nE "s/^deb (.*) $codename .*/deb \1 $suite main/p" "$file"
  done >"$to/$suite.list"
  find "$to" -empty -delete
}

# Downloads the archive of a source package into a directory, from the package sources in its sources/. The newest
# version first. A mirror may announce a version whose source it does not have (yet): then the one before.
download_source() {
  local to=$1 package=$2 version
  mkdir -p "$to"/{lists/partial,cache/archives/partial}
  local options=(-o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$to/sources"
    -o "Dir::State::Lists=$to/lists" -o "Dir::Cache=$to/cache" -o "APT::Sandbox::User=$(id -un)")
  apt-get -qq "${options[@]}" update >&2
  for version in $(apt-cache "${options[@]}" showsrc "$package" | sed -n 's/^Version: //p' | sort -rVu); do
    say "downloading the source of $package $version"
    (cd "$to" && apt-get -qq "${options[@]}" source --download-only --tar-only "$package=$version" >&2) && return
  done
  return 1
}

# Prints the description file of the software device's driver.
software_vulkan() { compgen -G '/usr/share/vulkan/icd.d/lvp_icd*.json' | head -n 1; }

# Prints the server's user. The server refuses to run as root, so root runs it, and everything that connects to it,
# as another user.
server_user() {
  if is_root; then echo "${RTSCAN_USER:-postgres}"; else id -un; fi
}

ensure_server_user() {
  is_root || return 0
  id "$(server_user)" >/dev/null 2>&1 || useradd --system "$(server_user)"
}

# Makes WORK, an empty directory of the server's user, which is removed at the end of the script, with the clusters
# in it.
make_work_dir() {
  ensure_server_user
  umask 022
  WORK=$(mktemp -d "${TMPDIR:-/tmp}/rtscan.XXXXXX")
  chmod 755 "$WORK"
  trap remove_work_dir EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  cd "$WORK"
  if is_root; then chown "$(server_user)": "$WORK"; fi
}

remove_work_dir() {
  end_descendants
  stop_clusters "$WORK" "$WORK"/*/
  cd /
  rm -rf "$WORK"
}

# Prints all descendants of a process.
descendants() {
  local child
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    descendants "$child"
    echo "$child"
  done
}

# Ends the processes that still run, and gives them time to clean up first.
end_descendants() {
  local pids tries
  mapfile -t pids < <(descendants $$)
  kill "${pids[@]}" 2>/dev/null || return 0
  for ((tries = 0; tries < 100; tries++)); do
    kill -0 "${pids[@]}" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL "${pids[@]}" 2>/dev/null || true
}

# Runs a command as the server's user, in a known environment, with the programs of use_server's server first in
# PATH.
as_user() {
  local as=()
  if is_root; then as=(runuser -u "$(server_user)" --); fi
  "${as[@]}" env -i \
    HOME="$WORK" TMPDIR="${TMPDIR:-/tmp}" LC_ALL=C.UTF-8 TZ=UTC \
    PATH="${PG_BIN:+$PG_BIN:}/usr/local/bin:/usr/bin:/bin" \
    ${CLUSTER:+PGHOST="$PGHOST" PGPORT="$PGPORT" PGUSER="$PGUSER" PGDATABASE="$PGDATABASE"} \
    "$@"
}

# Lists the files that git tracks or would track, or all files if there is no git.
tree_files() {
  local file
  cd "$RTSCAN_ROOT"
  if [ -e .git ] && command -v git >/dev/null; then
    git -c safe.directory='*' ls-files -z --cached --others --exclude-standard |
      while IFS= read -rd '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done
  else
    find . -type f -print0
  fi
}

# Writes an archive of the tree, without build products, to standard output; arguments are those of tar.
archive_tree() { (tree_files) | tar -C "$RTSCAN_ROOT" --create --null --files-from=- "$@"; }

# Prints a number that depends on rtscan's and the fuzzer's sources, so that the same tree has the same seed.
seed_of_tree() {
  find "$RTSCAN_ROOT"/{src,fuzz} \( -name '*.[ch]' -o -name '*.py' \) -print0 | LC_ALL=C sort -z | xargs -0 cat | cksum |
    cut -d ' ' -f 1
}

# Copies the tree to where the server's user can write.
copy_tree() {
  local to=$1
  as_user mkdir "$to"
  archive_tree | as_user tar -C "$to" --extract --no-same-owner
}

# Prints the path that copy_server gives to the pg_config of a copy.
pg_config_in() { echo "$2$("$1" --bindir)/pg_config"; }

# Copies an installed server to a new directory, so that installing an extension needs no rights and changes no other
# server. This works because PostgreSQL finds its files relative to its programs: only these are copied, and the rest
# are links. An installed rtscan is left out, so that it cannot replace one that does not build.
copy_server() {
  local pg_config=$1 to=$2 include
  include=$("$pg_config" --includedir)
  as_user mkdir "$to"
  as_user cp -r --parents "$("$pg_config" --bindir)" "$to"
  as_user cp -rs --parents "$("$pg_config" --pkglibdir)" "$("$pg_config" --sharedir)" "$to"
  as_user find "$to" -name 'rtscan*' ! -type d -delete
  as_user mkdir -p "$to$(dirname "$include")"
  as_user ln -s "$include" "$to$include"
}

# Sets the server for as_user, start_cluster and the caller's make (PG_CONFIG).
use_server() {
  PG_CONFIG=$1
  PG_BIN=$("$PG_CONFIG" --bindir)
}

init_data() {
  quietly as_user initdb --pgdata="$1" --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync
}

# Starts a new cluster with settings given as name=value, and sets libpq's variables for it. It only listens on a
# socket in its own directory. AddressSanitizer keeps less freed memory than by default, 256 MB a process: PostgreSQL
# poisons what pfree() frees itself, and fresh pages take a fifth of the time.
start_cluster() {
  CLUSTER=$(as_user mktemp -d "${PLACE:-$WORK}/cluster.XXXX")
  PGHOST=$CLUSTER PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
  if [ -n "$TEMPLATE" ]; then as_user cp -a "$TEMPLATE/." "$CLUSTER/data"; else init_data "$CLUSTER/data"; fi
  printf '%s\n' "listen_addresses=" "unix_socket_directories=$CLUSTER" fsync=off max_prepared_transactions=10 "$@" |
    sed "s/=\(.*\)/ = '\1'/" | as_user tee -a "$CLUSTER/data/postgresql.conf" >/dev/null
  start_server_of "$CLUSTER"
}

# Starts the server of a cluster's directory.
start_server_of() {
  local cluster=$1
  quietly as_user env UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=quarantine_size_mb=8 "${SERVER_ENVIRONMENT[@]}" \
    pg_ctl --pgdata="$cluster/data" --log="$cluster/server.log" --wait --timeout=120 start ||
    { cat "$cluster/server.log" >&2; return 1; }
}

# Starts a standby of the cluster, in STANDBY.
start_standby() {
  STANDBY=$(as_user mktemp -d "${PLACE:-$WORK}/cluster.XXXX")
  quietly as_user pg_basebackup --dbname="host=$PGHOST port=$PGPORT user=$PGUSER" --pgdata="$STANDBY/data" \
    --write-recovery-conf --checkpoint=fast --no-sync
  echo "unix_socket_directories = '$STANDBY'" | as_user tee -a "$STANDBY/data/postgresql.conf" >/dev/null
  start_server_of "$STANDBY"
}

# Prints the pg_ctl next to the postgres that runs a cluster.
pg_ctl_of() {
  local postgres
  read -r postgres _ <"$1/postmaster.opts"
  echo "$(dirname "$postgres")/pg_ctl"
}

# Stops all clusters in some directories, including those that have crashed. Their directories stay, for their logs.
stop_clusters() {
  local place pid_file data
  for place; do
    for pid_file in "$place"/cluster.*/data/postmaster.pid; do
      [ -e "$pid_file" ] || continue
      data=$(dirname "$pid_file")
      as_user "$(pg_ctl_of "$data")" --pgdata="$data" --mode=immediate --wait stop >/dev/null 2>&1 || true
    done
  done
}

# Shows a command's output only if it fails. (Output goes to a file: a server that keeps a pipe open would block the
# script.)
quietly() {
  local output status=0
  # a file without a name, of which nothing is left however the script ends
  output=$(mktemp "${TMPDIR:-/tmp}/rtscan-output.XXXXXX")
  exec {file}<>"$output"
  rm -f "$output"
  "$@" >&"$file" 2>&1 || status=$?
  [ $status = 0 ] || cat "/proc/self/fd/$file" >&2
  exec {file}>&-
  return $status
}
