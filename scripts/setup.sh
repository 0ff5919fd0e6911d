#!/usr/bin/env bash
# Brings a Debian 12 or Raspberry Pi OS machine to the point where Docent builds, and says plainly what it cannot
# bring itself. With "test" it also brings what only the tests need. Quick and quiet when nothing is missing.
set -euo pipefail

missing=()
for tool in git make go node npm; do
	command -v "$tool" >/dev/null || missing+=("$tool")
done
if ((${#missing[@]})); then
	echo "Docent needs these tools, which are not on this machine: ${missing[*]}" >&2
	echo "Go 1.26 or newer: https://go.dev/dl · Node 20 or newer: https://nodejs.org · git and make: apt-get install git make" >&2
	exit 1
fi

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }
# The version on this machine, not the one go.mod would fetch.
go_version=$(GOTOOLCHAIN=local go env GOVERSION)
at_least 1.21 "${go_version#go}" || { echo "Docent needs Go 1.26; this machine has ${go_version#go}, which is too old to fetch it." >&2; exit 1; }
node_version=$(node --version)
at_least 20 "${node_version#v}" || { echo "Docent needs Node 20 or newer; this machine has ${node_version#v}." >&2; exit 1; }

packages=()
need() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$' || packages+=("$1"); }
command -v dpkg-query >/dev/null || { echo "Docent is set up from Debian packages; this machine has no dpkg." >&2; exit 1; }
need g++
need pkg-config
need libopencv-dev
need libopencv-contrib-dev
if [ "${1:-}" = test ]; then
	need chromium
	need espeak-ng
	need postgresql
	need mosquitto
fi
if ((${#packages[@]})); then
	as_root=()
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || { echo "Run this as root, or install sudo: it has to install ${packages[*]}" >&2; exit 1; }
		as_root=(sudo)
	fi
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	echo "Installing ${packages[*]} (once; a few minutes) …"
	if [[ " ${packages[*]} " == *" postgresql "* ]]; then
		# Tests start servers of their own; Debian's package need not set one up that runs all the time.
		"${as_root[@]}" mkdir -p /etc/postgresql-common/createcluster.d
		echo 'create_main_cluster = false' | "${as_root[@]}" tee /etc/postgresql-common/createcluster.d/docent.conf >/dev/null
	fi
	if ! { "${as_root[@]}" apt-get update -q && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${packages[@]}"; } >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		echo "Installing ${packages[*]} did not work; the lines above say why." >&2
		exit 1
	fi
	if [[ " ${packages[*]} " == *" mosquitto "* ]] && command -v systemctl >/dev/null; then
		"${as_root[@]}" systemctl disable --now mosquitto >/dev/null 2>&1 || true # the same of this package
	fi
fi

opencv=$(pkg-config --modversion opencv4)
case $opencv in
4.6.*) ;;
*) echo "Docent is built against OpenCV 4.6 as in Debian 12; this machine has $opencv." >&2; exit 1 ;;
esac
