#!/usr/bin/env bash
# Makes a folder with the packages of npm that tests of pages need, beside Debian's Chromium:
#     internal/setup/browser.sh FOLDER
# A folder that was made so is not made again.
set -euo pipefail

to=$1
here=$(dirname "$0")
made=$(cat "$here/../browser/testdata/package-lock.json")
[ "$(cat "$to/made" 2>/dev/null)" != "$made" ] || exit 0
"$here/setup.sh" chromium node npm
echo "setup: making $to, with which tests open pages in Chromium" >&2
rm -rf "${to:?}"
mkdir -p "$to"
cp "$here"/../browser/testdata/package*.json "$to"
npm ci --prefix "$to" --ignore-scripts --no-audit --no-fund --silent >&2
ln -s "$(command -v chromium)" "$to/chromium"
echo "$made" >"$to/made"
