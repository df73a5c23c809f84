#!/bin/sh
# Installs the packages of package-lock.json when they are missing or older than it, so that the Node of the `node` package, which all
# scripts need, is first on npm's PATH. Runs with whatever npm the machine has; takes a few milliseconds when there is nothing to do.
set -eu
cd "$(dirname "$0")/../.."

installed=node_modules/.package-lock.json # npm writes it last
if [ -x node_modules/.bin/node ] && [ -d .tap/plugins ] && [ -e "$installed" ] && [ -z "$(find package-lock.json -newer "$installed")" ]; then
  exit 0
fi

if ! command -v npm >/dev/null; then
  echo 'npm is not installed: install Node.js 20 or newer' >&2
  exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
started=$(date +%s)
echo 'Installing npm packages …'
if ! npm ci --no-audit --no-fund --loglevel=error >"$log" 2>&1; then
  cat "$log" >&2
  echo 'npm packages could not be installed. What to do: see that the npm registry is reachable (npm ping), then try again.' >&2
  exit 1
fi
if [ ! -x node_modules/.bin/node ]; then
  echo 'The npm package "node" brought no program. What to do: allow its install script (npm config get ignore-scripts must say false).' >&2
  exit 1
fi
# tap makes its plugins to order (.taprc). Left to itself it does so during its first run, which still uses the ones that are not wanted.
if ! PATH="$PWD/node_modules/.bin:$PATH" node_modules/.bin/tap build >"$log" 2>&1; then
  cat "$log" >&2
  echo 'tap could not be made ready. What to do: rm -rf node_modules .tap, then try again.' >&2
  exit 1
fi
echo "Installed npm packages in $(($(date +%s) - started)) s."
