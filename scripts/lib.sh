# shellcheck shell=bash disable=SC2034
# Shared by the scripts in this folder. Use: . "$(dirname "$0")/lib.sh"
# It moves to the root of the checkout, so that every script can be called from anywhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tools that are built here are kept here, one folder a version, outside of the checkout and of go.mod.
tool_cache="${XDG_CACHE_HOME:-$HOME/.cache}/brepl-tools"

# What was built in another clone is not built again in this one.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-trimpath"

# A real Clojure with nREPL: what it needs on Debian, and how it is started, here and in the image.
# The process lives for seconds, so: the quick compiler only, the small collector. BREPL_TEST_CLASSPATH has more folders and jars.
repl_packages=(openjdk-17-jre-headless clojure libnrepl-clojure)
repl_jars=(/usr/share/java/{clojure,spec.alpha,core.specs.alpha,nrepl}.jar)
repl_command=(/usr/bin/java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$(IFS=:; echo "${repl_jars[*]}")${BREPL_TEST_CLASSPATH:+:$BREPL_TEST_CLASSPATH}"
  clojure.main -m nrepl.cmdline)

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }
in_ci() { [ "${CI:-}" = true ]; }

# usage prints the comment at the head of the calling script.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# missing WHAT HOW: a part that cannot run here. In CI it is a failure, elsewhere a loud skip.
missing() {
  if in_ci; then
    printf 'MISSING: %s (%s)\n' "$1" "$2" >&2
    return 1
  fi
  printf 'SKIPPED: %s (%s)\n' "$1" "$2" >&2
}

have_packages() {
  command -v dpkg-query >/dev/null || return 1
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || return 1
  done
}

# need_packages PACKAGE…: installs Debian packages if they are missing and we are root; otherwise fails.
need_packages() {
  have_packages "$@" && return
  command -v apt-get >/dev/null || { echo "no apt-get here for $*" >&2; return 1; }
  [ "$(id -u)" = 0 ] || { echo "not root: apt-get install $*" >&2; return 1; }
  say "apt-get install $*"
  # Some other source's list may fail to load; what counts is the install.
  apt-get update -qq || true
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" >/dev/null
}

have_docker() { command -v docker >/dev/null && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# need_docker PIDFILE: an engine that answers. Where none does, root on Debian gets Debian's, in CI or with with_docker=yes: started by
# its init script or, where that gives up because it cannot raise the limit of open files, by hand. Then PIDFILE is the caller's to end.
need_docker() {
  ! have_docker || return 0
  [ "$(id -u)" = 0 ] && { in_ci || [ "${with_docker:-}" = yes ]; } || return 1
  command -v dockerd >/dev/null || need_packages docker.io || return 1
  service docker start >"$1.log" 2>&1 || dockerd --pidfile "$1" >>"$1.log" 2>&1 </dev/null &
  for _ in {1..60}; do
    ! have_docker || return 0
    sleep 1
  done
  tail -n 20 "$1.log" >&2
  return 1
}

# end_docker PIDFILE ends the engine that need_docker has started by hand, if it has.
end_docker() {
  local pid
  pid=$(cat "$1" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null || return 0
  for _ in {1..30}; do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.5
  done
}
