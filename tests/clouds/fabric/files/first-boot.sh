# What cloud-init does at a machine's first boot with the commands of its user data. The machine's
# time begins now: by itself a container tells how long the computer runs.
set -u
result=/var/lib/cloud/simulated-result

began=$(cut -d. -f1 /proc/uptime)
if unshare --time --boottime "-$began" --fork sh /etc/simulated-cloud/runcmd.sh; then
    found="done"
else
    found=error
fi
mkdir -p "${result%/*}"
echo "$found" >"$result.new"
mv "$result.new" "$result"
[ "$found" = "done" ]
